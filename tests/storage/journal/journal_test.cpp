#include "storage/journal/journal.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/simulated_file_system.hpp"
#include "storage/message.hpp"
#include "tests/catch.hpp"

namespace baton::journal {

namespace {

const std::string folder = "/journal";
constexpr std::uint64_t segment_size = 4096;

/// What an entry's owner was told.
struct told {
  std::vector<std::vector<record_place>> written;  // each time
  int safe = 0;
  bool gone = false;
};

class listening_owner final : public record_owner {
public:
  explicit listening_owner(told& to) : to_{to} {}
  ~listening_owner() override { to_.gone = true; }
  void written(std::span<const record_place> where) noexcept override {
    to_.written.emplace_back(where.begin(), where.end());
  }
  void safe() noexcept override { ++to_.safe; }

private:
  told& to_;
};

/// A journal on a simulated disk, and what its records are made of.
class journal_on_disk {
public:
  journal_on_disk() {
    REQUIRE(disk.create_folder(folder));
    REQUIRE(disk.sync_folder("/"));
    settings.segment_size = {segment_size};
    settings.reserved_segments = 2;
    settings.max_unsynced = {1 << 20};
    open();
  }

  void open(const log_state& found = {}, live_segments live = {}) {
    it = std::make_unique<journal>(disk, folder, settings, found, std::move(live),
                                   [this] { return ++generations_; });
  }

  /// Messages of so many bytes, each at its places.
  encoded_records enqueues(const std::vector<std::vector<queue_place>>& places,
                           std::size_t body = 100) {
    record_writer w;
    for (const auto& each : places) w.add_enqueue(each, message_of(body));
    return w.take();
  }
  message message_of(std::size_t body) {
    if (body <= small_body_limit) return slabs_.add({}, as_bytes(std::string(body, 'x')));
    auto large = std::make_unique<large_body>(body);
    large->append(as_bytes(std::string(body, 'x')));
    return slabs_.add({}, std::move(large));
  }
  encoded_records settles(std::uint64_t queue, sequence first, std::uint64_t count = 1) {
    record_writer w;
    w.add_settle(std::vector<queue_run>{{queue, first, count}});
    return w.take();
  }
  encoded_records defines(std::string_view key, std::string_view value = "v") {
    record_writer w;
    w.add_define(key, as_bytes(value));
    return w.take();
  }

  void add(encoded_records records, told* whom = nullptr, sync_policy sync = sync_policy::always,
           std::vector<reference_drop> drops = {}) {
    journal_entry entry;
    entry.records = std::move(records);
    entry.sync = sync;
    entry.drops = std::move(drops);
    if (whom != nullptr) entry.owner = std::make_unique<listening_owner>(*whom);
    it->add(std::move(entry));
  }
  void make_safe() {
    REQUIRE(it->commit());
    REQUIRE(it->sync());
  }
  /// Messages of a queue, from sequence `next` on, until a new segment is begun; all of them safe.
  /// Gives the sequence after the last.
  sequence fill_segment(std::uint64_t queue, sequence next) {
    const auto before = std::max<std::uint64_t>(it->figures().segments, 1);
    do {
      add(enqueues({{{queue, next++, 0, 0}}}, 500));
      make_safe();
    } while (it->figures().segments == before);
    return next;
  }
  void fill_with_settles() {
    const auto before = it->figures().segments;
    do {
      record_writer w;
      w.add_settle(std::vector<queue_run>(30, {99, 1, 1}));
      add(w.take());
      make_safe();
    } while (it->figures().segments == before);
  }
  /// No more space than there is taken now.
  void fill_disk() {
    auto free = disk.free_space(folder);
    REQUIRE(free);
    if (capacity_ == 0) disk.set_capacity(capacity_ = 1 << 20), free = disk.free_space(folder);
    disk.set_capacity(capacity_ -= *free);
  }

