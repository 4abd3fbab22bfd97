#include "cli/perf/idle.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "cli/perf/clock.hpp"
#include "cli/perf/session.hpp"

namespace baton::perf {
namespace {

/// A connection that only exists, with so many AMQP channels.
class idler final : public client {
public:
  idler(event_loop& loop, const target& to, std::uint16_t channels)
      : client{loop, to}, channels_{channels} {}
  bool is_ready() const noexcept { return is_open() && awaited_ == 0; }

private:
  void on_open() override {
    for (std::uint16_t channel = 1; channel <= channels_; ++channel)
      wire::plain(out(), channel, wire::method::channel_open, 1);
    awaited_ = channels_;
    flush();
  }
  void on_frame(const wire::frame& frame) override {
    if (frame.channel == 0 || awaited_ == 0) return;
    --awaited_;
  }

  std::uint16_t channels_;
  std::uint16_t awaited_ = 0;
};

result<void> rest(event_loop& loop, double seconds) {
  const auto end = now_ns() + static_cast<std::int64_t>(seconds * second_ns);
  while (now_ns() < end && !interrupted) {
    if (loop.failed()) return failure{loop.why()};
    loop.turn(std::min(end, now_ns() + second_ns / 10));
  }
  return {};
}

result<void> open_all(event_loop& loop, std::vector<std::unique_ptr<idler>>& idlers) {
  constexpr std::size_t at_once = 32;
  std::size_t opened = 0, ready = 0;
  while (ready < idlers.size() && !interrupted) {
    if (loop.failed()) return failure{loop.why()};
    while (ready < opened && idlers[ready]->is_ready()) ++ready;
    while (opened < idlers.size() && opened - ready < at_once) idlers[opened++]->open();
    loop.turn(now_ns() + second_ns / 10);
  }
  return {};
}

result<void> close_all(event_loop& loop, std::vector<std::unique_ptr<idler>>& idlers) {
  for (auto& each : idlers) each->close();
  const auto deadline = now_ns() + 30 * second_ns;
  const auto closed = [](const auto& each) { return each->is_closed(); };
  while (!std::all_of(idlers.begin(), idlers.end(), closed) && now_ns() < deadline) {
    if (loop.failed()) return failure{loop.why()};
    loop.turn(now_ns() + second_ns / 10);
  }
  return {};
}

report summary_of(const idle_options& options, std::string_view what, const process_usage& before,
                  const process_usage& after, double seconds) {
  report summary;
  summary.add("idle", what);
  summary.add("count", std::uint64_t{options.count});
  summary.add("made_per_second", options.count / seconds);
  const double grown =
      static_cast<double>(after.resident_bytes) - static_cast<double>(before.resident_bytes);
  summary.add("broker_bytes_each", grown / options.count);
  summary.add("broker_resident_before_bytes", before.resident_bytes);
  summary.add("broker_resident_bytes", after.resident_bytes);
  summary.add("broker_peak_bytes", after.peak_resident_bytes);
  summary.add("broker_cpu_us_each",
              (after.cpu_seconds() - before.cpu_seconds()) * 1e6 / options.count);
  return summary;
}

result<report> idle_connections(const run_options& run, const idle_options& options) {
  constexpr std::uint32_t channels_on_one = 1000;
  const bool channels = options.kind == idle_kind::channels;
  if (!channels && raise_file_limit() < options.count + 50u)
    return failure{error{"the limit of open files is too low: ulimit -n"}};
  event_loop loop;
  std::vector<std::unique_ptr<idler>> idlers;
  for (std::uint32_t left = options.count; left > 0;) {
    const std::uint32_t part = channels ? std::min(left, channels_on_one) : 1;
    idlers.push_back(
        std::make_unique<idler>(loop, run.to, static_cast<std::uint16_t>(channels ? part : 0)));
    left -= part;
  }
  auto before = read_process_usage(*run.pid);
  if (!before) return failure{before.reason()};
  const std::int64_t begin = now_ns();
  if (auto done = open_all(loop, idlers); !done) return failure{done.reason()};
  const double seconds = static_cast<double>(now_ns() - begin) / second_ns;
  if (auto done = rest(loop, options.settle_seconds); !done) return failure{done.reason()};
  auto after = read_process_usage(*run.pid);
  if (!after) return failure{after.reason()};
  if (auto done = close_all(loop, idlers); !done) return failure{done.reason()};
  return summary_of(options, channels ? "channels" : "connections", *before, *after, seconds);
}

result<report> idle_queues(const run_options& run, const idle_options& options) {
  event_loop loop;
  session admin{loop, run.to};
  if (auto done = admin.connect(); !done) return failure{done.reason()};
  flow_plan plan;
  for (std::uint32_t i = 0; i < options.count; ++i)
    plan.queues.push_back(run.prefix + "-" + std::to_string(i));
  auto before = read_process_usage(*run.pid);
  if (!before) return failure{before.reason()};
  const std::int64_t begin = now_ns();
  if (auto done = admin.declare(plan, options.durable); !done) return failure{done.reason()};
  const double seconds = static_cast<double>(now_ns() - begin) / second_ns;
  if (auto done = rest(loop, options.settle_seconds); !done) return failure{done.reason()};
  auto after = read_process_usage(*run.pid);
  if (!after) return failure{after.reason()};
  if (auto done = admin.remove(plan); !done) return failure{done.reason()};
  if (auto done = admin.disconnect(); !done) return failure{done.reason()};
  return summary_of(options, "queues", *before, *after, seconds);
}

}  // namespace

result<report> run_idle(const run_options& run, const idle_options& options) {
  if (!run.pid) return failure{error{"perf idle measures a process: give its id with --pid"}};
  if (options.count == 0) return failure{error{"--count must be at least 1"}};
  return options.kind == idle_kind::queues ? idle_queues(run, options)
                                           : idle_connections(run, options);
}

}  // namespace baton::perf
