// Lengths, times, ends and memory of a queue.

#include <algorithm>

#include "storage/memory_account.hpp"
#include "tests/actors/queue/messages.hpp"
#include "tests/catch.hpp"

using namespace baton;
using namespace baton::test;
using namespace std::chrono_literals;

namespace {

queue_core limited(std::uint64_t most, overflow_policy overflow) {
  queue_options o;
  o.arguments.max_length = most;
  o.arguments.overflow = overflow;
  return queue_core{o, {}};
}

std::vector<std::string> bodies(std::vector<departed_message> all) {
  std::vector<std::string> out;
  for (const auto& d : all) out.emplace_back(as_text(d.content.small_body()));
  return out;
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("drop-head makes room by dropping the oldest ready messages, leases do not count") {
  auto queue = limited(3, overflow_policy::drop_head);
  queue.keep_departed(true);
  CHECK(queue.publish(numbered(5), {}) == 0);
  CHECK(bodies(queue.take_departed()) == texts{"1", "2"});
  consumer_options o;
  o.prefetch = 2;
  REQUIRE(queue.add(consumer_id{1}, freely(o)));
  CHECK(dispatch(queue).size() == 2);
  CHECK(queue.publish(numbered(2, 6), {}) == 0);
  CHECK(queue.take_departed().empty());
  CHECK(queue.ready() == 3);
}

TEST_CASE("a released message is the first to be dropped when the queue is full again") {
  auto queue = limited(2, overflow_policy::drop_head);
  queue.keep_departed(true);
  queue.publish(numbered(1), {});
  REQUIRE(queue.get(consumer_id{9}, false, {}));
  queue.publish(numbered(2, 2), {});
  settle(queue, 9, 1, 1, outcome::release);
  CHECK(bodies(queue.take_departed()) == texts{"1"});
  CHECK(queue.ready() == 2);
}

TEST_CASE("max-length 0 hands a message to a ready consumer or drops it") {
  auto queue = limited(0, overflow_policy::drop_head);
  CHECK(queue.publish(numbered(3), {}) == 0);
  CHECK(queue.ready() == 0);
  consumer_options o;
  o.prefetch = 2;
  REQUIRE(queue.add(consumer_id{1}, freely(o)));
  CHECK(queue.publish(numbered(3), {}) == 0);
  CHECK(dispatch(queue).size() == 2);
  CHECK(queue.statistics().dropped == 4);
}

TEST_CASE("reject-publish refuses what does not fit, and says which") {
  auto queue = limited(3, overflow_policy::reject_publish);
  CHECK(queue.publish(numbered(5), {}) == 0b11000);
  CHECK(queue.ready() == 3);
  CHECK(queue.publish(numbered(2), {}) == 0b11);
  consumer_options o;
  o.prefetch = 1;
  REQUIRE(queue.add(consumer_id{1}, freely(o)));
  CHECK(dispatch(queue).size() == 1);
  CHECK(queue.publish(numbered(2), {}) == 0b10);
  CHECK(queue.statistics().refused == 5);
}

TEST_CASE("messages that a ready consumer takes at once never make a queue full") {
  auto queue = limited(2, overflow_policy::reject_publish);
  REQUIRE(queue.add(consumer_id{1}, freely()));
  CHECK(queue.publish(numbered(64), {}) == 0);
  CHECK(dispatch(queue).size() == 64);
}

TEST_CASE("a consumer that leaves between a publish and its dispatch loses no message") {
  auto queue = limited(2, overflow_policy::reject_publish);
  consumer_options o;
  o.no_ack = true;
  REQUIRE(queue.add(consumer_id{1}, freely(o)));
  CHECK(queue.publish(numbered(5), {}) == 0);
  queue.remove(consumer_id{1}, {});
  CHECK(dispatch(queue).size() == 5);
}

TEST_CASE("reject-publish-dlx dead-letters what it refuses") {
  auto queue = limited(1, overflow_policy::reject_publish_dlx);
  queue.keep_departed(true);
  CHECK(queue.publish(numbered(2), {}) == 0b10);
  auto gone = queue.take_departed();
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].why == departure::max_length);
}