  struct found_record {
    record_kind kind;
    std::uint64_t queue = 0;
    sequence number = 0;
    friend bool operator==(const found_record&, const found_record&) = default;
  };
  /// What a restart would find: of enqueues, relocates, moves (their first place) and settles.
  std::vector<found_record> recovered() {
    std::vector<found_record> all;
    auto state = recover_log(disk, folder, [&](place at, byte_view frame, const record& r) {
      const auto note = [&](byte_view of) {
        const auto o = outline_of(of);
        if (!o.places.empty()) all.push_back({o.kind, o.places[0].queue, o.places[0].number});
        if (o.kind == record_kind::settle)
          all.push_back({o.kind, o.runs[0].queue, o.runs[0].first});
      };
      if (const auto* whole = std::get_if<tx>(&r))
        for_each_part(at, *whole, [&](place, byte_view part, const record&) { note(part); });
      else
        note(frame);
    });
    if (!state) FAIL(state.reason().text);
    CHECK(state->damage.empty());
    return all;
  }

  simulation_random dice{1};
  simulated_file_system disk{dice};
  journal_settings settings;
  std::unique_ptr<journal> it;

private:
  slab_writer slabs_;
  std::uint64_t generations_ = 0;
  std::uint64_t capacity_ = 0;
};

std::vector<queue_place> at(std::uint64_t queue, sequence number) {
  return {{queue, number, 0, 0}};
}

constexpr auto enqueued = record_kind::enqueue;
constexpr auto settled = record_kind::settle;

}  // namespace

// -- writing and syncing --------------------------------------------------------------------------

TEST_CASE("owners are told where their records lie when these are written, and safe when synced") {
  journal_on_disk j;
  told first, second;
  j.add(j.enqueues({at(1, 1), at(1, 2)}), &first);
  j.add(j.settles(1, 1), &second);
  CHECK(j.it->has_pending());
  CHECK(first.written.empty());
  REQUIRE(j.it->commit());
  CHECK(!j.it->has_pending());
  REQUIRE(first.written.size() == 1);
  const std::uint32_t size = 16 + 24 + 28 - 4 + 100;  // header, place, message without its texts
  const std::uint32_t begin = segment_header_size + 24;
  CHECK(first.written[0] ==
        std::vector<record_place>{{{1, begin}, size}, {{1, begin + 168}, size}});
  CHECK(second.written[0] == std::vector<record_place>{{{1, begin + 2 * 168}, 40}});
  CHECK(first.safe == 0);
  REQUIRE(j.it->sync());
  CHECK(first.safe == 1);
  CHECK(second.safe == 1);
  CHECK(first.gone);
  CHECK(second.gone);
}

TEST_CASE("all that has gathered is written by one call and synced by one") {
  journal_on_disk j;
  j.add(j.settles(1, 1));
  j.make_safe();  // the first segment is there
  const auto writes = j.disk.calls(file_operation::write);
  const auto syncs = j.disk.calls(file_operation::sync);
  for (sequence s = 2; s < 12; ++s) j.add(j.enqueues({at(1, s)}));
  j.make_safe();
  CHECK(j.disk.calls(file_operation::write) == writes + 1);
  CHECK(j.disk.calls(file_operation::sync) == syncs + 1);
  CHECK(j.it->figures().groups == 2);
}

TEST_CASE("records that ask for no sync are safe when they are written") {
  journal_on_disk j;
  told whom;
  j.add(j.settles(1, 1), &whom, sync_policy::never);
  REQUIRE(j.it->commit());
  CHECK(whom.safe == 1);
  CHECK(!whom.gone);  // there may be more to tell
  CHECK(j.it->needs_sync() == sync_need::none);
  REQUIRE(j.it->sync());
  CHECK(whom.safe == 1);
  CHECK(whom.gone);
}

TEST_CASE("a sync is wanted as soon as the most impatient record wants it") {
  journal_on_disk j;
  CHECK(j.it->needs_sync() == sync_need::none);
  j.add(j.settles(1, 1), nullptr, sync_policy::never);
  REQUIRE(j.it->commit());
  CHECK(j.it->needs_sync() == sync_need::none);
  j.add(j.settles(1, 2), nullptr, sync_policy::interval);
  REQUIRE(j.it->commit());
  CHECK(j.it->needs_sync() == sync_need::within_interval);
  j.add(j.settles(1, 3), nullptr, sync_policy::always);
  CHECK(j.it->needs_sync() == sync_need::within_interval);  // it is not written
  REQUIRE(j.it->commit());
  CHECK(j.it->needs_sync() == sync_need::now);
  REQUIRE(j.it->sync());
  CHECK(j.it->needs_sync() == sync_need::none);
}

TEST_CASE("a sync is wanted when much is unsynced, whatever the policies") {
  journal_on_disk j;
  j.settings.max_unsynced = {1000};
  j.open();
  j.add(j.enqueues({at(1, 1)}, 500), nullptr, sync_policy::never);
  REQUIRE(j.it->commit());
  CHECK(j.it->needs_sync() == sync_need::none);
  j.add(j.enqueues({at(1, 2)}, 500), nullptr, sync_policy::never);
  REQUIRE(j.it->commit());
  CHECK(j.it->needs_sync() == sync_need::now);
  CHECK(j.it->figures().unsynced_bytes > 1000);
  REQUIRE(j.it->sync());
  CHECK(j.it->figures().unsynced_bytes == 0);
}

TEST_CASE("an entry without records is safe when all before it is") {
  journal_on_disk j;
  told before, empty;
  j.add(j.settles(1, 1), &before);
  j.add({}, &empty);
  REQUIRE(j.it->commit());
  REQUIRE(empty.written.size() == 1);
  CHECK(empty.written[0].empty());
  CHECK(empty.safe == 0);
  REQUIRE(j.it->sync());
  CHECK(empty.safe == 1);
}

TEST_CASE("the parts of a tx are told one by one, and read at their places") {
  journal_on_disk j;
  record_writer w;
  w.add_settle(std::vector<queue_run>{{1, 1, 1}});
  w.begin_tx();
  w.add_enqueue(at(1, 2), j.message_of(10));
  w.add_enqueue(at(1, 3), j.message_of(10'000));
  w.add_settle(std::vector<queue_run>{{1, 2, 1}});
  w.add_enqueue(at(2, 1), j.message_of(20'000));
  w.add_enqueue(at(2, 2), j.message_of(30));
  w.end_tx();
  w.add_enqueue(at(2, 3), j.message_of(40));
  told whom;
  j.add(w.take(), &whom);
  j.make_safe();
  REQUIRE(whom.written.size() == 1);
  const auto& places = whom.written[0];
  REQUIRE(places.size() == 7);
  const std::vector<record_kind> kinds{settled,  enqueued, enqueued, settled,
                                       enqueued, enqueued, enqueued};
  const std::vector<std::size_t> bodies{0, 10, 10'000, 0, 20'000, 30, 40};
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto file = j.disk.open(folder + "/" + segment_name(places[i].at.segment), open_mode::read);
    REQUIRE(file);
    std::vector<std::uint8_t> bytes(*(*file)->size());
    REQUIRE((*file)->read(0, bytes));
    const auto header = read_segment_header(bytes);
    REQUIRE(header);
    const auto frame =
        read_placed(byte_view{bytes}.subspan(places[i].at.offset), seal_of(header->generation));
    REQUIRE(frame);
    CHECK(frame->size() == places[i].size);
    CHECK(outline_of(*frame).kind == kinds[i]);
    const auto read = decode(*frame);
    REQUIRE(read);
    if (const auto* message = std::get_if<enqueue>(&*read))
      CHECK(message->message.body.size() == bodies[i]);
  }
  CHECK(j.it->figures().live_bytes ==
        places[1].size + places[2].size + places[4].size + places[5].size + places[6].size);
}

TEST_CASE("a journal that was closed has lost nothing, and says so") {
  journal_on_disk j;
  told whom;
  j.add(j.enqueues({at(1, 1)}), &whom);
  REQUIRE(j.it->close());
  CHECK(whom.safe == 1);
  j.disk.power_cut();
  j.disk.power_on();
  const auto state = recover_log(j.disk, folder, [](place, byte_view, const record&) {});
  REQUIRE(state);
  CHECK(state->closed);
  CHECK(j.recovered().size() == 1);
}

// -- failures
// ---------------------------------------------------------------------------------------

TEST_CASE("after a failed write all is pending, in order, and written by the next try") {
  journal_on_disk j;
  told first, second;
  j.add(j.enqueues({at(1, 1)}), &first);
  j.make_safe();
  j.add(j.enqueues({at(1, 2)}));
  j.add(j.enqueues({at(1, 3)}), &second);
  j.disk.faults().fail_call(file_operation::write, 1, EIO);
  const auto failed = j.it->commit();
  REQUIRE(!failed);
  CHECK(failed.reason().code == EIO);
  CHECK(!j.it->is_full());
  CHECK(j.it->has_pending());
  CHECK(second.written.empty());
  j.add(j.enqueues({at(1, 4)}));
  j.make_safe();
  CHECK(second.safe == 1);
  using found = journal_on_disk::found_record;
  CHECK(j.recovered() ==
        std::vector<found>{{enqueued, 1, 1}, {enqueued, 1, 2}, {enqueued, 1, 3}, {enqueued, 1, 4}});
}

TEST_CASE("what a failed sync left unsynced is written anew, and safe only after another sync") {
  journal_on_disk j;
  told first, second, never;
  j.add(j.enqueues({at(1, 1)}), &first);
  j.make_safe();
  j.add(j.enqueues({at(1, 2)}), &second);
  j.add(j.enqueues({at(1, 3)}), &never, sync_policy::never);
  REQUIRE(j.it->commit());
  j.add(j.enqueues({at(1, 4)}));
  j.disk.faults().fail_call(file_operation::sync, 1, EIO);
  CHECK(!j.it->sync());
  CHECK(second.safe == 0);
  CHECK(!second.gone);
  CHECK(never.safe == 1);
  CHECK(j.it->has_pending());
  CHECK(j.it->needs_sync() == sync_need::none);  // nothing is written that could be synced
  CHECK(j.it->figures().unsynced_bytes == 0);
  REQUIRE(j.it->commit());
  CHECK(first.written.size() == 1);
  REQUIRE(second.written.size() == 2);
  REQUIRE(never.written.size() == 2);
  CHECK(second.written[1][0].at.segment > second.written[0][0].at.segment);
  CHECK(second.safe == 0);
  CHECK(never.safe == 1);
  REQUIRE(j.it->sync());
  CHECK(second.safe == 1);
  CHECK(second.gone);
  j.disk.power_cut();
  j.disk.power_on();
  using found = journal_on_disk::found_record;
  CHECK(j.recovered() ==
        std::vector<found>{{enqueued, 1, 1}, {enqueued, 1, 2}, {enqueued, 1, 3}, {enqueued, 1, 4}});
}

TEST_CASE("after a failed sync each reference is dropped once for each place that was told") {
  journal_on_disk j;
  told whom;
  j.add(j.enqueues({at(1, 1)}), &whom);
  REQUIRE(j.it->commit());
  j.disk.faults().fail_call(file_operation::sync, 1, EIO);
  CHECK(!j.it->sync());
  // The queue settles what it believes to be there.
  const auto bytes = whom.written[0][0].size;
  j.add(j.settles(1, 1), nullptr, sync_policy::always, {{1, 1, 1, bytes}});
  j.make_safe();
  CHECK(j.it->figures().live_bytes == bytes);  // it is there again, in another segment
  REQUIRE(whom.written.size() == 2);
  const std::vector<reference_drop> again{{whom.written[1][0].at.segment, 1, 1, bytes}};
  j.it->drop(again);
  CHECK(j.it->figures().live_bytes == 0);
}

// -- space
// ------------------------------------------------------------------------------------------

TEST_CASE("segments are freed from the oldest on, when their last message is done with") {
  journal_on_disk j;
  auto next = j.fill_segment(1, 1);
  const auto second = next - 1;  // it is the first one in the second segment
  next = j.fill_segment(1, next);
  REQUIRE(j.it->figures().segments == 3);
  REQUIRE(j.it->collect());
  CHECK(j.it->figures().segments == 3);
  const std::uint64_t bytes = 16 + 24 + 24 + 500;
  const std::vector<reference_drop> of_second{
      {2, 1, next - 1 - second, (next - 1 - second) * bytes}};
  j.it->drop(of_second);
  REQUIRE(j.it->collect());
  CHECK(j.it->figures().segments == 3);  // the first one is still needed
  const std::vector<reference_drop> of_first{{1, 1, second - 1, (second - 1) * bytes}};
  j.it->drop(of_first);
  REQUIRE(j.it->collect());
  CHECK(j.it->figures().segments == 1);
  CHECK(j.recovered().size() == 1);
}

TEST_CASE("the segment under way is never freed") {
  journal_on_disk j;
  j.add(j.settles(1, 1));
  j.make_safe();
  REQUIRE(j.it->collect());
  CHECK(j.it->figures().segments == 1);
}

TEST_CASE("a message that moved keeps its old segment until it is safe where it is now") {
  journal_on_disk j;
  told old, relocated;
  j.add(j.enqueues({at(1, 1)}), &old);
  j.make_safe();
  j.fill_with_settles();
  record_writer w;
  w.add_relocate(at(1, 1), j.message_of(100));
  j.add(w.take(), &relocated);
  REQUIRE(j.it->commit());
  const std::vector<reference_drop> gone{{1, 1, 1, old.written[0][0].size}};
  j.it->drop(gone);
  REQUIRE(j.it->collect());
  CHECK(j.it->figures().segments == 2);
  SECTION("also if that takes a second try") {
    j.disk.faults().fail_call(file_operation::sync, 1, EIO);
    CHECK(!j.it->sync());
    j.add(j.settles(1, 7));
    REQUIRE(j.it->collect());
    CHECK(j.recovered()[0] == journal_on_disk::found_record{enqueued, 1, 1});
    j.make_safe();
  }
  REQUIRE(j.it->sync());
  REQUIRE(j.it->collect());
  j.disk.power_cut();
  j.disk.power_on();
  using found = journal_on_disk::found_record;
  const auto left = j.recovered();
  CHECK(left[0].kind != enqueued);
  CHECK(std::count(left.begin(), left.end(), found{record_kind::relocate, 1, 1}) == 1);
}

TEST_CASE("a message in several queues is needed until the last of them has dropped it") {
  journal_on_disk j;
  told whom;
  j.add(j.enqueues({{{1, 1, 0, 0}, {2, 1, 0, 0}, {3, 1, 0, 0}}}), &whom);
  j.make_safe();
  j.fill_with_settles();
  const auto bytes = reference_bytes(whom.written[0][0].size, 3);
  CHECK(j.it->figures().live_bytes == 3 * bytes);
  for (std::uint64_t queue = 1; queue <= 3; ++queue) {
    REQUIRE(j.it->collect());
    CHECK(j.it->figures().segments == 2);
    CHECK(j.it->queues_in(1).size() == 4 - queue);
    const std::vector<reference_drop> gone{{1, queue, 1, bytes}};
    j.it->drop(gone);
  }
  REQUIRE(j.it->collect());
  CHECK(j.it->figures().segments == 1);
}

TEST_CASE("the last value of a definition keeps its segment until there is a safe later one") {
  journal_on_disk j;
  j.add(j.defines("queue a"));
  j.add(j.defines("queue b"));
  j.make_safe();
  for (int i = 0; i < 5; ++i) j.fill_with_settles();
  REQUIRE(j.it->collect());
  CHECK(j.it->figures().segments == 6);
  CHECK(j.it->wants_definitions());
  CHECK(j.it->wants_compaction() == std::nullopt);
  record_writer w;
  w.begin_tx();
  w.add_define("queue a", as_bytes("new"));
  w.add_define("queue b", std::nullopt);
  w.end_tx();
  j.add(w.take());
  REQUIRE(j.it->commit());
  REQUIRE(j.it->collect());
  CHECK(j.it->figures().segments == 6);
  REQUIRE(j.it->sync());
  REQUIRE(j.it->collect());
  CHECK(j.it->figures().segments == 1);
  CHECK(!j.it->wants_definitions());
}

TEST_CASE("a log is worth compacting when little of it is needed, and then its oldest segment is") {
  journal_on_disk j;
  told whom;
  j.add(j.enqueues({at(1, 1), at(2, 1)}), &whom);
  j.make_safe();
  for (int i = 0; i < 3; ++i) j.fill_with_settles();
  CHECK(j.it->wants_compaction() == std::nullopt);  // a short log is no burden
  for (int i = 0; i < 3; ++i) j.fill_with_settles();
  CHECK(j.it->wants_compaction() == 1u);
  auto queues = j.it->queues_in(1);
  std::sort(queues.begin(), queues.end());
  CHECK(queues == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("a long log whose messages are needed is not compacted") {
  journal_on_disk j;
  sequence next = 1;
  for (int i = 0; i < 8; ++i) next = j.fill_segment(1, next);
  CHECK(j.it->wants_compaction() == std::nullopt);
}

TEST_CASE("a full segment in front of many dead ones is compacted all the same") {
  journal_on_disk j;
  j.fill_segment(1, 1);
  for (int i = 0; i < 12; ++i) j.fill_with_settles();
  CHECK(j.it->wants_compaction() == 1u);
}

TEST_CASE("a restart counts on with what a recovery found to be needed") {
  journal_on_disk j;
  const auto next = j.fill_segment(1, 1);
  j.it.reset();
  live_segments live;
  auto state = recover_log(j.disk, folder, [&](place at, byte_view frame, const record& r) {
    if (std::holds_alternative<enqueue>(r))
      live.add(at.segment, 1, 1, reference_bytes(static_cast<std::uint32_t>(frame.size()), 1));
  });
  REQUIRE(state);
  CHECK(state->segments == std::vector<std::uint32_t>{1, 2});
  REQUIRE(settle_log(j.disk, folder, *state));
  j.open(*state, std::move(live));
  REQUIRE(j.it->collect());
  CHECK(j.it->figures().segments == 2);
  const std::uint64_t bytes = 16 + 24 + 24 + 500;
  const std::vector<reference_drop> gone{{1, 1, next - 2, (next - 2) * bytes}};
  j.it->drop(gone);
  REQUIRE(j.it->collect());
  CHECK(j.it->figures().segments == 1);
}

// -- a full disk
// --------------------------------------------------------------------------------------

namespace {

/// A journal with some full segments of messages of queue 1, on a disk without space.
class full_disk : public journal_on_disk {
public:
  full_disk() {
    REQUIRE(it->collect());  // the reserve
    for (std::uint32_t segment = 1; segment <= 4; ++segment) {
      const auto first = next;
      next = fill_segment(1, next);
      // The first of a segment came with the one before it.
      const auto count = next - first - (segment == 1 ? 1 : 0);
      old.push_back({segment, 1, count, count * bytes});
      messages += count;
    }
    fill_disk();
    while (it->commit()) add(enqueues({at(1, next++)}, 500), &publishes);
    REQUIRE(it->sync());
  }

  static constexpr std::uint64_t bytes = 16 + 24 + 24 + 500;
  sequence next = 1;
  std::uint64_t messages = 0;       // in the full segments: the first ones
  std::vector<reference_drop> old;  // their references
  told publishes;
};

}  // namespace

TEST_CASE("on a full disk publishes wait, and settlements get through and make room for them") {
  full_disk j;
  CHECK(j.it->is_full());
  CHECK(j.it->has_pending());
  told settlement;
  j.add(j.settles(1, 1, j.messages), &settlement, sync_policy::never, j.old);
  const auto failed = j.it->commit();
  REQUIRE(!failed);
  CHECK(failed.reason().code == ENOSPC);
  CHECK(settlement.safe == 1);
  CHECK(j.it->has_pending());
  CHECK(j.it->needs_sync() == sync_need::now);  // whatever the policy: it makes room
  REQUIRE(j.it->sync());
  REQUIRE(j.it->collect());
  REQUIRE(j.it->commit());
  CHECK(!j.it->is_full());
  CHECK(!j.it->has_pending());
}

TEST_CASE("what is settled while its enqueue waits stays settled, whatever is freed in between") {
  full_disk j;
  const auto waiting = j.next - 1;
  told settlement;
  j.add(j.settles(1, waiting), &settlement);
  CHECK(!j.it->commit());
  REQUIRE(j.it->sync());
  CHECK(settlement.written.size() == 1);
  CHECK(settlement.safe == 0);  // the enqueue could come back without it
  j.add(j.settles(1, 1, j.messages), nullptr, sync_policy::always, j.old);
  CHECK(!j.it->commit());
  REQUIRE(j.it->sync());
  REQUIRE(j.it->collect());
  REQUIRE(j.it->commit());
  CHECK(settlement.safe == 0);
  REQUIRE(j.it->sync());
  CHECK(settlement.safe == 1);
  CHECK(settlement.gone);
  CHECK(settlement.written.size() == 1);
  const auto found = j.recovered();
  const journal_on_disk::found_record late{enqueued, 1, waiting}, done{settled, 1, waiting};
  const auto enqueue_at = std::find(found.begin(), found.end(), late);
  REQUIRE(enqueue_at != found.end());
  CHECK(std::find(found.begin(), enqueue_at, done) != enqueue_at);
  CHECK(std::find(enqueue_at, found.end(), done) != found.end());
}

TEST_CASE("a purge and a return of messages that wait are said again behind them") {
  full_disk j;
  record_writer w;
  w.add_requeue(std::vector<queue_return>{{1, 1, 5}, {1, j.next - 1, 5}, {2, 1, 5}});
  w.add_purge(1, j.next, {});
  w.add_purge(2, 100, {});
  j.add(w.take());
  CHECK(!j.it->commit());
  j.add(j.settles(1, 1, j.messages), nullptr, sync_policy::always, j.old);
  CHECK(!j.it->commit());
  REQUIRE(j.it->sync());
  REQUIRE(j.it->collect());
  j.make_safe();
  std::vector<std::vector<std::uint64_t>> requeues, purges;
  REQUIRE(recover_log(j.disk, folder, [&](place, byte_view, const record& r) {
    if (const auto* back = std::get_if<requeue>(&r)) {
      requeues.emplace_back();
      for (const auto& each : back->returns) requeues.back().push_back(each.number);
    }
    if (const auto* p = std::get_if<purge>(&r)) purges.push_back({p->queue, p->end});
  }));
  CHECK(requeues == std::vector<std::vector<std::uint64_t>>{{1, j.next - 1, 1}, {j.next - 1}});
  CHECK(purges == std::vector<std::vector<std::uint64_t>>{{1, j.next}, {2, 100}, {1, j.next}});
}

TEST_CASE("a full disk is worth compacting sooner, and its reserve has room for that") {
  full_disk j;
  for (int i = 0; i < 2; ++i) {  // settlements fill the reserve
    record_writer w;
    w.add_settle(std::vector<queue_run>(160, {99, 1, 1}));
    j.add(w.take());
    CHECK(!j.it->commit());
    REQUIRE(j.it->sync());
  }
  // The last spare is not for them.
  CHECK(j.it->figures().segments == 6);
  j.old[0].references -= 1;
  j.old[0].bytes -= j.bytes;
  j.it->drop(j.old);
  REQUIRE(j.it->wants_compaction() == 1u);
  told relocated;
  record_writer w;
  w.add_relocate(at(1, 1), j.message_of(500));
  j.add(w.take(), &relocated);
  CHECK(!j.it->commit());
  REQUIRE(relocated.written.size() == 1);
  const std::vector<reference_drop> last{{1, 1, 1, j.bytes}};
  j.it->drop(last);
  REQUIRE(j.it->sync());
  REQUIRE(j.it->collect());
  CHECK(j.recovered()[0].number > j.messages);
}

TEST_CASE("the reserve is not used for publishes, and is made again when there is space") {
  full_disk j;
  const auto spares = [&] {
    const auto names = j.disk.list(folder);
    REQUIRE(names);
    return std::count_if(names->begin(), names->end(),
                         [](const auto& name) { return is_spare_name(name); });
  };
  CHECK(spares() == 2);
  record_writer w;
  w.add_settle(std::vector<queue_run>(160, {99, 1, 1}));
  j.add(w.take());
  CHECK(!j.it->commit());
  CHECK(spares() == 1);
  j.disk.set_capacity(1 << 20);
  j.make_safe();
  REQUIRE(j.it->collect());
  CHECK(spares() == 2);
}

}  // namespace baton::journal
