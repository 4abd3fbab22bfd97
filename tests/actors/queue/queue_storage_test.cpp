// What a queue does with a journal: what it keeps there and how it comes back.

#include "actors/queue/queue_core.hpp"

#include <algorithm>

#include "storage/memory_account.hpp"
#include "tests/actors/queue/messages.hpp"
#include "tests/actors/queue/paper_journal.hpp"
#include "tests/catch.hpp"

using namespace baton;
using namespace baton::test;
using moment = queue_core::moment;

namespace {

/// A queue that stores, and its journal; everything is written at once unless a test does it.
struct stored_queue {
  explicit stored_queue(queue_arguments rules = {}) : queue{{std::move(rules), false}, {}} {
    queue.store(queue_id{1}, false, moment{});
  }

  void write() { queue.written(journal.write(queue.take_news())); }
  /// What was wanted is read and handed in.
  std::size_t load(bool for_get = true) {
    return queue.loaded(journal.read(queue.take_wanted(for_get)));
  }
  void add_consumer(std::uint64_t id, consumer_options options = {}) {
    REQUIRE(queue.add(consumer_id{id}, freely(options)));
  }
  /// Takes all that can be had.
  std::vector<std::string> drain(moment now = {}) {
    std::vector<std::string> bodies;
    for (;;) {
      if (queue.next_is_on_disk()) load();
      auto got = queue.get(consumer_id{99}, true, now);
      if (!got && !queue.next_is_on_disk()) break;
      if (got) bodies.emplace_back(as_text(got->leased.content.small_body()));
    }
    write();
    return bodies;
  }

  paper_journal journal;
  queue_core queue;
};

std::vector<std::string> texts(std::size_t first, std::size_t last) {
  std::vector<std::string> all;
  for (auto i = first; i <= last; ++i) all.push_back(std::to_string(i));
  return all;
}

constexpr std::size_t beyond_head = 3000;  // messages: some of them may be put on the disk

}  // namespace

TEST_CASE("of a chunk that was written anew while it was read, nothing is lost") {
  stored_queue q;
  publish_stored(q.queue, beyond_head);
  auto told = q.journal.write(q.queue.take_news());
  q.queue.written(told);
  q.queue.evict(0);
  REQUIRE(q.queue.on_disk() > 100);
  while (!q.queue.next_is_on_disk()) REQUIRE(q.queue.get(consumer_id{9}, true, {}));
  const auto wanted = q.queue.take_wanted(true);
  REQUIRE(wanted.size() > 64);
  // Half of the first chunk is read from where it was, half of it not any more.
  auto read = q.journal.read({wanted.begin(), wanted.begin() + 32});
  auto anew = q.journal.fail_sync();
  for (auto& late : q.journal.read({wanted.begin() + 32, wanted.end()}))
    read.push_back(std::move(late));
  q.queue.written(anew);
  CHECK(q.queue.loaded(std::move(read)) == 0);
  q.queue.evict(0);  // what was read, too
  const auto first = wanted.front().number;
  CHECK(q.drain() == texts(first, beyond_head));
  CHECK(q.queue.ready() == 0);
  CHECK(q.journal.references() == 0);
  CHECK(q.journal.replay().empty());
}

TEST_CASE("what was written anew while it was read comes behind what was read before it") {
  stored_queue q;
  publish_stored(q.queue, beyond_head);
  q.write();
  q.queue.evict(0);
  while (!q.queue.next_is_on_disk()) REQUIRE(q.queue.get(consumer_id{9}, true, {}));
  const auto wanted = q.queue.take_wanted(true);
  auto read = q.journal.read(wanted);
  // The 10th of a chunk lies elsewhere now, and its old place was not read.
  const auto moved = q.queue.relocate(std::span{&read[10], 1});
  REQUIRE(moved.sequences == std::vector{read[10].number});
  q.queue.written(q.journal.write(moved));
  const auto number = read[10].number;
  read[10].content = {};
  CHECK(q.queue.loaded(std::move(read)) == 0);
  q.add_consumer(1);
  const auto out = dispatch(q.queue);
  REQUIRE(out.size() == 10);
  CHECK(out.back().number == number - 1);
  CHECK(q.queue.next_is_on_disk());
  q.load();
  const auto rest = dispatch(q.queue);
  REQUIRE(!rest.empty());
  CHECK(rest.front().number == number);
  CHECK(rest[1].number == number + 1);
}

TEST_CASE("the time of a message that was written anew while it was read runs on") {
  stored_queue q;
  publish_stored(q.queue, beyond_head, 0, 1000);
  q.write();
  q.queue.evict(0);
  q.write();
  CHECK(q.queue.next_deadline() == moment{1000});
  q.queue.expire(moment{1000});
  const auto wanted = q.queue.take_wanted(false);  // they are overdue
  REQUIRE(wanted.size() == q.queue.ready());
  q.queue.written(q.journal.fail_sync());
  CHECK(q.queue.loaded(q.journal.read(wanted)) == 0);
  CHECK(q.queue.ready() == wanted.size());
  CHECK(q.queue.next_deadline() <= moment{1000});
  q.queue.expire(moment{1000});
  q.load(false);
  q.queue.expire(moment{1000});
  CHECK(q.queue.ready() == 0);
  CHECK(q.queue.next_deadline() == queue_core::never);
  q.write();
  CHECK(q.journal.references() == 0);
}

TEST_CASE("no deadline is waited for that went with its message on the disk") {
  queue_arguments rules;
  rules.max_length = 2 * beyond_head;
  stored_queue q{rules};
  publish_stored(q.queue, 47 * 64 - 1, 0, 500'000);  // whole chunks
  q.write();
  q.queue.evict(0);
  while (!q.queue.next_is_on_disk()) REQUIRE(q.queue.get(consumer_id{9}, true, {}));
  CHECK(q.queue.next_deadline() == moment{500'000});
  publish_stored(q.queue, 2 * beyond_head);  // all others are dropped, unread
  CHECK(q.queue.on_disk() == 0);
  CHECK(q.queue.next_deadline() == queue_core::never);
}

TEST_CASE("what a limit drops from the disk is read first where it is kept for somebody") {
  queue_arguments rules;
  rules.max_length = beyond_head;
  stored_queue q{rules};
  q.queue.keep_departed(true);
  publish_stored(q.queue, beyond_head);
  q.write();
  q.queue.evict(0);
  const auto on_disk = q.queue.on_disk();
  std::vector<std::string> dropped;
  for (std::size_t i = 0; i < beyond_head; ++i) {
    publish_stored(q.queue, 1);
    const auto wanted = q.queue.take_wanted(false);
    CHECK(q.queue.loaded(q.journal.read(wanted)) == 0);
    for (const auto& each : q.queue.take_departed()) {
      CHECK(each.why == departure::max_length);
      dropped.emplace_back(as_text(each.content.small_body()));
    }
  }
  CHECK(on_disk > 500);
  CHECK(dropped == texts(1, beyond_head));
  CHECK(q.queue.ready() == beyond_head);
}
