// What a hop between two actors costs, and what a timer costs. Estimates before it was written: a
// hop alone 100 ns on one loop (malloc and free 40, two compare-and-swaps 15, resume and dispatch
// 45), a few ns a message in batches; arming and cancelling 20 ns.
//
// Results: actors/runtime/README.md.

#include <chrono>
#include <cstdio>
#include <ctime>
#include <future>
#include <vector>

#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/runtime.hpp"
#include "actors/runtime/timer.hpp"

namespace {

using namespace baton;
using wall_clock = std::chrono::steady_clock;

struct batch {
  std::vector<std::uint64_t> messages;
};
struct demand {
  std::size_t batches;
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

using sink_ref = actor_ref<batch>;
using source_ref = actor_ref<demand>;

/// Takes batches and asks for as many anew.
class sink final : public actor_of<sink, sink_ref> {
public:
  sink(caf::actor_config& config, std::size_t expected, std::promise<void> when_done)
      : actor_of{config}, expected_{expected}, done_{std::move(when_done)} {}

  source_ref source;

  void handle(batch& arrived) {
    const std::vector<std::uint64_t> messages = std::move(arrived.messages);
    for (const std::uint64_t one : messages) sum_ += one;
    seen_ += messages.size();
    if (seen_ >= expected_ && !is_done_) {
      is_done_ = true;
      done_.set_value();
    }
    source.send(demand{1});
  }

private:
  std::size_t expected_;
  std::promise<void> done_;
  std::size_t seen_ = 0;
  std::uint64_t sum_ = 0;
  bool is_done_ = false;
};

/// Sends a batch for each that was asked for.
class source final : public actor_of<source, source_ref> {
public:
  source(caf::actor_config& config, sink_ref to, std::size_t batch_size)
      : actor_of{config}, to_{std::move(to)}, batch_size_{batch_size} {}

  void handle(demand& request) {
    for (std::size_t i = 0; i < request.batches; ++i)
      to_.send(batch{std::vector<std::uint64_t>(batch_size_, 1)});
  }

private:
  sink_ref to_;
  std::size_t batch_size_;
};

/// Messages flow from one actor to another with `window` batches under way.
void measure_hop(const char* where, bool same_loop, std::size_t batch_size, std::size_t window,
                 std::size_t messages) {
  threaded_runtime runtime{2};
  std::promise<void> done;
  auto finished = done.get_future();
  const sink_ref to = spawn<sink>(runtime.at(0), messages, std::move(done));
  const source_ref from = spawn<source>(runtime.at(same_loop ? 0 : 1), to, batch_size);
  static_cast<sink*>(to.actor())->source = from;
  const auto start = wall_clock::now();
  const double cpu = cpu_seconds();
  from.send(demand{window});
  finished.wait();
  const double wall = std::chrono::duration<double>(wall_clock::now() - start).count();
  const auto count = static_cast<double>(messages);
  std::printf(
      "%-10s batch %3zu, window %2zu: %7.1f ns CPU, %7.1f ns wall a message there and back\n",
      where, batch_size, window, (cpu_seconds() - cpu) / count * 1e9, wall / count * 1e9);
}

struct farewell {
  std::promise<void> gone;
};
using guest_ref = actor_ref<farewell>;

class guest final : public actor_of<guest, guest_ref> {
public:
  using actor_of::actor_of;
  void handle(farewell& request) {
    quit();
    request.gone.set_value();
  }
};

void measure_life(std::size_t count) {
  threaded_runtime runtime{1};
  std::vector<guest_ref> guests;
  guests.reserve(count);
  const double start = cpu_seconds();
  for (std::size_t i = 0; i < count; ++i) guests.push_back(spawn<guest>(runtime.at(0)));
  std::vector<std::future<void>> ends;
  ends.reserve(count);
  for (const guest_ref& one : guests) {
    farewell request;
    ends.push_back(request.gone.get_future());
    one.send(std::move(request));
  }
  for (std::future<void>& one : ends) one.wait();
  guests.clear();
  std::printf("an actor's life: %.0f ns CPU, %zu bytes\n",
              (cpu_seconds() - start) / static_cast<double>(count) * 1e9,
              sizeof(guest) + CAF_CACHE_LINE_SIZE);
}

struct entry final : wheel_entry {
  void on_due() override {}
};

void measure_wheel(std::size_t count) {
  steady_time now{};
  timer_wheel wheel{now};
  std::vector<entry> entries(count);
  constexpr int rounds = 10;
  auto start = wall_clock::now();
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i)
      wheel.arm(entries[i], now + std::chrono::milliseconds{1 + i * 7919 % 60'000});
    for (entry& one : entries) wheel.cancel(one);
  }
  double ns = std::chrono::duration<double, std::nano>(wall_clock::now() - start).count();
  std::printf("%zu timers: %.1f ns to arm and cancel one\n", count,
              ns / rounds / static_cast<double>(count));
  for (std::size_t i = 0; i < count; ++i)
    wheel.arm(entries[i], now + std::chrono::milliseconds{1 + i * 7919 % 60'000});
  start = wall_clock::now();
  std::size_t fired = 0;
  for (int ms = 0; ms <= 60'000; ++ms)
    fired += wheel.advance(now += std::chrono::milliseconds{1}, count);
  ns = std::chrono::duration<double, std::nano>(wall_clock::now() - start).count();
  std::printf("%zu timers: %.1f ns to fire one over a minute of 1 ms steps\n", fired,
              ns / static_cast<double>(fired));
}

}  // namespace

int main() {
  for (const bool same_loop : {true, false})
    for (const std::size_t batch_size : {1, 8, 64})
      for (const std::size_t window : {1, 16})
        measure_hop(same_loop ? "same loop" : "two loops", same_loop, batch_size, window,
                    (same_loop ? 2'000'000 : 500'000) * (batch_size == 1 ? 1 : batch_size / 2));
  measure_life(100'000);
  measure_wheel(1'000);
  measure_wheel(1'000'000);
}
