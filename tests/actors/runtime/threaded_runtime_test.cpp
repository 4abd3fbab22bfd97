#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/runtime.hpp"
#include "actors/runtime/timer.hpp"
#include "tests/catch.hpp"

namespace {

using namespace baton;

struct ball {
  std::unique_ptr<int> left;
};
struct query {
  std::promise<void> answered;
};
using player_ref = actor_ref<ball, query>;

/// Checks that it is only ever on its home loop, and passes each ball on.
class player final : public actor_of<player, player_ref> {
public:
  player(caf::actor_config& config, const std::vector<player_ref>& others, std::atomic<int>& strays,
         std::atomic<int>& finished)
      : actor_of{config}, others_{others}, strays_{strays}, finished_{finished} {}

  void handle(ball& caught) {
    check_place();
    if (--*caught.left == 0)
      ++finished_;
    else
      others_[next_++ % others_.size()].send(ball{std::move(caught.left)});
  }
  void handle(query& asked) {
    check_place();
    asked.answered.set_value();
  }

protected:
  void on_start() override { check_place(); }
  void on_exit() override { check_place(); }

private:
  void check_place() {
    if (loop::current() != &home()) ++strays_;
  }

  const std::vector<player_ref>& others_;
  std::atomic<int>& strays_;
  std::atomic<int>& finished_;
  std::size_t next_ = 0;
};

void ask(const player_ref& whom) {
  query question;
  auto answer = question.answered.get_future();
  whom.send(std::move(question));
  answer.wait();
}

}  // namespace

TEST_CASE("an actor only ever runs on its home loop, whoever sends to it") {
  std::atomic<int> strays{0}, finished{0};
  std::vector<player_ref> players;
  constexpr int threads = 4, balls = 50, throws = 200;
  {
    threaded_runtime runtime{3};
    for (std::size_t i = 0; i < 9; ++i)
      players.push_back(spawn<player>(runtime.at(i % 3), players, strays, finished));
    std::vector<std::thread> outside;
    for (int t = 0; t < threads; ++t)
      outside.emplace_back([&, t] {
        for (int i = 0; i < balls; ++i)
          players[static_cast<std::size_t>(t + i) % players.size()].send(
              ball{std::make_unique<int>(throws)});
      });
    for (std::thread& one : outside) one.join();
    while (finished.load() < threads * balls) std::this_thread::yield();
  }
  CHECK(finished.load() == threads * balls);
  CHECK(strays.load() == 0);
}

TEST_CASE("sending to a busy loop wakes nobody") {
  threaded_runtime runtime{1};
  struct hold {
    std::promise<void> reached;
    std::future<void> released;
  };
  struct tick {};
  using ref = actor_ref<hold, tick>;
  std::atomic<int> ticks{0};
  const ref busy = spawn_handlers<ref>(
      runtime.at(0),
      [](hold& here) {
        here.reached.set_value();
        here.released.wait();
      },
      [&](tick&) { ++ticks; });
  const ref other = spawn_handlers<ref>(
      runtime.at(0), [](hold&) {}, [&](tick&) { ++ticks; });
  std::promise<void> release;
  hold here{{}, release.get_future()};
  auto reached = here.reached.get_future();
  busy.send(std::move(here));
  reached.wait();
  const auto wakes = runtime.at(0).statistics().wakes.load();
  for (int i = 0; i < 1'000; ++i) {
    busy.send(tick{});
    other.send(tick{});
  }
  CHECK(runtime.at(0).statistics().wakes.load() == wakes);
  release.set_value();
  while (ticks.load() < 2'000) std::this_thread::yield();
}

TEST_CASE("each sleep of a loop is ended by one wake-up at most") {
  std::atomic<int> strays{0}, finished{0};
  const std::vector<player_ref> nobody;
  threaded_runtime runtime{1};
  const player_ref one = spawn<player>(runtime.at(0), nobody, strays, finished);
  const player_ref other = spawn<player>(runtime.at(0), nobody, strays, finished);
  for (int i = 0; i < 200; ++i) {
    ask(one);
    ask(other);
  }
  const loop_statistics& seen = runtime.at(0).statistics();
  CHECK(seen.wakes.load() >= 1);
  CHECK(seen.wakes.load() <= seen.sleeps.load() + 1);
}

TEST_CASE("stopping ends the actors that are left, on their loop") {
  struct mourned final : actor_of<mourned, player_ref> {
    mourned(caf::actor_config& config, std::atomic<int>& count) : actor_of{config}, good{count} {}
    void handle(ball&) {}
    void handle(query& asked) { asked.answered.set_value(); }
    void on_exit() override { good += loop::current() == &home() ? 1 : 0; }
    std::atomic<int>& good;
  };
  std::atomic<int> good{0};
  threaded_runtime runtime{2};
  std::vector<player_ref> left;
  for (std::size_t i = 0; i < 100; ++i) left.push_back(spawn<mourned>(runtime.at(i % 2), good));
  for (const player_ref& one : left) ask(one);
  runtime.stop();
  runtime.stop();
  CHECK(good.load() == 100);
  left.front().send(ball{});  // to nobody any more
}

TEST_CASE("the load of a loop is a share, and falls while it sleeps") {
  threaded_runtime runtime{1};
  std::atomic<int> strays{0}, finished{0};
  std::vector<player_ref> alone;
  alone.push_back(spawn<player>(runtime.at(0), alone, strays, finished));
  alone[0].send(ball{std::make_unique<int>(2'000'000)});
  while (finished.load() == 0) std::this_thread::yield();
  const double busy = runtime.at(0).load();
  CHECK(busy >= 0);
  CHECK(busy <= 1);
  while (runtime.at(0).load() > busy / 2) std::this_thread::yield();
}

TEST_CASE("stopping under load loses no memory and hangs nowhere") {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> strays{0}, finished{0};
    std::vector<player_ref> players;
    threaded_runtime runtime{2};
    for (std::size_t i = 0; i < 4; ++i)
      players.push_back(spawn<player>(runtime.at(i % 2), players, strays, finished));
    for (int i = 0; i < 20; ++i) players[0].send(ball{std::make_unique<int>(1'000'000'000)});
    ask(players[3]);
    runtime.stop();
    CHECK(strays.load() == 0);
  }
}

TEST_CASE("the end of an actor can be awaited, also when it has come already") {
  struct halt {};
  threaded_runtime runtime{1};
  using ref = actor_ref<halt>;
  const ref one =
      spawn_handlers<ref>(runtime.at(0), [](halt&) { throw std::runtime_error{"enough"}; });
  one.send(halt{});
  runtime.await(one);
  runtime.await(one);
  CHECK(runtime.at(0).statistics().failures.load() == 1);
}

TEST_CASE("a timer wakes its sleeping loop") {
  threaded_runtime runtime{1};
  std::promise<std::uint64_t> due;
  const timer_due_ref whom = spawn_handlers<timer_due_ref>(
      runtime.at(0), [&](timer_due& notice) { due.set_value(notice.token); });
  runtime.at(0).timer().self().send(
      arm_timer{runtime.time().now() + std::chrono::milliseconds{5}, whom, 7});
  CHECK(due.get_future().get() == 7);
}
