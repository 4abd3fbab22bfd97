// A stream on a disk that fails, is full, and whose power goes at any system call. A process that
// is killed keeps its page cache, so only a simulated disk can show that syncs are where they have
// to be.
#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/storage/stream/stream_on_disk.hpp"

namespace baton::stream_log::test {

namespace {

constexpr std::uint64_t segment_size = 4096;

/// One stream through several processes and power cuts, with a plain model of what it owes.
class stream_life {
public:
  explicit stream_life(std::uint64_t seed) : dice_{seed}, disk_{dice_} {
    REQUIRE(disk_.create_folder(streams));
    REQUIRE(disk_.create_folder(folder_));
    REQUIRE(disk_.sync_folder("/"));
    REQUIRE(disk_.sync_folder(streams));
    settings_.segment_size = {segment_size};
    settings_.reserved_segments = static_cast<std::uint32_t>(dice_.below(2));
    settings_.max_unsynced = {8 << 10};
  }

  void live() {
    for (int process = 0; process < 4; ++process) {
      plan_faults();
      run_process();
      disk_.faults().clear();
      if (disk_.has_power() && dice_.once_in(2)) disk_.power_cut();
      disk_.power_on();
      ++life_;  // owners say no more
      log_.reset();
      check();
    }
  }

private:
  class owner final : public journal::record_owner {
  public:
    owner(stream_life& of, std::uint64_t first, std::uint32_t count, std::uint64_t time_ms,
          sync_policy sync)
        : of_{of}, life_{of.life_}, first_{first}, count_{count}, time_ms_{time_ms}, sync_{sync} {}
    ~owner() override {
      if (life_ == of_.life_) of_.table_.synced(first_ + count_);
    }
    void written(std::span<const record_place> where) noexcept override {
      BATON_CHECK(where.size() == 1);
      of_.table_.note(where[0], first_, count_, time_ms_, of_.drops_);
    }
    void safe() noexcept override {
      if (sync_ != sync_policy::never) of_.owed_ = std::max(of_.owed_, first_ + count_);
    }

  private:
    stream_life& of_;
    int life_;
    std::uint64_t first_;
    std::uint32_t count_;
    std::uint64_t time_ms_;
    sync_policy sync_;
  };

  void plan_faults() {
    auto& faults = disk_.faults();
    reads_fail_ = false;
    if (!dice_.once_in(3)) faults.cut_power_at_call(1 + dice_.below(300));
    if (dice_.once_in(3)) faults.fail_once_in(file_operation::write, 4 + dice_.below(20), EIO);
    if (dice_.once_in(2)) faults.fail_once_in(file_operation::sync, 4 + dice_.below(20), EIO);
    if (dice_.once_in(4)) faults.fail_once_in(file_operation::rename, 3, EIO);
    if (dice_.once_in(4)) faults.fail_once_in(file_operation::remove, 3, EIO);
    if (dice_.once_in(4)) faults.fail_once_in(file_operation::sync_folder, 6, EIO);
    if (dice_.once_in(4)) faults.fail_once_in(file_operation::preallocate, 2, ENOSPC);
    if (dice_.once_in(4)) {
      faults.fail_once_in(file_operation::open, 10, EIO);
      reads_fail_ = true;
    }
    if (dice_.once_in(2)) faults.shorten_writes_once_in(3);
    disk_.set_capacity(dice_.once_in(2) ? 10'000 * segment_size
                                        : (8 + dice_.below(16)) * segment_size);
  }

  // -- a process

  bool start() {
    auto found = recover_stream(disk_, folder_, queue);
    if (!found || !journal::settle_log(disk_, folder_, found->log)) return false;
    table_ = std::move(found->table);
    next_ = owed_ = table_.next_offset();  // what was found is durable now
    model_.erase(model_.lower_bound(next_), model_.end());
    log_ = std::make_unique<journal::journal>(
        disk_, folder_, settings_, found->log, std::move(found->live),
        [this] { return ++generations_; }, queue);
    reader_ = std::make_unique<chunk_reader>(disk_, streams);
    drops_.clear();
    unsure_ = false;
    return true;
  }

  void run_process() {
    if (!start()) return;
    for (auto steps = 20 + dice_.below(150); steps > 0 && disk_.has_power(); --steps) {
      step();
      if (disk_.has_power() && dice_.once_in(8)) check_readable();
    }
    if (disk_.has_power() && dice_.once_in(3)) static_cast<void>(log_->close());
    reader_.reset();
  }

  void step() {
    switch (dice_.below(10)) {
      case 0:
      case 1:
      case 2:
        if (!log_->is_full() || dice_.once_in(10)) publish();
        break;
      case 3:
      case 4:
      case 5:
        if (log_->commit() && !log_->has_pending()) unsure_ = false;
        send_drops();
        break;
      case 6:
        sync();
        break;
      case 7:
        if (dice_.once_in(3) || log_->is_full()) retire();
        break;
      case 8:
        static_cast<void>(log_->collect());
        break;
      case 9:
        time_ms_ += dice_.below(5);
        break;
    }
    if (log_->needs_sync() == journal::sync_need::now && dice_.once_in(2)) sync();
  }

