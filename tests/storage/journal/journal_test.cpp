#include "tests/storage/journal/journal_on_disk.hpp"

namespace baton::journal {

using namespace test;

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

TEST_CASE("an entry without records says when all before it was written anew") {
  journal_on_disk j;
  told before, behind;
  j.add(j.enqueues({at(1, 1)}), &before);
  REQUIRE(j.it->commit());
  j.disk.faults().fail_call(file_operation::sync, 1, EIO);
  CHECK(!j.it->sync());
  j.add({}, &behind, sync_policy::never);
  j.disk.faults().fail_call(file_operation::write, 1, EIO);
  CHECK(!j.it->commit());
  CHECK(behind.safe == 0);
  REQUIRE(j.it->commit());
  CHECK(before.written.size() == 2);
  CHECK(behind.safe == 1);
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

}  // namespace baton::journal
