#include "actors/queue/queue_core.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "storage/memory_account.hpp"
#include "tests/actors/queue/messages.hpp"
#include "tests/catch.hpp"

using namespace baton;
using namespace baton::test;

namespace {

std::vector<sequence> range(sequence first, sequence last) {
  std::vector<sequence> all;
  for (auto s = first; s <= last; ++s) all.push_back(s);
  return all;
}

void add(queue_core& queue, std::uint64_t consumer, consumer_options options = {}) {
  REQUIRE(queue.add(consumer_id{consumer}, freely(options)));
}

consumer_options no_ack() {
  consumer_options o;
  o.no_ack = true;
  return o;
}

consumer_options prefetching(std::uint32_t messages, std::int32_t priority = 0) {
  consumer_options o;
  o.prefetch = messages;
  o.priority = priority;
  return o;
}

}  // namespace

TEST_CASE("messages are numbered from 1 and handed out in that order, with their bytes") {
  queue_core queue{{}, {}};
  publish_numbered(queue, 300);
  add(queue, 1);
  auto out = dispatch(queue);
  CHECK(numbers_of(out) == range(1, 300));
  CHECK(out[255].body == "256");
  CHECK(queue.ready() == 0);
  CHECK(queue.unsettled() == 300);
}

TEST_CASE("a lease batch holds at most 64 messages, or 64 KiB and one message more") {
  queue_core queue{{}, {}};
  slab_writer writer;
  const std::string body(4000, 'x');
  for (int i = 0; i < 40; ++i) queue.publish(batch_of(make_message(writer, body)), {});
  publish_numbered(queue, 100);
  add(queue, 1);
  std::size_t total = 0;
  std::size_t batches = 0;
  queue.dispatch({}, [&](lease_batch&& b) {
    CHECK(b.size() <= 64);
    CHECK(b.bytes() < (64 << 10) + 4200);
    total += b.size();
    ++batches;
  });
  CHECK(total == 140);
  CHECK(batches < 7);
}

TEST_CASE("eight consumers get one message each in turn, whatever the size of the batches") {
  queue_core queue{{}, {}};
  for (std::uint64_t c = 1; c <= 8; ++c) add(queue, c, c % 2 == 0 ? no_ack() : consumer_options{});
  std::vector<handed> all;
  for (std::size_t size : {1, 3, 64, 7, 13, 64, 64, 8}) {
    queue.publish(numbered(size), {});
    auto out = dispatch(queue);
    all.insert(all.end(), out.begin(), out.end());
  }
  REQUIRE(all.size() == 224);
  for (const auto& l : all) CHECK(l.consumer == (l.number - 1) % 8 + 1);
}

TEST_CASE("a lower priority gets messages only while no higher one has credit") {
  queue_core queue{{}, {}};
  add(queue, 1, prefetching(0, -5));
  add(queue, 2, prefetching(3, 10));
  add(queue, 3, prefetching(2, 10));
  queue.publish(numbered(8), {});
  std::map<std::uint64_t, int> count;
  for (const auto& l : dispatch(queue)) ++count[l.consumer];
  CHECK(count == std::map<std::uint64_t, int>{{1, 3}, {2, 3}, {3, 2}});
  settle(queue, 3, 1, 8, outcome::accept);
  queue.publish(numbered(1), {});
  CHECK(dispatch(queue).front().consumer == 3);
}

TEST_CASE("a prefetch window is full until something in it is settled, however it ends") {
  for (auto how : {outcome::accept, outcome::reject, outcome::release}) {
    queue_core queue{{}, {}};
    add(queue, 1, prefetching(2));
    queue.publish(numbered(4), {});
    CHECK(numbers_of(dispatch(queue)) == range(1, 2));
    CHECK(dispatch(queue).empty());
    settle(queue, 1, 1, 1, how);
    CHECK(numbers_of(dispatch(queue)) ==
          range(how == outcome::release ? 1 : 3, how == outcome::release ? 1 : 3));
  }
}

TEST_CASE("byte credit may be overdrawn by one message, and comes back by grants alone") {
  queue_core queue{{}, {}};
  consumer_options o;
  o.byte_credit = 1;
  REQUIRE(queue.add(consumer_id{1}, o));
  auto m = make_message(std::string(1000, 'x'));
  auto size = m.footprint();
  queue.publish(batch_of(std::move(m)), {});
  queue.publish(numbered(1), {});
  CHECK(dispatch(queue).size() == 1);
  settle(queue, 1, 1, 1, outcome::accept);
  CHECK(dispatch(queue).empty());
  queue.grant(consumer_id{1}, size - 1);
  CHECK(dispatch(queue).empty());
  queue.grant(consumer_id{1}, 1);
  CHECK(dispatch(queue).size() == 1);
}