TEST_CASE("max-length-bytes counts payload, and one message may push out several") {
  queue_options o;
  o.arguments.max_length_bytes = 100;
  queue_core queue{o, {}};
  queue.keep_departed(true);
  queue.publish(make_batch({std::string(40, 'a'), std::string(40, 'b'), std::string(20, 'c')}), {});
  CHECK(queue.ready() == 3);
  queue.publish(make_batch({std::string(70, 'd')}), {});
  CHECK(queue.take_departed().size() == 2);
  CHECK(queue.statistics().ready_bytes == 90);
  queue.publish(make_batch({std::string(101, 'e')}), {});
  CHECK(queue.ready() == 0);
}

TEST_CASE("a message lives for the shorter of the queue's time and its own") {
  queue_options o;
  o.arguments.message_ttl = 100ms;
  queue_core queue{o, 0ms};
  queue.keep_departed(true);
  queue.publish(batch_of(make_message("long", 1000)), 0ms);
  queue.publish(batch_of(make_message("short", 50)), 0ms);
  CHECK(queue.next_deadline() == 50ms);
  queue.expire(49ms);
  CHECK(queue.ready() == 2);
  queue.expire(50ms);
  CHECK(bodies(queue.take_departed()) == texts{"short"});  // though it was not at the head
  CHECK(queue.next_deadline() == 100ms);
  queue.expire(100ms);
  auto gone = queue.take_departed();
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].why == departure::expired);
  CHECK(queue.next_deadline() == queue_core::never);
}

TEST_CASE("a time to live of 0 means now or never") {
  queue_core queue{{}, 5ms};
  queue.publish(batch_of(make_message("nobody", 0)), 5ms);
  CHECK(queue.ready() == 0);
  CHECK(queue.statistics().expired == 1);
  REQUIRE(queue.add(consumer_id{1}, freely()));
  queue.publish(batch_of(make_message("somebody", 0)), 5ms);
  CHECK(dispatch(queue, 5ms).size() == 1);
}

TEST_CASE("time runs on while a message is leased and is checked when it returns") {
  queue_core queue{{}, 0ms};
  REQUIRE(queue.add(consumer_id{1}, freely()));
  queue.publish(batch_of(make_message("late", 10)), 0ms);
  queue.publish(batch_of(make_message("early", 1000)), 0ms);
  CHECK(dispatch(queue, 0ms).size() == 2);
  queue.expire(500ms);
  CHECK(queue.unsettled() == 2);
  settle(queue, 1, 1, 2, outcome::release, 500ms);
  CHECK(queue.ready() == 1);
  CHECK(queue.statistics().expired == 1);
  auto out = dispatch(queue, 500ms);
  REQUIRE(out.size() == 1);
  CHECK(out[0].body == "early");
}

TEST_CASE("an overdue message is never handed out, timer or not") {
  queue_core queue{{}, 0ms};
  queue.publish(batch_of(make_message("a", 10)), 0ms);
  queue.publish(batch_of(make_message("b")), 0ms);
  REQUIRE(queue.add(consumer_id{1}, freely()));
  auto out = dispatch(queue, 10ms);
  REQUIRE(out.size() == 1);
  CHECK(out[0].body == "b");
  queue.publish(batch_of(make_message("c", 10)), 10ms);
  CHECK(!queue.get(consumer_id{2}, false, 20ms));
}