  void sync() {
    // Until it is written anew, what was unsynced cannot be read for certain.
    if (!log_->sync()) unsure_ = true;
  }
  void send_drops() {
    log_->drop(drops_);
    drops_.clear();
  }

  void publish() {
    std::vector<message> messages;
    const auto first = next_;
    for (auto count = 1 + dice_.below(6); count > 0; --count) {
      const bool is_last = count == 1;
      const auto size = is_last && dice_.once_in(20) ? 4500 + dice_.below(1500) : dice_.below(300);
      const auto key = std::to_string(++messages_);
      message_parts parts;
      parts.routing_key = key;
      messages.push_back(slabs_.add(parts, as_bytes(std::string(size, 'x'))));
      model_.insert_or_assign(next_, read_message{next_, time_ms_, key, size});
      ++next_;
    }
    journal::record_writer w;
    w.add_chunk(queue, first, time_ms_, messages);
    const auto sync = static_cast<sync_policy>(dice_.below(3));
    const auto count = static_cast<std::uint32_t>(messages.size());
    log_->add({w.take(), sync, {}, std::make_unique<owner>(*this, first, count, time_ms_, sync)});
  }

  void retire() {
    const auto by_time = dice_.once_in(2) ? time_ms_ - std::min(time_ms_, dice_.below(40)) : 0;
    log_->drop(table_.retire(dice_.below(8 * segment_size), by_time));
    retired_ = std::max(retired_, table_.first_offset());
  }

  // -- what must hold

  std::vector<read_message> expected(std::uint64_t from, std::uint64_t end, std::uint64_t since) {
    std::vector<read_message> made;
    for (auto m = model_.lower_bound(from); m != model_.end() && m->first < end; ++m)
      if (m->second.time_ms >= since) made.push_back(m->second);
    return made;
  }

  /// While the log is written: from any offset or time on.
  void check_readable() {
    cursor c{table_, *reader_};
    c.max_bytes = dice_.below(8 << 10);
    if (dice_.once_in(2))
      c.offset = dice_.below(table_.next_offset() + 2);
    else
      c.since_ms = 1 + dice_.below(time_ms_ + 2);
    const auto from = std::max(c.offset, table_.first_offset());
    c.run();
    if (!disk_.has_power()) return;
    for (const auto& m : c.got) CHECK(m == model_.at(m.offset));
    if (reads_fail_ || unsure_) return;
    CHECK(!c.retired);
    CHECK(c.damage == std::vector<std::string>{});
    CHECK(c.got == expected(from, table_.next_offset(), c.since_ms));
  }

  /// After a restart.
  void check() {
    auto found = recover_stream(disk_, folder_, queue);
    REQUIRE(found);
    CHECK(found->log.damage == std::vector<std::string>{});
    const auto& table = found->table;
    CHECK(table.next_offset() >= owed_);
    CHECK(table.next_offset() <= next_);
    CHECK(table.first_offset() <= std::max(retired_, owed_));
    if (owed_ > retired_) CHECK(table.first_offset() <= retired_);
    chunk_reader reader{disk_, streams};
    cursor c{table, reader};
    c.run();
    CHECK(!c.retired);
    CHECK(c.damage == std::vector<std::string>{});
    CHECK(c.got == expected(table.first_offset(), table.next_offset(), 0));
    for (std::uint64_t n = 0; n < c.got.size(); ++n)
      CHECK(c.got[n].offset == table.first_offset() + n);
    // The journal needs of each segment what the table lets go of.
    auto copy = table;
    auto live = found->live;
    for (const auto& gone : copy.retire(0, UINT64_MAX)) live.drop(gone);
    CHECK(live.live_bytes() == copy.bytes());
    CHECK(copy.segments() == (table.empty() ? 0 : 1));
  }

  simulation_random dice_;
  simulated_file_system disk_;
  const std::string folder_ = stream_folder(streams, queue);
  journal_settings settings_;
  slab_writer slabs_;
  std::uint64_t generations_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t time_ms_ = 1;
  int life_ = 0;

  std::map<std::uint64_t, read_message> model_;  // by offset; the last one that was given it
  std::uint64_t next_ = 0;                       // offset to give
  std::uint64_t owed_ = 0;                       // all below it were called safe
  std::uint64_t retired_ = 0;                    // all below it may be gone
  std::vector<journal::reference_drop> drops_;
  segment_table table_{queue};
  std::unique_ptr<journal::journal> log_;
  std::unique_ptr<chunk_reader> reader_;
  bool unsure_ = false;
  bool reads_fail_ = false;
};

}  // namespace

TEST_CASE("whatever fails, a stream has what it called safe at its offset, in order and once") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    INFO("seed " << seed);
    stream_life{seed}.live();
  }
}

}  // namespace baton::stream_log::test
