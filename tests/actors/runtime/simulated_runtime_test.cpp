#include "actors/runtime/simulated_runtime.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/runtime/timer.hpp"
#include "tests/catch.hpp"

namespace {

using namespace baton;
using namespace std::chrono_literals;

struct note {
  std::unique_ptr<int> number;  // so it cannot be copied
};
struct halt {};
struct blow_up {
  std::string why;
};
using notes_ref = actor_ref<note, halt, blow_up>;

note make_note(int number) { return note{std::make_unique<int>(number)}; }

/// Writes down what arrives.
class notebook final : public actor_of<notebook, notes_ref> {
public:
  notebook(caf::actor_config& config, std::vector<int>& seen) : actor_of{config}, seen_{seen} {}

  void handle(note& arrived) {
    const std::unique_ptr<int> number = std::move(arrived.number);
    seen_.push_back(*number);
  }
  void handle(halt&) { quit(); }
  void handle(blow_up& request) { throw std::runtime_error{request.why}; }

private:
  std::vector<int>& seen_;
};

struct watch_out {
  any_actor_ref whom;
};
using watcher_ref = actor_ref<watch_out>;

/// Writes down how those end that it watches.
class watcher final : public actor_of<watcher, watcher_ref> {
public:
  watcher(caf::actor_config& config, std::vector<std::string>& reasons)
      : actor_of{config}, reasons_{reasons} {}

  void handle(watch_out& request) {
    watched_ = request.whom;
    watch(watched_);
  }

protected:
  void on_down(const caf::actor_addr& whom, const std::string& reason) override {
    BATON_CHECK(watched_ == whom);
    reasons_.push_back(reason);
  }

private:
  any_actor_ref watched_;
  std::vector<std::string>& reasons_;
};

/// The order in which notes of several senders arrive at one actor, as the seed decides it.
std::vector<int> history(std::uint64_t seed) {
  simulated_runtime world{{.seed = seed, .loops = 3}};
  std::vector<int> seen;
  const notes_ref book = spawn<notebook>(world.at(0), seen);
  struct go {};
  std::vector<actor_ref<go>> senders;
  for (int s = 0; s < 4; ++s)
    senders.push_back(
        spawn_handlers<actor_ref<go>>(world.at(static_cast<std::size_t>(s % 3)), [book, s](go&) {
          for (int i = 0; i < 5; ++i) book.send(make_note(s * 100 + i));
        }));
  for (const auto& one : senders)
    for (int i = 0; i < 2; ++i) one.send(go{});
  REQUIRE(world.run_until_idle());
  return seen;
}

struct counted {
  explicit counted(int& alive) : count{&alive} { ++*count; }
  counted(counted&& other) noexcept : count{std::exchange(other.count, nullptr)} {}
  ~counted() {
    if (count != nullptr) --*count;
  }
  int* count;
};

}  // namespace

TEST_CASE("a payload that cannot be copied arrives whole and in order") {
  simulated_runtime world;
  std::vector<int> seen;
  const notes_ref book = spawn<notebook>(world.at(0), seen);
  for (int i = 0; i < 100; ++i) book.send(make_note(i));
  REQUIRE(world.run_until([&] { return seen.size() == 100; }));
  CHECK(std::is_sorted(seen.begin(), seen.end()));
}

TEST_CASE("a payload sent to an actor that has ended is destroyed") {
  simulated_runtime world;
  int alive = 0;
  using ref = actor_ref<counted, halt>;
  const ref gone = spawn_handlers<ref>(
      world.at(0), [](counted&) {}, [](halt&) { throw std::runtime_error{"ends"}; });
  gone.send(halt{});
  gone.send(counted{alive});  // in its mailbox when it ends
  CHECK(alive == 1);
  REQUIRE(world.run_until_idle());
  CHECK(alive == 0);
  gone.send(counted{alive});
  CHECK(alive == 0);
}

TEST_CASE("a payload sent to nobody is destroyed") {
  int alive = 0;
  const actor_ref<counted> nobody;
  nobody.send(counted{alive});
  CHECK(alive == 0);
}

