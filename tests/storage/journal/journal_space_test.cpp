#include "tests/storage/journal/journal_on_disk.hpp"

namespace baton::journal {

using namespace test;

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

TEST_CASE("on a full disk what waits for all before it does not get ahead of publishes") {
  full_disk j;
  told publish, behind;
  j.add(j.enqueues({at(1, 1000)}), &publish);
  j.add({}, &behind, sync_policy::never);
  CHECK(!j.it->commit());
  CHECK(publish.written.empty());
  CHECK(behind.safe == 0);
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
