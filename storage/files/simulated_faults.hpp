#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "config/simulation_random.hpp"
#include "storage/files/io_error.hpp"

namespace baton {

/// What goes wrong on a simulated disk, and when; and how many calls of each kind there were.
class simulated_faults {
public:
  explicit simulated_faults(simulation_random& dice) : dice_{dice} {}

  /// The `nth` call of this kind from now on fails; 1: the next one.
  void fail_call(file_operation what, std::uint64_t nth, int code);

  /// One call of this kind in so many fails; 1: each; 0: none any more.
  void fail_once_in(file_operation what, std::uint64_t times, int code);

  /// The power goes during the `nth` call of any kind from now on, just before or just after it has
  /// taken effect; 1: the next one; 0: it stays.
  void cut_power_at_call(std::uint64_t nth) { calls_to_power_cut_ = nth; }

  /// One write in so many takes two or more calls; 0: none.
  void shorten_writes_once_in(std::uint64_t times) { short_once_in_ = times; }

  /// No more of all this.
  void clear();

  std::uint64_t calls(file_operation what) const { return at(what).calls; }
  std::uint64_t calls() const;

  struct verdict {
    int code = 0;  // 0: it may succeed
    bool power_goes_before = false;
    bool power_goes_after = false;
  };

  /// Counts a call and says what becomes of it. For `simulated_file_system`.
  verdict next(file_operation what);

  /// How many of so many bytes one call writes.
  std::uint64_t writable(std::uint64_t bytes);

private:
  struct plan {
    std::uint64_t calls = 0;
    std::map<std::uint64_t, int> fails_at;  // number of the call -> code
    std::uint64_t fails_once_in = 0;
    int code = 0;
  };

  plan& at(file_operation what) { return plans_[static_cast<std::size_t>(what)]; }
  const plan& at(file_operation what) const { return plans_[static_cast<std::size_t>(what)]; }

  simulation_random& dice_;
  std::array<plan, file_operations> plans_;
  std::uint64_t calls_to_power_cut_ = 0;
  std::uint64_t short_once_in_ = 0;
};

}  // namespace baton
