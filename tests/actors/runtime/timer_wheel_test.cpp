#include "actors/runtime/timer_wheel.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "tests/catch.hpp"

namespace {

using namespace baton;
using namespace std::chrono_literals;

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

class probe final : public wheel_entry {
public:
  explicit probe(std::function<void()> due = {}) : due_{std::move(due)} {}
  void on_due() override {
    ++fired;
    if (due_) due_();
  }
  int fired = 0;

private:
  std::function<void()> due_;
};

const steady_time start = steady_time{} + 5h + 123us;

/// Moves the wheel as its owner does: from one piece of work to the next.
std::size_t run_to(timer_wheel& wheel, steady_time target) {
  std::size_t fired = 0;
  while (wheel.next_work() <= target) fired += wheel.advance(wheel.next_work(), no_limit);
  return fired + wheel.advance(target, no_limit);
}

}  // namespace

TEST_CASE("a timer fires once, when its time has come and not before") {
  const auto delay = GENERATE(1ms, 2ms, 63ms, 64ms, 65ms, 4095ms, 4096ms, 4097ms, 262'144ms,
                              86'400'000ms, 31'536'000'000ms, 315'360'000'000ms);
  timer_wheel wheel{start};
  probe one;
  wheel.arm(one, start + delay);
  run_to(wheel, start + delay - 1ms);
  CHECK(one.fired == 0);
  run_to(wheel, start + delay);
  CHECK(one.fired == 1);
  run_to(wheel, start + delay * 2);
  CHECK(one.fired == 1);
  CHECK(wheel.armed() == 0);
  CHECK(wheel.next_work() == steady_time::max());
}

TEST_CASE("a timer never fires early by a fraction of a millisecond") {
  timer_wheel wheel{start};
  probe one;
  wheel.arm(one, start + 10ms + 1ns);
  wheel.advance(start + 10ms + 999us, no_limit);
  CHECK(one.fired == 0);
  wheel.advance(start + 11ms, no_limit);
  CHECK(one.fired == 1);
}

TEST_CASE("a timer that was cancelled never fires") {
  timer_wheel wheel{start};
  probe one, other;
  wheel.arm(one, start + 100ms);
  wheel.arm(other, start + 100ms);
  wheel.cancel(one);
  wheel.cancel(one);
  run_to(wheel, start + 1s);
  CHECK(one.fired == 0);
  CHECK(other.fired == 1);
}

TEST_CASE("cancelling the only timer leaves the wheel nothing to do") {
  timer_wheel wheel{start};
  probe one;
  wheel.arm(one, start + 100ms);
  wheel.cancel(one);
  CHECK(wheel.next_work() == steady_time::max());
}

TEST_CASE("arming anew moves a timer") {
  timer_wheel wheel{start};
  probe one;
  wheel.arm(one, start + 10ms);
  wheel.arm(one, start + 2h);
  CHECK(wheel.armed() == 1);
  run_to(wheel, start + 1h);
  CHECK(one.fired == 0);
  run_to(wheel, start + 2h);
  CHECK(one.fired == 1);
}

TEST_CASE("a timer for the past fires in the next millisecond") {
  timer_wheel wheel{start};
  wheel.advance(start + 1h, no_limit);
  probe one;
  wheel.arm(one, start);
  CHECK(wheel.next_work() <= start + 1h + 1ms);
  run_to(wheel, start + 1h + 1ms);
  CHECK(one.fired == 1);
}

TEST_CASE("a timer beyond the end of the wheel is kept") {
  timer_wheel wheel{start};
  probe one;
  wheel.arm(one, steady_time::max());
  CHECK(run_to(wheel, start + 100'000h) == 0);
  CHECK(one.is_armed());
  wheel.cancel(one);
}

TEST_CASE("a timer may arm itself again when it fires") {
  timer_wheel wheel{start};
  steady_time next = start;
  std::unique_ptr<probe> one;
  one = std::make_unique<probe>([&] { wheel.arm(*one, next += 10ms); });
  wheel.arm(*one, next += 10ms);
  run_to(wheel, start + 1s);
  CHECK(one->fired == 100);
  wheel.cancel(*one);
}

TEST_CASE("a timer may cancel another that is due together with it") {
  timer_wheel wheel{start};
  probe last;
  probe first{[&] { wheel.cancel(last); }};
  wheel.arm(first, start + 5ms);
  wheel.arm(last, start + 5ms);
  run_to(wheel, start + 10ms);
  CHECK(first.fired == 1);
  CHECK(last.fired == 0);
}

TEST_CASE("a limit leaves the other due timers for the next call") {
  timer_wheel wheel{start};
  std::vector<probe> many(10);
  for (probe& one : many) wheel.arm(one, start + 5ms);
  CHECK(wheel.advance(start + 5ms, 4) == 4);
  CHECK(wheel.next_work() <= start + 5ms);
  CHECK(wheel.advance(start + 5ms, no_limit) == 6);
}

TEST_CASE("the next work is never later than the earliest timer") {
  std::mt19937 dice{7};
  timer_wheel wheel{start};
  std::vector<probe> many(200);
  std::vector<steady_time> times;
  for (probe& one : many) {
    const auto when = start + std::chrono::milliseconds{1 + dice() % 10'000'000};
    times.push_back(when);
    wheel.arm(one, when);
  }
  CHECK(wheel.next_work() <= *std::min_element(times.begin(), times.end()));
  for (probe& one : many) wheel.cancel(one);
}

TEST_CASE("a million timers fire in order, each within its millisecond") {
  std::mt19937_64 dice{42};
  timer_wheel wheel{start};
  steady_time now = start;
  struct dated final : wheel_entry {
    void on_due() override {
      wrong += *clock < when || *clock >= when + 1ms ? 1 : 0;
      ++*count;
    }
    const steady_time* clock = nullptr;
    std::size_t* count = nullptr;
    steady_time when;
    int wrong = 0;
  };
  std::size_t fired = 0;
  std::vector<dated> timers(1'000'000);
  for (dated& one : timers) {
    one.clock = &now;
    one.count = &fired;
    one.when = start + std::chrono::microseconds{1'000 + dice() % 86'400'000'000};
    wheel.arm(one, one.when);
  }
  std::size_t cancelled = 0;
  for (std::size_t i = 0; i < timers.size(); i += 10, ++cancelled) wheel.cancel(timers[i]);
  while (wheel.next_work() != steady_time::max()) {
    now = wheel.next_work();
    wheel.advance(now, no_limit);
  }
  CHECK(fired == timers.size() - cancelled);
  CHECK(std::all_of(timers.begin(), timers.end(), [](const dated& one) { return one.wrong == 0; }));
}
