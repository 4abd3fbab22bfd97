#include <atomic>
#include <thread>
#include <vector>

#include "actors/runtime/loop_task.hpp"
#include "tests/catch.hpp"

namespace {

using namespace baton;

struct numbered final : loop_task {
  int number = 0;
  int producer = 0;
  void run_task(loop&) override {}
  void discard_task() noexcept override {}
};

}  // namespace

TEST_CASE("only the first task handed to a sleeping inbox asks for a wake-up") {
  loop_inbox inbox;
  std::vector<numbered> tasks(4);
  CHECK_FALSE(inbox.push(tasks[0]));
  CHECK_FALSE(inbox.sleep());
  task_list taken;
  inbox.drain_into(taken);
  CHECK(taken.size() == 1);
  REQUIRE(inbox.sleep());
  CHECK(inbox.push(tasks[1]));
  CHECK_FALSE(inbox.push(tasks[2]));
  inbox.awake();
  CHECK_FALSE(inbox.push(tasks[3]));
  inbox.drain_into(taken);
  CHECK(taken.size() == 4);
}

TEST_CASE("an inbox that wakes without a task is simply empty") {
  loop_inbox inbox;
  REQUIRE(inbox.sleep());
  inbox.awake();
  task_list taken;
  inbox.drain_into(taken);
  CHECK(taken.empty());
  numbered task;
  CHECK_FALSE(inbox.push(task));
}

TEST_CASE("tasks leave an inbox in the order in which each producer pushed them") {
  constexpr int producers = 4, each = 5'000;
  loop_inbox inbox;
  std::vector<numbered> tasks(producers * each);
  std::atomic<int> wakes{0};
  std::vector<std::thread> threads;
  for (int p = 0; p < producers; ++p)
    threads.emplace_back([&, p] {
      for (int i = 0; i < each; ++i) {
        numbered& task = tasks[static_cast<std::size_t>(p * each + i)];
        task.number = i;
        task.producer = p;
        if (inbox.push(task)) ++wakes;
      }
    });
  int sleeps = 0;
  int seen = 0;
  bool in_order = true;
  std::vector<int> next(producers, 0);
  while (seen < producers * each) {
    task_list taken;
    inbox.drain_into(taken);
    if (taken.empty()) {
      if (inbox.sleep()) ++sleeps;
      std::this_thread::yield();
      continue;
    }
    while (loop_task* task = taken.pop_front()) {
      auto& one = static_cast<numbered&>(*task);
      in_order = in_order && one.number == next[static_cast<std::size_t>(one.producer)]++;
      ++seen;
    }
  }
  for (std::thread& one : threads) one.join();
  CHECK(in_order);
  CHECK(wakes.load() <= sleeps);
}

TEST_CASE("a task list gives up the task at any position and keeps the order of the others") {
  std::vector<numbered> tasks(4);
  for (int i = 0; i < 4; ++i) tasks[static_cast<std::size_t>(i)].number = i;
  task_list list;
  for (numbered& one : tasks) list.push_back(one);
  CHECK(list.take(3) == &tasks[3]);
  CHECK(list.take(1) == &tasks[1]);
  CHECK(list.take(2) == nullptr);
  CHECK(list.take(0) == &tasks[0]);
  list.push_back(tasks[1]);
  CHECK(list.pop_front() == &tasks[2]);
  CHECK(list.pop_front() == &tasks[1]);
  CHECK(list.pop_front() == nullptr);
  CHECK(list.empty());
}
