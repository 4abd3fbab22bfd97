#include "cli/perf/topology_change.hpp"

#include <cstdio>
#include <memory>
#include <optional>

#include "cli/perf/clock.hpp"
#include "cli/perf/measurement.hpp"
#include "cli/perf/schedule.hpp"
#include "cli/perf/session.hpp"

namespace baton::perf {
namespace {

/// Adds and removes one binding in turns, at a rate, while it is on.
class changer final : public client {
public:
  changer(event_loop& loop, const target& to, std::string queue, std::string exchange)
      : client{loop, to}, queue_{std::move(queue)}, exchange_{std::move(exchange)} {}

  bool is_ready() const noexcept { return is_open() && answered_ > 0; }
  void turn_on(double per_second) {
    schedule_.emplace(per_second, now_ns());
    sent_in_turn_ = 0;
  }
  void turn_off() { schedule_.reset(); }
  std::uint64_t changes() const noexcept { return answered_ == 0 ? 0 : answered_ - 1; }

  std::int64_t pace(std::int64_t now) {
    if (!schedule_ || !is_open()) return INT64_MAX;
    for (const auto due = schedule_->due_by(now); sent_in_turn_ < due; ++sent_in_turn_) {
      constexpr std::uint64_t most_unanswered = 1000;  // a broker that is slower sets the rate
      if (sent_ - changes() >= most_unanswered) return now + second_ns / 1000;
      if (sent_++ % 2 == 0) {
        wire::queue_bind(out(), 1, queue_, exchange_, "change.of.topology", false);
      } else {
        wire::queue_unbind(out(), 1, queue_, exchange_, "change.of.topology");
      }
    }
    flush();
    return schedule_->due_at(sent_in_turn_);
  }

private:
  void on_open() override {
    wire::plain(out(), 1, wire::method::channel_open, 1);
    flush();
  }
  void on_frame(const wire::frame& frame) override {
    if (frame.channel == 0) return;
    if (frame.id() == wire::method::channel_close)
      return fail("refused by the broker: " + wire::close_text(frame.payload));
    ++answered_;
  }

  std::string queue_;
  std::string exchange_;
  std::optional<schedule> schedule_;
  std::uint64_t sent_ = 0;
  std::uint64_t sent_in_turn_ = 0;
  std::uint64_t answered_ = 0;  // the answer to channel.open included
};

struct turn_sum {
  std::uint64_t published = 0;
  std::uint64_t delivered = 0;
  std::uint64_t changes = 0;
  double seconds = 0;

