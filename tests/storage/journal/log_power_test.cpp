// A log on a disk that fails, and whose power goes at any system call. A process that is killed
// keeps its page cache, so only a simulated disk can show that syncs are where they have to be.
#include <cerrno>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/files/simulated_file_system.hpp"
#include "storage/journal/log_recovery.hpp"
#include "storage/journal/log_writer.hpp"
#include "tests/catch.hpp"

using namespace baton;
using namespace baton::journal;

namespace {

const std::string folder = "/log";
constexpr std::uint32_t segment_size = 1024;

/// One log through several processes and power cuts, with a plain model of what it owes.
///
/// Each record is a settle record whose first sequence is its number; numbers count up. In the
/// order in which they are in the log each is: durable, or written and not synced, or neither.
class log_life {
public:
  explicit log_life(std::uint64_t seed) : dice_{seed}, disk_{dice_} {
    REQUIRE(disk_.create_folder(folder));
    REQUIRE(disk_.sync_folder("/"));
  }

  void live() {
    for (int process = 0; process < 4; ++process) {
      plan_faults();
      run_process();
      disk_.faults().clear();
      if (disk_.has_power() && dice_.once_in(2)) disk_.power_cut();
      disk_.power_on();
      check();
    }
  }

private:
  struct written {
    sequence number = 0;
    place at;
  };

  void plan_faults() {
    auto& faults = disk_.faults();
    if (!dice_.once_in(3)) faults.cut_power_at_call(1 + dice_.below(120));
    if (dice_.once_in(3)) faults.fail_once_in(file_operation::write, 4 + dice_.below(20), EIO);
    if (dice_.once_in(3)) faults.fail_once_in(file_operation::sync, 4 + dice_.below(20), EIO);
    if (dice_.once_in(4)) faults.fail_once_in(file_operation::rename, 3, EIO);
    if (dice_.once_in(4)) faults.fail_once_in(file_operation::sync_folder, 6, EIO);
    if (dice_.once_in(4))
      faults.fail_once_in(file_operation::preallocate, 2 + dice_.below(4), ENOSPC);
    if (dice_.once_in(2)) faults.shorten_writes_once_in(3);
  }

  /// Until its disk is dead, or it has done enough.
  void run_process() {
    auto state = recover();
    if (!state) return;  // the disk fails already; nothing has been changed
    if (!settle_log(disk_, folder, *state)) return;
    // What was read is durable now.
    for (const auto& w : unsynced_) durable_.push_back(w);
    unsynced_.clear();
    log_writer log{disk_,
                   {folder, segment_kind::journal, 0, segment_size},
                   state->end,
                   state->last_number,
                   [this] { return ++generations_; }};
    for (const auto& name : state->spares) log.adopt_spare(name);
    segments_ = state->segments;
    for (auto steps = 10 + dice_.below(60); steps > 0 && disk_.has_power(); --steps) {
      step(log);
      for (auto segment : log.take_begun()) segments_.push_back(segment);
    }
    if (disk_.has_power() && dice_.once_in(2) && log.close()) synced();
  }

  void step(log_writer& log) {
    switch (dice_.below(8)) {
      case 0:
      case 1:
        if (log.sync())
          synced();
        else
          given_up(log);
        break;
      case 2:
        free_oldest(log);
        break;
      case 3:
        static_cast<void>(log.prepare_spares(1 + dice_.below(2)));
        break;
      default:
        write(log);
    }
  }

  void write(log_writer& log) {
    record_writer w;
    const auto first = next_number_;
    const auto count = 1 + dice_.below(6);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto runs = dice_.once_in(20) ? 60 : 1 + dice_.below(8);
      w.add_settle(std::vector<queue_run>(runs, {1, next_number_++, 1}));
    }
    auto records = w.take();
    encoded_records* const group[] = {&records};
    std::vector<record_place> where;
    const bool done{log.write(group, dice_.below(2), where)};
    CHECK(where.size() == (done ? count : 0));
    for (std::size_t nth = 0; nth < where.size(); ++nth)
      unsynced_.push_back({first + nth, where[nth].at});
  }

  void synced() {
    durable_.insert(durable_.end(), unsynced_.begin(), unsynced_.end());
    unsynced_.clear();
  }
  /// A sync has failed: its data were never promised to anybody.
  void given_up(const log_writer& log) {
    unsynced_.clear();
    std::erase_if(segments_, [&](auto each) { return each > log.synced_to().segment; });
  }

  void free_oldest(log_writer& log) {
    if (segments_.empty()) return;
    const auto oldest = segments_.front();
    if (oldest >= log.synced_to().segment) return;
    const auto freed = log.free(oldest, dice_.below(3));
    if (freed) segments_.erase(segments_.begin());
    std::vector<written> left;
    for (const auto& w : durable_)
      if (w.at.segment == oldest)
        (freed ? gone_ : doubtful_).insert(w.number);
      else
        left.push_back(w);
    durable_ = left;
  }

  std::optional<log_state> recover() {
    found_.clear();
    auto state = recover_log(disk_, folder, [&](place at, byte_view, const record& r) {
      if (const auto* s = std::get_if<settle>(&r)) found_.push_back({s->runs[0].first, at});
    });
    if (!state) return std::nullopt;
    return *state;
  }

  void check() {
    auto state = recover();
    REQUIRE(state);
    CHECK(state->damage == std::vector<std::string>{});
    std::set<sequence> seen;
    sequence before = 0;
    for (const auto& f : found_) {
      CHECK(f.number > before);  // in order, none twice
      CHECK(f.number < next_number_);
      CHECK(gone_.count(f.number) == 0);
      before = f.number;
      seen.insert(f.number);
    }
    for (const auto& w : durable_) CHECK(seen.count(w.number) == 1);
    // What was not synced is there up to some record, and not from there on.
    bool cut = false;
    for (const auto& w : unsynced_) {
      const bool there = seen.count(w.number) == 1;
      CHECK(!(cut && there));
      cut = cut || !there;
    }
    // What the next process finds is what the log is.
    std::vector<written> now;
    for (const auto& f : found_)
      if (doubtful_.count(f.number) == 0) now.push_back(f);
    durable_.clear();
    unsynced_ = now;
  }

  simulation_random dice_;
  simulated_file_system disk_;
  std::uint64_t generations_ = 0;
  sequence next_number_ = 1;
  std::vector<written> durable_;   // owed
  std::vector<written> unsynced_;  // may be there, in this order
  std::set<sequence> gone_;        // must not come back
  std::set<sequence> doubtful_;    // of a segment that could not be freed
  std::vector<written> found_;
  std::vector<std::uint32_t> segments_;  // of the log
};

}  // namespace

TEST_CASE("whatever fails and whenever the power goes, what was synced is there, in order, once") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    INFO("seed " << seed);
    log_life{seed}.live();
  }
}