TEST_CASE("payloads that nobody has handled are destroyed with the runtime") {
  int alive = 0;
  {
    simulated_runtime world;
    const auto idle = spawn_handlers<actor_ref<counted>>(world.at(0), [](counted&) {});
    idle.send(counted{alive});
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("an actor drops its state when its loop stops, though it has mail or has never run") {
  struct friends final : actor_of<friends, actor_ref<halt>> {
    friends(caf::actor_config& config, std::vector<actor_ref<halt>>& all, int& ends)
        : actor_of{config}, others{&all}, ended{ends} {}
    void handle(halt&) {}
    void on_exit() override {
      ++ended;
      for (const auto& other : std::exchange(held, {})) other.send(halt{});
    }
    std::vector<actor_ref<halt>>* others;
    int& ended;
    std::vector<actor_ref<halt>> held;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<actor_ref<halt>> all;
    int ended = 0;
    simulated_runtime world{{.seed = seed, .loops = 3}};
    const auto begin = [&](std::size_t loop) {
      all.emplace_back(spawn<friends>(world.at(loop), all, ended));
    };
    for (std::size_t i = 0; i < 3; ++i) begin(i);
    REQUIRE(world.run_until_idle());
    for (std::size_t i = 0; i < 3; ++i) begin(i);
    for (const auto& one : all) static_cast<friends*>(one.actor())->held = all;
    for (const auto& one : all) one.send(halt{});
    for (auto steps = seed % 4; steps > 0; --steps) world.step();
    all.clear();
    world.stop();
    CHECK(ended == 6);
  }
}

TEST_CASE("one seed is one history, another seed another") {
  const auto first = history(1);
  CHECK(first == history(1));
  int different = 0;
  for (std::uint64_t seed = 2; seed < 12; ++seed) different += history(seed) != first ? 1 : 0;
  CHECK(different > 0);
}

TEST_CASE("messages of one sender stay in order under any seed") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto seen = history(seed);
    REQUIRE(seen.size() == 40);
    for (int s = 0; s < 4; ++s) {
      std::vector<int> own;
      for (const int one : seen)
        if (one / 100 == s) own.push_back(one % 100);
      REQUIRE(own == std::vector<int>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
    }
  }
}

TEST_CASE("an exception ends its actor only, and whoever watches it learns the reason") {
  simulated_runtime world;
  std::vector<int> seen, seen_by_other;
  std::vector<std::string> reasons;
  const notes_ref bad = spawn<notebook>(world.at(0), seen);
  const notes_ref good = spawn<notebook>(world.at(0), seen_by_other);
  const watcher_ref guard = spawn<watcher>(world.at(1), reasons);
  guard.send(watch_out{bad});
  REQUIRE(world.run_until_idle());
  bad.send(make_note(1));
  bad.send(blow_up{"the disk is made of cheese"});
  bad.send(make_note(2));
  good.send(make_note(3));
  REQUIRE(world.run_until_idle());
  CHECK(seen == std::vector{1});
  CHECK(seen_by_other == std::vector{3});
  REQUIRE(reasons.size() == 1);
  CHECK(reasons[0] == "the disk is made of cheese");
  CHECK(world.at(0).statistics().failures.load() == 1);
}

TEST_CASE("an actor that ends in good order ends without a reason") {
  simulated_runtime world;
  std::vector<int> seen;
  std::vector<std::string> reasons;
  const notes_ref book = spawn<notebook>(world.at(0), seen);
  const watcher_ref guard = spawn<watcher>(world.at(0), reasons);
  guard.send(watch_out{book});
  REQUIRE(world.run_until_idle());
  book.send(halt{});
  REQUIRE(world.run_until_idle());
  CHECK(reasons == std::vector<std::string>{""});
}

TEST_CASE("who watches an actor that has ended already hears of it at once") {
  simulated_runtime world;
  std::vector<int> seen;
  std::vector<std::string> reasons;
  const notes_ref book = spawn<notebook>(world.at(0), seen);
  book.send(blow_up{"gone"});
  REQUIRE(world.run_until_idle());
  const watcher_ref guard = spawn<watcher>(world.at(0), reasons);
  guard.send(watch_out{book});
  REQUIRE(world.run_until_idle());
  CHECK(reasons == std::vector<std::string>{"gone"});
}

TEST_CASE("an actor lives on when nobody knows it, until it quits") {
  simulated_runtime world;
  bool ended = false;
  struct mourned final : actor_of<mourned, actor_ref<halt>> {
    mourned(caf::actor_config& config, bool& flag) : actor_of{config}, flag_{flag} {}
    void handle(halt&) { quit(); }
    void on_exit() override { flag_ = true; }
    bool& flag_;
  };
  weak_ref<actor_ref<halt>> weak;
  weak = actor_ref<halt>{spawn<mourned>(world.at(0), ended)};
  REQUIRE(world.run_until_idle());
  CHECK_FALSE(ended);
  REQUIRE(weak.lock());
  weak.lock().send(halt{});
  REQUIRE(world.run_until_idle());
  CHECK(ended);
  CHECK_FALSE(weak.lock());
}

TEST_CASE("a callback that comes before the first message starts its actor") {
  simulated_runtime world;
  struct starter final : actor_of<starter, actor_ref<halt>> {
    using actor_of::actor_of;
    void handle(halt&) { quit(); }
    void on_start() override { ++started; }
    int started = 0;
  };
  const auto one = spawn<starter>(world.at(0));
  auto& self = static_cast<starter&>(*one.actor());
  int started_before = 0;
  {
    const loop::as_current here{&world.at(0)};
    self.enter([&] { started_before = self.started; });
  }
  REQUIRE(world.run_until_idle());
  CHECK(started_before == 1);
  CHECK(self.started == 1);
  one.send(halt{});
  REQUIRE(world.run_until_idle());
  self.enter([&] { ++started_before; });
  CHECK(started_before == 1);
}

TEST_CASE("a stop overtakes what waits in the mailbox") {
  simulated_runtime world;
  std::vector<int> seen;
  const notes_ref book = spawn<notebook>(world.at(0), seen);
  REQUIRE(world.run_until_idle());
  for (int i = 0; i < 10; ++i) book.send(make_note(i));
  book.send_stop(halt{});
  REQUIRE(world.run_until_idle());
  CHECK(seen.empty());
}

TEST_CASE("handles compare by actor and hash alike") {
  simulated_runtime world;
  std::vector<int> seen;
  const notes_ref one = spawn<notebook>(world.at(0), seen);
  const notes_ref other = spawn<notebook>(world.at(0), seen);
  const actor_ref<halt> narrower = one;
  CHECK(one == narrower);
  CHECK(std::hash<notes_ref>{}(one) == std::hash<actor_ref<halt>>{}(narrower));
  CHECK_FALSE(one == other);
  CHECK_FALSE(notes_ref{} == one);
  CHECK(notes_ref{} == notes_ref{});
}

TEST_CASE("what is deferred is flushed once, and not at all when it is gone") {
  simulated_runtime world;
  struct probe final : flushable {
    explicit probe(int& n) : count{n} {}
    void flush() override { ++count; }
    int& count;
  };
  int count = 0;
  probe first{count};
  {
    probe second{count};
    loop& home = world.at(0);
    home.defer(first);
    home.defer(second);
    home.defer(first);
  }
  REQUIRE(world.run_until_idle());
  CHECK(count == 1);
  CHECK_FALSE(world.at(0).has_deferred());
}

TEST_CASE("an actor that has ended is not flushed any more") {
  struct writer final : actor_of<writer, actor_ref<halt>>, flushable {
    writer(caf::actor_config& config, int& count) : actor_of{config}, flushed{count} {}
    void handle(halt&) {
      home().defer(*this);
      quit();
    }
    void flush() override { ++flushed; }
    int& flushed;
  };
  simulated_runtime world;
  int flushed = 0;
  spawn<writer>(world.at(0), flushed).send(halt{});
  REQUIRE(world.run_until_idle());
  CHECK(flushed == 0);
}

namespace {

struct set_timer {
  std::chrono::milliseconds delay;
};
using sleeper_ref = actor_ref<set_timer, halt>;

class sleeper final : public actor_of<sleeper, sleeper_ref> {
public:
  sleeper(caf::actor_config& config, int& fired)
      : actor_of{config}, fired_{fired}, timer_{*this, [this] { on_due(); }} {}

  void handle(set_timer& request) { timer_.arm(request.delay); }
  void handle(halt&) { quit(); }

private:
  void on_due() {
    ++fired_;
    if (fired_ == 3) throw std::runtime_error{"three is too many"};
  }

  int& fired_;
  timer timer_;
};

}  // namespace

TEST_CASE("a timer calls its actor when its time has come") {
  simulated_runtime world{{.seed = 3}};
  int fired = 0;
  const sleeper_ref one = spawn<sleeper>(world.at(1), fired);
  one.send(set_timer{1h});
  REQUIRE(world.advance(59min));
  CHECK(fired == 0);
  REQUIRE(world.advance(1min + 2ms));
  CHECK(fired == 1);
}

TEST_CASE("a timer of an actor that has ended never fires") {
  simulated_runtime world;
  int fired = 0;
  const sleeper_ref one = spawn<sleeper>(world.at(0), fired);
  one.send(set_timer{1s});
  one.send(halt{});
  REQUIRE(world.advance(10s));
  CHECK(fired == 0);
  CHECK(world.at(0).timer().armed() == 0);
}

TEST_CASE("an exception in a timer ends its actor") {
  simulated_runtime world;
  int fired = 2;
  std::vector<std::string> reasons;
  const sleeper_ref one = spawn<sleeper>(world.at(0), fired);
  const watcher_ref guard = spawn<watcher>(world.at(0), reasons);
  guard.send(watch_out{one});
  one.send(set_timer{1s});
  REQUIRE(world.advance(2s));
  CHECK(reasons == std::vector<std::string>{"three is too many"});
}

TEST_CASE("a timer that was armed by message answers by message, with its token") {
  simulated_runtime world;
  std::vector<std::uint64_t> tokens;
  const timer_due_ref whom = spawn_handlers<timer_due_ref>(
      world.at(1), [&](timer_due& due) { tokens.push_back(due.token); });
  const timer_ref timer = world.at(0).timer().self();
  timer.send(arm_timer{world.now() + 20ms, whom, 2});
  timer.send(arm_timer{world.now() + 10ms, whom, 1});
  timer.send(arm_timer{world.now() + 1h, whom, 3});
  REQUIRE(world.run_until([&] { return tokens.size() == 2; }));
  CHECK(tokens == std::vector<std::uint64_t>{1, 2});
}
