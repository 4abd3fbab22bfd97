#include "actors/runtime/simulated_runtime.hpp"

#include <algorithm>
#include <cstdio>

namespace baton {

namespace {

/// One step in so many moves the clock a little.
constexpr std::uint64_t steps_between_ticks = 32;
constexpr std::uint64_t longest_tick_ns = 200'000;
/// An actor handles from 1 to so many messages in a row.
constexpr std::uint64_t longest_quantum = 8;

bool is_due(loop& one, steady_time now) { return one.alarm() <= now; }

simulated_reactor& sockets_of(loop& one) { return static_cast<simulated_reactor&>(one.sockets()); }

}  // namespace

simulated_runtime::simulated_runtime(const simulation_options& options)
    : simulated_world{options},
      runtime{options.loops, false, hand_clock, [this](caf::actor_system& host, std::size_t index) {
                return std::make_unique<loop>(host, index, hand_clock, network.make_reactor());
              }} {}

simulated_runtime::~simulated_runtime() { stop(); }

bool simulated_runtime::step() {
  enum class kind { task, flush, socket, alarm, client, bytes };
  struct choice {
    kind what;
    loop* where;
  };
  if (dice.once_in(steps_between_ticks))
    hand_clock.advance(std::chrono::nanoseconds{dice.below(longest_tick_ns)});
  std::vector<choice> choices;
  for_each_loop([&](loop& one) {
    if (one.ready_tasks() > 0) choices.push_back({kind::task, &one});
    if (one.has_deferred()) choices.push_back({kind::flush, &one});
    if (sockets_of(one).has_due()) choices.push_back({kind::socket, &one});
    if (is_due(one, now())) choices.push_back({kind::alarm, &one});
  });
  if (simulated_world::outside->has_due()) choices.push_back({kind::client, nullptr});
  if (network.can_progress()) choices.push_back({kind::bytes, nullptr});
  if (choices.empty()) return false;

  const choice chosen = choices[dice.below(choices.size())];
  const loop::as_current current{chosen.where};
  switch (chosen.what) {
    case kind::task:
      chosen.where->set_quantum(1 + dice.below(longest_quantum));
      chosen.where->run_ready(dice.below(chosen.where->ready_tasks()));
      break;
    case kind::flush:
      chosen.where->flush_deferred();
      break;
    case kind::socket:
      chosen.where->sockets().dispatch(1);
      break;
    case kind::alarm:
      chosen.where->fire_alarm_if_due();
      break;
    case kind::client:
      simulated_world::outside->dispatch(1);
      break;
    case kind::bytes:
      network.progress();
      break;
  }
  return true;
}

bool simulated_runtime::run_until(const std::function<bool()>& condition, std::size_t max_steps) {
  for (std::size_t i = 0; i < max_steps; ++i) {
    if (condition()) return true;
    if (step()) continue;
    if (next_alarm() == loop::never) return complain("nothing is left to do");
    move_time_to(next_alarm());
  }
  return condition() || complain("not yet after all steps");
}

bool simulated_runtime::run_until_idle(std::size_t max_steps) {
  for (std::size_t i = 0; i < max_steps; ++i)
    if (!step()) return true;
  return complain("still busy after all steps");
}

bool simulated_runtime::advance(std::chrono::nanoseconds by, std::size_t max_steps) {
  const steady_time target = now() + std::chrono::duration_cast<steady_time::duration>(by);
  for (std::size_t i = 0; i < max_steps; ++i) {
    if (step()) continue;
    if (now() >= target) return true;
    move_time_to(std::min(target, next_alarm()));
  }
  return complain("still busy after all steps");
}

steady_time simulated_runtime::next_alarm() {
  steady_time next = loop::never;
  for_each_loop([&](loop& one) { next = std::min(next, one.alarm()); });
  return next;
}

void simulated_runtime::move_time_to(steady_time when) noexcept {
  if (when > now()) hand_clock.advance(when - now());
}

bool simulated_runtime::complain(const char* why) const {
  std::fprintf(stderr, "simulation with seed %llu: %s\n", static_cast<unsigned long long>(seed),
               why);
  return false;
}

}  // namespace baton