  double rate(std::uint64_t count) const noexcept {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
  }
};

result<void> declare_parked(const run_options& run, const std::string& queue,
                            const std::string& exchange, std::uint32_t bindings) {
  event_loop loop;
  session admin{loop, run.to};
  if (auto done = admin.connect(); !done) return done;
  request_batch requests{admin};
  wire::queue_declare(requests.frames(), 1, queue, {});
  if (auto done = requests.added(); !done) return done;
  for (std::uint32_t i = 0; i < bindings && !interrupted; ++i) {
    const auto key = "parked." + std::to_string(i / 100) + "." + std::to_string(i % 100);
    wire::queue_bind(requests.frames(), 1, queue, exchange, key, false);
    if (auto done = requests.added(); !done) return done;
  }
  if (auto done = requests.finish(); !done) return done;
  return admin.disconnect();
}

result<void> remove_parked(const run_options& run, const std::string& queue) {
  event_loop loop;
  session admin{loop, run.to};
  if (auto done = admin.connect(); !done) return done;
  std::string frames;
  wire::queue_delete(frames, 1, queue);
  if (auto done = admin.call(frames, 1); !done) return done;
  return admin.disconnect();
}

/// One turn, with the changer on or off.
result<void> run_turn(load& what, load_thread& thread, changer& changes, double seconds,
                      double per_second, turn_sum& sum) {
  auto& loop = thread.loop();
  const auto before = loop.ask([&] {
                            if (per_second > 0) changes.turn_on(per_second);
                            return changes.changes();
                          })
                          .get();
  if (auto skipped = what.take(0); !skipped) return failure{skipped.reason()};
  const std::int64_t begin = now_ns();
  const auto end = begin + static_cast<std::int64_t>(seconds * second_ns);
  while (now_ns() < end && !interrupted) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  auto done = what.take(0);
  if (!done) return failure{done.reason()};
  const auto after = loop.ask([&] {
                           changes.turn_off();
                           return changes.changes();
                         })
                         .get();
  if (loop.ask([&] { return loop.failed(); }).get()) return failure{loop.why()};
  sum.published += (*done)->published;
  sum.delivered += (*done)->delivered;
  sum.changes += after - before;
  sum.seconds += static_cast<double>(now_ns() - begin) / second_ns;
  return {};
}

result<report> run_turns(const run_options& run, const topology_options& options, load& what,
                         load_thread& thread, changer& changes) {
  turn_sum warmup, off, on;
  what.start();
  if (auto done = run_turn(what, thread, changes, run.warmup_seconds, 0, warmup); !done)
    return failure{done.reason()};
  for (std::uint32_t turn = 0; turn < options.turns && !interrupted; ++turn) {
    if (auto done = run_turn(what, thread, changes, options.turn_seconds, 0, off); !done)
      return failure{done.reason()};
    if (auto done = run_turn(what, thread, changes, options.turn_seconds, options.changes, on);
        !done)
      return failure{done.reason()};
    if (!run.quiet)
      std::fprintf(stderr, "without changes %s/s delivered   with %s/s   changes %s/s\n",
                   number_text(off.rate(off.delivered)).c_str(),
                   number_text(on.rate(on.delivered)).c_str(),
                   number_text(on.rate(on.changes)).c_str());
  }
  report summary;
  summary.add("bindings", std::uint64_t{options.bindings});
  summary.add("changes_asked_per_second", options.changes);
  summary.add("changes_per_second", on.rate(on.changes));
  summary.add("published_per_second_off", off.rate(off.published));
  summary.add("published_per_second_on", on.rate(on.published));
  summary.add("delivered_per_second_off", off.rate(off.delivered));
  summary.add("delivered_per_second_on", on.rate(on.delivered));
  const double without = off.rate(off.delivered);
  summary.add("delivered_ratio", without > 0 ? on.rate(on.delivered) / without : 0.0);
  if (run.pid)
    if (auto usage = read_process_usage(*run.pid)) {
      summary.add("broker_resident_bytes", (*usage).resident_bytes);
      summary.add("broker_peak_bytes", (*usage).peak_resident_bytes);
    }
  return summary;
}

}  // namespace

result<report> run_topology(const run_options& run, const flow_options& flow,
                            const topology_options& options) {
  flow_options with_exchange = flow;
  if (with_exchange.exchange.empty()) with_exchange.exchange = run.prefix + "-exchange";
  const auto parked = run.prefix + "-parked";
  load traffic{run, {{with_exchange, run.threads}}};
  const auto attempt = [&]() -> result<report> {
    if (auto done = traffic.prepare(); !done) return failure{done.reason()};
    if (auto done = declare_parked(run, parked, with_exchange.exchange, options.bindings); !done)
      return failure{done.reason()};
    load_thread thread;
    changer changes{thread.loop(), run.to, parked, with_exchange.exchange};
    thread.run([&, opened = false](std::int64_t now) mutable {
      if (!opened) changes.open();
      opened = true;
      return changes.pace(now);
    });
    auto summary = run_turns(run, options, traffic, thread, changes);
    thread.join();
    return summary;
  };
  auto summary = attempt();
  auto finished = traffic.finish();
  auto removed = remove_parked(run, parked);
  if (!summary) return summary;
  if (!finished) return failure{finished.reason()};
  if (!removed) return failure{removed.reason()};
  return summary;
}

}  // namespace baton::perf