TEST_CASE("message demand is used up by being handed messages, and is not returned by settling") {
  queue_core queue{{}, {}};
  consumer_options o;
  o.demand = 2;
  add(queue, 1, o);
  queue.publish(numbered(10), {});
  CHECK(dispatch(queue).size() == 2);
  settle(queue, 1, 1, 2, outcome::accept);
  CHECK(dispatch(queue).empty());
  queue.demand(consumer_id{1}, 3);
  CHECK(dispatch(queue).size() == 3);
  queue.set_demand(consumer_id{1}, std::nullopt);
  CHECK(dispatch(queue).size() == 5);
}

TEST_CASE("a consumer that lacks nothing but demand is named once, while messages wait for it") {
  queue_core queue{{}, {}};
  consumer_options o = prefetching(4);
  o.demand = 1;
  add(queue, 1, o);
  publish_numbered(queue, 1);
  CHECK(dispatch(queue).size() == 1);
  CHECK(queue.take_short_of_demand().empty());
  publish_numbered(queue, 5);
  CHECK(dispatch(queue).empty());
  CHECK(queue.take_short_of_demand() == std::vector<consumer_id>{consumer_id{1}});
  CHECK(queue.take_short_of_demand().empty());
  queue.demand(consumer_id{1}, 3);
  CHECK(dispatch(queue).size() == 3);
  CHECK(queue.take_short_of_demand().empty());  // its own window is full
  settle(queue, 1, 1, 1, outcome::accept);
  CHECK(queue.take_short_of_demand().size() == 1);
}

TEST_CASE("demand that is recalled is what has not been used") {
  queue_core queue{{}, {}};
  consumer_options o;
  o.demand = 5;
  add(queue, 1, o);
  publish_numbered(queue, 2);
  CHECK(dispatch(queue).size() == 2);
  CHECK(queue.recall_demand(consumer_id{1}) == 3u);
  CHECK(queue.recall_demand(consumer_id{1}) == 0u);
  CHECK(queue.recall_demand(consumer_id{2}) == std::nullopt);
  publish_numbered(queue, 1);
  CHECK(dispatch(queue).empty());
}

TEST_CASE("released messages come back in publish order whatever the order of the nacks") {
  queue_core queue{{}, {}};
  add(queue, 1, prefetching(200));
  publish_numbered(queue, 300);
  CHECK(dispatch(queue).size() == 200);
  for (sequence s : {150, 3, 77, 1, 64}) settle(queue, 1, s, 1, outcome::release);
  settle(queue, 1, 2, 1, outcome::accept);
  auto again = dispatch(queue);
  CHECK(numbers_of(again) == std::vector<sequence>{1, 3, 64, 77, 150, 201});
  for (const auto& l : again) {
    CHECK(l.redelivered == (l.number <= 200));
    CHECK(l.returns == (l.number <= 200 ? 1u : 0u));
  }
}

TEST_CASE("a settled lease is never settled again, and nobody settles another's") {
  queue_core queue{{}, {}};
  add(queue, 1);
  publish_numbered(queue, 3);
  dispatch(queue);
  add(queue, 2);
  settle(queue, 2, 1, 3, outcome::accept);
  CHECK(queue.unsettled() == 3);
  settle(queue, 1, 1, 1, outcome::accept);
  settle(queue, 1, 1, 1, outcome::release);
  settle(queue, 1, 2, 1000, outcome::release);
  CHECK(queue.ready() == 2);
  settle(queue, 1, 2, 2, outcome::accept);  // late: it does not have them any more
  CHECK(queue.ready() == 2);
  settle(queue, 1, 0, 5, outcome::accept);
  settle(queue, 99, 1, 5, outcome::accept);
  CHECK(queue.statistics().acked == 1);
}

TEST_CASE("a consumer that left can still settle, and its leases wait until it does") {
  queue_core queue{{}, {}};
  add(queue, 1);
  publish_numbered(queue, 5);
  dispatch(queue);
  queue.remove(consumer_id{1}, {});
  queue.remove(consumer_id{1}, {});
  queue.publish(numbered(1), {});
  CHECK(dispatch(queue).empty());
  CHECK(queue.consumers() == 0);
  CHECK(queue.unsettled() == 5);
  settle(queue, 1, 1, 2, outcome::accept);
  queue.release_all(consumer_id{1}, {});
  CHECK(queue.unsettled() == 0);
  CHECK(queue.ready() == 4);
  queue.release_all(consumer_id{1}, {});
  CHECK(queue.ready() == 4);
}

TEST_CASE("the leases of a lost consumer go to others, oldest first") {
  queue_core queue{{}, {}};
  for (std::uint64_t c = 1; c <= 3; ++c) add(queue, c, prefetching(10));
  publish_numbered(queue, 30);
  dispatch(queue);
  queue.remove(consumer_id{2}, {});
  queue.release_all(consumer_id{2}, {});
  settle(queue, 1, 1, 30, outcome::accept);
  auto out = dispatch(queue);
  REQUIRE(out.size() == 10);
  CHECK(std::all_of(out.begin(), out.end(), [](const handed& l) {
    return l.consumer == 1 && l.redelivered && l.number % 3 == 2;
  }));
  CHECK(std::is_sorted(out.begin(), out.end(),
                       [](const handed& a, const handed& b) { return a.number < b.number; }));
}

