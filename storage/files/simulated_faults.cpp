#include "storage/files/simulated_faults.hpp"

namespace baton {

void simulated_faults::fail_call(file_operation what, std::uint64_t nth, int code) {
  at(what).fails_at[at(what).calls + nth] = code;
}

void simulated_faults::fail_once_in(file_operation what, std::uint64_t times, int code) {
  at(what).fails_once_in = times;
  at(what).code = code;
}

void simulated_faults::clear() {
  for (plan& one : plans_) {
    one.fails_at.clear();
    one.fails_once_in = 0;
  }
  calls_to_power_cut_ = 0;
  short_once_in_ = 0;
}

std::uint64_t simulated_faults::calls() const {
  std::uint64_t sum = 0;
  for (const plan& one : plans_) sum += one.calls;
  return sum;
}

simulated_faults::verdict simulated_faults::next(file_operation what) {
  plan& mine = at(what);
  ++mine.calls;
  verdict said;
  if (calls_to_power_cut_ > 0 && --calls_to_power_cut_ == 0)
    (dice_.once_in(2) ? said.power_goes_before : said.power_goes_after) = true;
  if (const auto planned = mine.fails_at.find(mine.calls); planned != mine.fails_at.end()) {
    said.code = planned->second;
    mine.fails_at.erase(planned);
  } else if (mine.fails_once_in > 0 && dice_.once_in(mine.fails_once_in)) {
    said.code = mine.code;
  }
  return said;
}

std::uint64_t simulated_faults::writable(std::uint64_t bytes) {
  if (bytes < 2 || short_once_in_ == 0 || !dice_.once_in(short_once_in_)) return bytes;
  return 1 + dice_.below(bytes - 1);
}

}  // namespace baton
