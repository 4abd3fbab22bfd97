#include "storage/journal/node_recovery.hpp"

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "storage/journal/message_reader.hpp"
#include "tests/storage/journal/node_log.hpp"

using namespace baton;
using namespace baton::journal;

namespace {

std::vector<sequence> numbers(const recovered_node& node, std::uint64_t queue) {
  std::vector<sequence> all;
  if (const auto found = node.queues.find(queue); found != node.queues.end())
    found->second.messages.for_each([&](sequence n, const stored_entry&) { all.push_back(n); });
  return all;
}

stored_entry entry_of(const recovered_node& node, std::uint64_t queue, sequence number) {
  return node.queues.at(queue).messages.find(number).value();
}

using many = std::vector<sequence>;

}  // namespace

TEST_CASE("a new folder holds a node without anything") {
  node_log disk;
  const auto node = disk.recover();
  CHECK(node.queues.empty());
  CHECK(node.definitions.empty());
  CHECK(node.highest_queue == 0);
  CHECK(node.log.closed);
}

TEST_CASE("a message is recovered in each of its queues, with its place and what is said of it") {
  node_log disk;
  record_writer w;
  w.add_enqueue(all<queue_place>({{1, 5, 70, 0}, {9, 2, 0, 3}}), disk.make("hello"));
  const auto where = disk.write(w);
  const auto node = disk.recover();
  const auto each = static_cast<std::uint32_t>(where[0].size / 2);
  CHECK(entry_of(node, 1, 5) == stored_entry{where[0].at, each, 5, 70, 0, false});
  CHECK(entry_of(node, 9, 2) == stored_entry{where[0].at, each, 5, 0, 3, true});
  CHECK(node.queues.at(1).next == 6);
  CHECK(node.queues.at(9).next == 3);
  CHECK(node.highest_queue == 9);
  CHECK(node.live.references() == 2);
  CHECK(node.live.live_bytes() == 2 * each);
  CHECK(!node.log.closed);
}

TEST_CASE("what is settled is not recovered, whether its message was written before or after") {
  node_log disk;
  record_writer w;
  for (sequence n = 1; n <= 10; ++n) w.add_enqueue(all<queue_place>({{1, n}}), disk.make("m"));
  w.add_settle(all<queue_run>({{1, 2, 3}, {1, 7, 1}, {1, 10, 4}}));
  w.add_enqueue(all<queue_place>({{1, 11}, {2, 1}}), disk.make("m"));
  w.add_enqueue(all<queue_place>({{1, 12}, {2, 2}}), disk.make("m"));
  w.add_enqueue(all<queue_place>({{1, 14}}), disk.make("m"));
  disk.write(w);
  auto node = disk.recover();
  CHECK(numbers(node, 1) == many{1, 5, 6, 8, 9, 14});
  CHECK(numbers(node, 2) == many{1, 2});
  CHECK(node.queues.at(1).next == 15);
  CHECK(node.live.references() == 8);
  SECTION("and a queue that is forgotten leaves nothing") {
    node.forget(1);
    CHECK(node.live.references() == 2);
    node.forget(2);
    node.forget(3);
    CHECK(node.queues.empty());
    CHECK(node.live.references() == 0);
    CHECK(node.live.live_bytes() == 0);
  }
}

TEST_CASE("an end that lies in front of its message is named, to be told once more") {
  node_log disk;
  record_writer w;
  w.add_enqueue(all<queue_place>({{1, 1}}), disk.make("m"));
  w.add_settle(all<queue_run>({{1, 1, 1}, {2, 5, 1}}));
  w.add_enqueue(all<queue_place>({{1, 2}, {2, 5}}), disk.make("m"));
  disk.write(w);
  const auto node = disk.recover();
  CHECK(node.queues.at(1).ended_early.empty());
  CHECK(node.queues.at(2).ended_early == std::vector<sequence>{5});
}

