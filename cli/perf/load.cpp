#include "cli/perf/load.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "cli/perf/clock.hpp"
#include "cli/perf/session.hpp"

namespace baton::perf {

std::atomic<bool> interrupted = false;

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = SA_RESETHAND;  // the second one ends the process as usual
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void load_thread::run(pacer pace, bool spin) {
  thread_ = std::thread{[this, pace = std::move(pace), spin] {
    constexpr std::int64_t longest_wait_ns = 100'000'000;
    prctl(PR_SET_TIMERSLACK, 1UL);  // ns; the usual 50 us would all be latency
    while (!stopping_) {
      const std::int64_t now = now_ns();
      const std::int64_t next = loop_.failed() ? INT64_MAX : pace(now);
      loop_.turn(spin ? now : std::min(next, now + longest_wait_ns));
    }
  }};
}

void load_thread::join() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

load::load(const run_options& run, const std::vector<request>& requests) : run_{run} {
  for (const auto& asked : requests) {
    auto state = std::make_unique<flow_state>();
    state->options = asked.options;
    const auto prefix =
        flows_.empty() ? run.prefix : run.prefix + "-" + std::to_string(flows_.size());
    state->plan = make_plan(asked.options, prefix);
    const std::size_t threads = std::clamp<std::size_t>(
        asked.threads, 1, std::max<std::size_t>(1, state->plan.connections.size()));
    for (std::size_t t = 0; t < threads; ++t) {
      std::vector<std::size_t> share;
      for (std::size_t c = t; c < state->plan.connections.size(); c += threads) share.push_back(c);
      auto one = std::make_unique<worker>();
      one->traffic =
          std::make_unique<flow>(one->thread.loop(), run.to, state->options, state->plan, share);
      state->workers.push_back(std::move(one));
    }
    flows_.push_back(std::move(state));
  }
}

load::~load() {
  for (auto& state : flows_)
    for (auto& one : state->workers) one->thread.join();
}

result<void> load::prepare() {
  if (!run_.to.relay) {
    event_loop loop;
    session admin{loop, run_.to};
    if (auto done = admin.connect(); !done) return done;
    declared_ = true;
    for (const auto& state : flows_)
      if (auto done = admin.declare(state->plan, state->options.durable, state->options.queue_type);
          !done)
        return done;
    if (auto done = admin.disconnect(); !done) return done;
  }
  for (auto& state : flows_)
    for (auto& one : state->workers)
      one->thread.run(
          [traffic = one->traffic.get()](std::int64_t now) { return traffic->pace(now); },
          run_.spin && state == flows_.front());
  for (auto& state : flows_) {
    for (auto& one : state->workers) {
      for (bool ready = false; !ready;) {
        if (interrupted) return failure{error{"interrupted"}};
        auto& loop = one->thread.loop();
        ready = loop.ask([&] { return loop.failed() || one->traffic->ready(); }).get();
        if (!ready) std::this_thread::sleep_for(std::chrono::milliseconds{2});
      }
    }
  }
  return {};
}

void load::start() {
  const std::int64_t now = now_ns();
  for (auto& state : flows_)
    for (auto& one : state->workers)
      one->thread.loop().ask([&] { one->traffic->start(now); }).get();
}

result<std::unique_ptr<tally>> load::take(std::size_t index) {
  auto sum = std::make_unique<tally>();
  for (auto& one : flows_[index]->workers) {
    auto& loop = one->thread.loop();
    sum->merge(*loop.ask([&] { return one->traffic->take(); }).get());
    if (loop.ask([&] { return loop.failed(); }).get()) return failure{loop.why()};
  }
  return sum;
}

bool load::published_all(std::size_t index) {
  auto& workers = flows_[index]->workers;
  return std::all_of(workers.begin(), workers.end(), [](const auto& one) {
    return one->thread.loop().ask([&] { return one->traffic->finished(); }).get();
  });
}

void load::close_connections() {
  constexpr std::int64_t patience_ns = 3'000'000'000;
  for (auto& state : flows_)
    for (auto& one : state->workers)
      if (one->thread.running()) one->thread.loop().ask([&] { one->traffic->close(); }).get();
  const std::int64_t deadline = now_ns() + patience_ns;
  for (auto& state : flows_) {
    for (auto& one : state->workers) {
      while (one->thread.running() && now_ns() < deadline &&
             !one->thread.loop().ask([&] { return one->traffic->closed(); }).get())
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
      one->thread.join();
      one->traffic.reset();
    }
  }
}

result<void> load::finish() {
  close_connections();
  if (!std::exchange(declared_, false) || run_.keep) return {};
  event_loop loop;
  session admin{loop, run_.to};
  if (auto done = admin.connect(); !done) return done;
  for (const auto& state : flows_)
    if (auto done = admin.remove(state->plan); !done) return done;
  return admin.disconnect();
}

}  // namespace baton::perf