TEST_CASE("many messages that are due at once expire a part at a time") {
  queue_options o;
  o.arguments.message_ttl = 10ms;
  queue_core queue{o, 0ms};
  publish_numbered(queue, 10'000);
  queue.expire(10ms, 1000);
  CHECK(queue.ready() < 10'000);
  CHECK(queue.ready() >= 8'900);
  CHECK(queue.next_deadline() <= 10ms);
  while (queue.next_deadline() <= 10ms) queue.expire(10ms, 1000);
  CHECK(queue.ready() == 0);
  CHECK(queue.statistics().expired == 10'000);
}

TEST_CASE("nothing is handed out while more messages are overdue than expire at a time") {
  queue_core queue{{}, 0ms};
  slab_writer writer;
  for (int i = 0; i < 5000; ++i) queue.publish(batch_of(make_message(writer, "late", 10)), 0ms);
  queue.publish(batch_of(make_message("in time")), 0ms);
  REQUIRE(queue.add(consumer_id{1}, freely()));
  CHECK(dispatch(queue, 10ms).empty());
  CHECK(queue.next_deadline() <= 10ms);
  auto out = dispatch(queue, 10ms);
  REQUIRE(out.size() == 1);
  CHECK(out[0].body == "in time");
}

TEST_CASE("no time to live is too long to be added to a moment") {
  queue_core queue{{}, 1000ms};
  queue.publish(batch_of(make_message("for ever", ~std::uint64_t{0})), 1000ms);
  CHECK(queue.ready() == 1);
  CHECK(queue.next_deadline() == queue_core::never);
}

TEST_CASE("an unused queue expires; consumers stop the clock, declares and gets set it back") {
  queue_options o;
  o.arguments.expires = 100ms;
  queue_core queue{o, 0ms};
  CHECK(queue.next_deadline() == 100ms);
  queue.touch(50ms);
  CHECK(!queue.unused_since_lease(149ms));
  CHECK(queue.unused_since_lease(150ms));
  (void)queue.get(consumer_id{1}, true, 90ms);
  CHECK(queue.next_deadline() == 190ms);
  queue.publish(numbered(1), 100ms);
  CHECK(queue.next_deadline() == 190ms);
  REQUIRE(queue.add(consumer_id{1}, freely()));
  CHECK(queue.next_deadline() == queue_core::never);
  CHECK(!queue.unused_since_lease(10'000ms));
  queue.remove(consumer_id{1}, 500ms);
  CHECK(queue.next_deadline() == 600ms);
}

TEST_CASE("an auto-delete queue is deletable after its last consumer, not before its first") {
  queue_options o;
  o.auto_delete = true;
  queue_core queue{o, {}};
  publish_numbered(queue, 1);
  (void)queue.get(consumer_id{5}, false, {});
  CHECK(!queue.deletable());
  REQUIRE(queue.add(consumer_id{1}, freely()));
  REQUIRE(queue.add(consumer_id{2}, freely()));
  queue.remove(consumer_id{1}, {});
  CHECK(!queue.deletable());
  queue.remove(consumer_id{2}, {});
  CHECK(queue.deletable());
  queue.close();
  CHECK(!queue.deletable());
}

TEST_CASE("delete may be asked for an unused or an empty queue only") {
  queue_core queue{{}, {}};
  CHECK(queue.may_delete(true, true));
  publish_numbered(queue, 1);
  auto refused = queue.may_delete(true, true);
  REQUIRE(!refused);
  CHECK(to_string(refused.reason(), "q1", "/") == "queue 'q1' in vhost '/' not empty");
  REQUIRE(queue.add(consumer_id{1}, freely()));
  refused = queue.may_delete(true, true);
  CHECK(to_string(refused.reason(), "q1", "/") == "queue 'q1' in vhost '/' in use");
  CHECK(queue.may_delete(false, false));
}

TEST_CASE("a closed queue has told its consumers and does nothing more") {
  auto before = memory_account::total();
  queue_core queue{{}, {}};
  REQUIRE(queue.add(consumer_id{1}, freely()));
  REQUIRE(queue.add(consumer_id{2}, freely()));
  publish_numbered(queue, 500);
  dispatch(queue);
  publish_numbered(queue, 50);
  CHECK(queue.close() == std::vector<consumer_id>{{1}, {2}});
  CHECK(memory_account::total() == before);
  CHECK(queue.publish(numbered(3), {}) == 0);
  settle(queue, 1, 1, 500, outcome::release);
  queue.release_all(consumer_id{2}, {});
  queue.grant(consumer_id{1}, 1);
  CHECK(dispatch(queue).empty());
  CHECK(!queue.get(consumer_id{1}, false, {}));
  CHECK(queue.add(consumer_id{3}, {}).reason() == queue_refusal::closed);
  CHECK(queue.purge() == 0);
  CHECK(queue.close().empty());
  CHECK(memory_account::total() == before);
}

TEST_CASE("rejected messages are dead-lettered where somebody asks for them") {
  queue_core queue{{}, {}};
  queue.keep_departed(true);
  REQUIRE(queue.add(consumer_id{1}, freely()));
  publish_numbered(queue, 2);
  dispatch(queue);
  settle(queue, 1, 2, 1, outcome::reject);
  settle(queue, 1, 1, 1, outcome::accept);
  auto gone = queue.take_departed();
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].why == departure::rejected);
  CHECK(as_text(gone[0].content.small_body()) == "2");
}

TEST_CASE(
    "a message is handed out once more than its delivery limit, and departs when it returns") {
  queue_options o;
  o.arguments.delivery_limit = 2;
  queue_core queue{o, {}};
  queue.keep_departed(true);
  REQUIRE(queue.add(consumer_id{1}, freely()));
  publish_numbered(queue, 3);
  for (std::uint32_t returns = 0; returns <= 2; ++returns) {
    CHECK(queue.take_departed().empty());
    CHECK(dispatch(queue).front() == handed{1, 1, "1", returns > 0, returns});
    settle(queue, 1, 1, 1, outcome::release);
  }
  CHECK(dispatch(queue).empty());
  const auto gone = queue.take_departed();
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].why == departure::delivery_limit);
  CHECK(as_text(gone[0].content.small_body()) == "1");
  CHECK(queue.unsettled() == 2);
  CHECK(queue.statistics().returned == 2);
  CHECK(queue.statistics().undeliverable == 1);
}

TEST_CASE("a delivery limit of 0 hands a message out once, and takes neighbours along together") {
  queue_options o;
  o.arguments.delivery_limit = 0;
  queue_core queue{o, {}};
  REQUIRE(queue.add(consumer_id{1}, freely()));
  publish_numbered(queue, 200);
  CHECK(dispatch(queue).size() == 200);
  settle(queue, 1, 1, 100, outcome::release);
  queue.release_all(consumer_id{1}, {});
  CHECK(dispatch(queue).empty());
  CHECK(queue.ready() == 0);
  CHECK(queue.held_bytes() == 0);
  CHECK(queue.statistics().undeliverable == 200);
}

TEST_CASE("what a queue holds includes what is leased, until it is settled") {
  queue_core queue{{}, {}};
  while (queue.held_bytes() < 10'000) queue.publish(numbered(1), {});
  const auto held = queue.held_bytes();
  auto got = queue.get(consumer_id{1}, false, {});
  CHECK(queue.held_bytes() == held);
  settle(queue, 1, 1, 1, outcome::accept);
  CHECK(queue.held_bytes() == held - got->bytes);
}

TEST_CASE("a few messages that stay do not hold the memory of all that were published with them") {
  auto before = memory_account::total();
  queue_core queue{{}, {}};
  std::uint64_t kept_bytes = 0;
  for (int i = 0; i < 200; ++i) {
    slab_writer writer;
    writer.expect(64 * 1024);
    batch others;
    for (int j = 0; j < 64; ++j) {
      auto m = make_message(writer, std::to_string(i) + std::string(900, 'x'));
      if (j == 17) {
        kept_bytes += m.footprint();
        queue.publish(batch_of(std::move(m)), {});
      } else {
        others.add(std::move(m));
      }
    }
  }
  auto held = memory_account::total() - before;
  CHECK(held > 20 * kept_bytes);
  std::uint64_t freed = 0;
  for (int i = 0; i < 5; ++i) freed += queue.repack(1);
  held = memory_account::total() - before;
  CHECK(held < 2 * kept_bytes);
  CHECK(freed > 18 * kept_bytes);
  CHECK(queue.repack(100) == 0);  // nothing is left to gain

  REQUIRE(queue.add(consumer_id{1}, freely()));
  auto out = dispatch(queue);
  REQUIRE(out.size() == 200);
  for (std::size_t i = 0; i < 200; ++i)
    CHECK(out[i].body == std::to_string(i) + std::string(900, 'x'));
}

TEST_CASE("a queue that grows repacks by itself") {
  auto before = memory_account::total();
  queue_core queue{{}, {}};
  for (int i = 0; i < 40'000; ++i) {
    slab_writer writer;
    writer.expect(4096);
    std::vector<message> others;
    for (int j = 0; j < 3; ++j) others.push_back(make_message(writer, std::string(900, 'x')));
    queue.publish(batch_of(make_message(writer, "kept")), {});
  }
  // Without it, 4 KiB each.
  CHECK(memory_account::total() - before < 40'000 * 2'700);
}

TEST_CASE("a slab that is still more than half wanted is left as it is") {
  queue_core queue{{}, {}};
  slab_writer writer;
  writer.expect(4096);
  for (int i = 0; i < 40; ++i)
    queue.publish(batch_of(make_message(writer, std::string(40, 'x'))), {});
  CHECK(queue.repack(100) == 0);
}