TEST_CASE("100,000 messages released one by one from the back come out in order") {
  queue_core queue{{}, {}};
  add(queue, 1);
  publish_numbered(queue, 100'000);
  CHECK(dispatch(queue).size() == 100'000);
  for (sequence s = 100'000; s > 0; --s) settle(queue, 1, s, 1, outcome::release);
  CHECK(numbers_of(dispatch(queue)) == range(1, 100'000));
  queue.release_all(consumer_id{1}, {});
  CHECK(numbers_of(dispatch(queue)) == range(1, 100'000));
}

TEST_CASE("get takes the oldest message, tells what remains and ignores windows") {
  queue_core queue{{}, {}};
  CHECK(!queue.get(consumer_id{7}, false, {}));
  publish_numbered(queue, 3);
  auto first = queue.get(consumer_id{7}, false, {});
  REQUIRE(first);
  CHECK(first->leased.number == 1);
  CHECK(first->remaining == 2);
  auto second = queue.get(consumer_id{7}, true, {});
  CHECK(second->leased.number == 2);
  CHECK(queue.unsettled() == 1);
  CHECK(queue.consumers() == 0);
  settle(queue, 7, 1, 2, outcome::release);
  auto again = queue.get(consumer_id{8}, false, {});
  CHECK(again->leased.number == 1);
  CHECK(again->leased.redelivered);
}

TEST_CASE("what a consumer gets by get fills its window too") {
  queue_core queue{{}, {}};
  add(queue, 1, prefetching(1));
  publish_numbered(queue, 3);
  REQUIRE(queue.get(consumer_id{1}, false, {}));
  CHECK(dispatch(queue).empty());
  settle(queue, 1, 1, 1, outcome::accept);
  CHECK(numbers_of(dispatch(queue)) == range(2, 2));
}

TEST_CASE("purge drops what is ready and leaves what is leased") {
  queue_core queue{{}, {}};
  add(queue, 1, prefetching(100));
  publish_numbered(queue, 250);
  dispatch(queue);
  CHECK(queue.purge() == 150);
  CHECK(queue.unsettled() == 100);
  settle(queue, 1, 50, 1, outcome::release);
  CHECK(numbers_of(dispatch(queue)) == range(50, 50));
  CHECK(queue.purge() == 0);
}

TEST_CASE("an exclusive consumer is the only one") {
  queue_core queue{{}, {}};
  consumer_options exclusive;
  exclusive.exclusive = true;
  add(queue, 1);
  auto refused = queue.add(consumer_id{2}, exclusive);
  REQUIRE(!refused);
  CHECK(to_string(refused.reason(), "q2", "/") == "queue 'q2' in vhost '/' in exclusive use");
  queue.remove(consumer_id{1}, {});
  add(queue, 2, exclusive);
  CHECK(!queue.add(consumer_id{3}, {}));
  CHECK(!queue.add(consumer_id{3}, exclusive));
  queue.remove(consumer_id{2}, {});
  add(queue, 3);
}

TEST_CASE("a no-ack consumer leaves nothing behind") {
  auto before = memory_account::total();
  queue_core queue{{}, {}};
  add(queue, 1, no_ack());
  publish_numbered(queue, 1000);
  CHECK(dispatch(queue).size() == 1000);
  CHECK(queue.unsettled() == 0);
  CHECK(queue.statistics().held_bytes == 0);
  CHECK(memory_account::total() == before);
}

TEST_CASE("one lease that is never settled does not keep memory of all later messages") {
  queue_core queue{{}, {}};
  add(queue, 1, prefetching(1));
  queue.publish(numbered(1), {});
  dispatch(queue);
  add(queue, 2, no_ack());
  auto before = memory_account::total();
  for (int i = 0; i < 2000; ++i) {
    queue.publish(numbered(64), {});
    dispatch(queue);
  }
  CHECK(memory_account::total() - before < 8192);
  settle(queue, 1, 1, 1, outcome::release);
  CHECK(numbers_of(dispatch(queue)) == range(1, 1));
}

TEST_CASE("an empty queue is smaller than a kilobyte, and holds no chunk after it was used") {
  auto before = memory_account::total();
  queue_core queue{{}, {}};
  CHECK(sizeof queue < 1024);
  add(queue, 1);
  publish_numbered(queue, 10);
  dispatch(queue);
  settle(queue, 1, 1, 10, outcome::accept);
  CHECK(memory_account::total() == before);
}

TEST_CASE("a queue knows whether its consumers wait for their own settlements only") {
  queue_core queue{{}, {}};
  consumer_options options;
  options.byte_credit = 1 << 20;
  options.prefetch = 1;
  REQUIRE(queue.add(consumer_id{1}, options));
  publish_numbered(queue, 1);
  dispatch(queue);
  CHECK(!queue.waits_for_settlements());  // nothing waits
  publish_numbered(queue, 2);
  CHECK(queue.waits_for_settlements());
  CHECK(!queue.waits_for_sockets());
  settle(queue, 1, 1, 1, outcome::accept);
  CHECK(!queue.waits_for_settlements());
}