TEST_CASE("no sequence that a record speaks of is given again") {
  node_log disk;
  record_writer w;
  w.add_settle(all<queue_run>({{1, 40, 3}}));
  w.add_requeue(all<queue_return>({{2, 50, 1}}));
  w.add_purge(3, 60, {});
  w.add_relocate(all<queue_place>({{4, 70}}), disk.make("m"));
  w.add_move(all<queue_run>({{5, 80, 1}}), all<queue_place>({{6, 90}}), disk.make("m"));
  disk.write(w);
  const auto node = disk.recover();
  std::map<std::uint64_t, sequence> next;
  for (const auto& [id, q] : node.queues) next[id] = q.next;
  CHECK(next ==
        std::map<std::uint64_t, sequence>{{1, 43}, {2, 51}, {3, 60}, {4, 71}, {5, 81}, {6, 91}});
}

TEST_CASE("a message that came back knows how often, also if that was written ahead of it") {
  node_log disk;
  record_writer w;
  w.add_enqueue(all<queue_place>({{1, 1}}), disk.make("m"));
  w.add_requeue(all<queue_return>({{1, 1, 1}, {1, 2, 4}}));
  w.add_requeue(all<queue_return>({{1, 1, 100'000}}));
  w.add_enqueue(all<queue_place>({{1, 2}, {2, 1}}), disk.make("m"));
  disk.write(w);
  const auto node = disk.recover();
  CHECK(entry_of(node, 1, 1).returns == 65'535);
  CHECK(entry_of(node, 1, 1).redelivered);
  CHECK(entry_of(node, 1, 2).returns == 4);
  CHECK(entry_of(node, 1, 2).redelivered);
  CHECK(!entry_of(node, 2, 1).redelivered);
}

TEST_CASE("a purge takes all below its end but what it keeps, also what is written later") {
  node_log disk;
  record_writer w;
  for (sequence n = 1; n <= 200; ++n) w.add_enqueue(all<queue_place>({{1, n}}), disk.make("m"));
  w.add_purge(1, 210, all<queue_run>({{1, 100, 2}, {1, 7, 1}, {1, 204, 1}}));
  w.add_settle(all<queue_run>({{1, 101, 1}}));
  for (sequence n = 203; n <= 212; ++n)
    w.add_enqueue(all<queue_place>({{1, n}, {2, n}}), disk.make("m"));
  disk.write(w);
  CHECK(numbers(disk.recover(), 1) == many{7, 100, 204, 210, 211, 212});
}

TEST_CASE("a message that was relocated is where it was written last, and none is there twice") {
  node_log disk;
  record_writer w;
  w.add_enqueue(all<queue_place>({{1, 1}, {2, 1}}), disk.make("m"));
  w.add_relocate(all<queue_place>({{1, 1, 0, 2}}), disk.make("m"));
  w.add_relocate(all<queue_place>({{3, 9}}), disk.make("m"));  // its enqueue is gone
  const auto where = disk.write(w);
  const auto node = disk.recover();
  CHECK(entry_of(node, 1, 1).at == where[1].at);
  CHECK(entry_of(node, 1, 1).returns == 2);
  CHECK(entry_of(node, 2, 1).at == where[0].at);
  CHECK(entry_of(node, 3, 9).at == where[2].at);
  CHECK(node.live.references() == 3);
}

TEST_CASE("of what was defined the last value is known, and nothing of what no longer is") {
  node_log disk;
  record_writer w;
  w.add_define("b", as_bytes("1"));
  w.add_define("a", as_bytes("2"));
  w.add_define("c", as_bytes("3"));
  w.begin_tx();
  w.add_define("b", as_bytes("4"));
  w.add_define("c", std::nullopt);
  w.end_tx();
  w.add_define("never", std::nullopt);
  w.add_define("empty", byte_view{});
  w.add_peer_progress({7, 1, 2});
  w.add_peer_progress({7, 2, 1});
  disk.write(w);
  const auto node = disk.recover();
  std::map<std::string, std::string> values;
  for (const auto& [key, d] : node.definitions) values[key] = d.value;
  CHECK(values == std::map<std::string, std::string>{{"a", "2"}, {"b", "4"}, {"empty", ""}});
  CHECK(node.peers.size() == 1);
  CHECK(node.peers.at(7).epoch == 2);
}

TEST_CASE("the parts of a tx are recovered with places of their own") {
  node_log disk;
  record_writer w;
  w.begin_tx();
  w.add_enqueue(all<queue_place>({{1, 1}}), disk.make("first"));
  w.add_settle(all<queue_run>({{1, 3, 1}}));
  w.add_enqueue(all<queue_place>({{1, 2}}), disk.make("second"));
  w.end_tx();
  disk.write(w);
  const auto node = disk.recover();
  CHECK(numbers(node, 1) == many{1, 2});
  CHECK(node.queues.at(1).next == 4);
  message_reader reader{disk.disk, log_folder};
  std::vector<message_reader::outcome> got;
  reader.read(1, all<place>({entry_of(node, 1, 1).at, entry_of(node, 1, 2).at}), got);
  CHECK(as_text(got[0]->small_body()) == "first");
  CHECK(as_text(got[1]->small_body()) == "second");
}

TEST_CASE("what was there at a crash stays redelivered, however the log is closed later") {
  node_log disk;
  record_writer w;
  w.add_enqueue(all<queue_place>({{1, 1}}), disk.make("before"));
  w.add_peer_progress({5, 1, 1});
  disk.write(w);
  auto found = disk.recover();
  CHECK(!found.log.closed);
  CHECK(found.live.is_needed(1));
  disk.reopen(found.log);
  w.add_enqueue(all<queue_place>({{1, 2}}), disk.make("after"));
  disk.write(w);
  w.add_enqueue(all<queue_place>({{1, 3, 0, 0, 1}}), disk.make("relocated, for example"));
  disk.write(w);
  REQUIRE(disk.log->close());
  found = disk.recover();
  CHECK(found.log.closed);
  CHECK(entry_of(found, 1, 1).redelivered);
  CHECK(!entry_of(found, 1, 2).redelivered);
  CHECK(entry_of(found, 1, 3).redelivered);
  CHECK(entry_of(found, 1, 3).returns == 0);
  SECTION("also after a stop in order, which it knows from a crash") {
    disk.reopen(found.log);
    w.add_enqueue(all<queue_place>({{1, 4}}), disk.make("later"));
    disk.write(w);
    found = disk.recover();
    CHECK(entry_of(found, 1, 1).redelivered);
    CHECK(!entry_of(found, 1, 2).redelivered);
  }
}

TEST_CASE("that there was a crash is told again where it was lost with a failed sync") {
  node_log disk;
  record_writer w;
  w.add_enqueue(all<queue_place>({{1, 1}}), disk.make("before"));
  disk.write(w);
  REQUIRE(disk.log->sync());
  disk.reopen(disk.recover().log);
  disk.disk.faults().fail_call(file_operation::sync, 2, EIO);  // the first is the new segment's
  w.add_enqueue(all<queue_place>({{1, 2}}), disk.make("lost"));
  disk.write(w);
  REQUIRE(!disk.log->sync());
  w.add_enqueue(all<queue_place>({{1, 2}}), disk.make("written anew"));
  disk.write(w);
  REQUIRE(disk.log->close());
  const auto found = disk.recover();
  CHECK(numbers(found, 1) == many{1, 2});
  CHECK(entry_of(found, 1, 1).redelivered);
  CHECK(!entry_of(found, 1, 2).redelivered);
}

TEST_CASE("runs as long as numbers go cost no more than what they hit") {
  node_log disk;
  record_writer w;
  w.add_enqueue(all<queue_place>({{1, 5}}), disk.make("m"));
  w.add_settle(all<queue_run>({{1, 0, UINT64_MAX}, {2, UINT64_MAX, UINT64_MAX}}));
  w.add_purge(1, UINT64_MAX, all<queue_run>({{1, 3, UINT64_MAX}}));
  disk.write(w);
  const auto node = disk.recover();
  CHECK(numbers(node, 1).empty());
  CHECK(node.queues.at(1).next == UINT64_MAX);
}
