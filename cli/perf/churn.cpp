#include "cli/perf/churn.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "cli/perf/clock.hpp"
#include "cli/perf/measurement.hpp"
#include "cli/perf/session.hpp"

namespace baton::perf {
namespace {

const char* name_of(churn_kind kind) {
  switch (kind) {
    case churn_kind::connections:
      return "connections";
    case churn_kind::channels:
      return "channels";
    case churn_kind::queues:
      return "queues";
    case churn_kind::bindings:
      return "bindings";
  }
  return "";
}

/// Turns the loop for `seconds`, with a line each second.
result<void> spin(event_loop& loop, const run_options& run, double seconds, const char* what,
                  const churn_counts& counts) {
  const std::int64_t begin = now_ns();
  const auto end = begin + static_cast<std::int64_t>(seconds * second_ns);
  std::int64_t line_at = begin;
  std::uint64_t before = counts.cycles;
  for (std::int64_t now = begin; now < end && !interrupted; now = now_ns()) {
    if (loop.failed()) return failure{loop.why()};
    if (now - line_at >= second_ns) {
      const double span = static_cast<double>(now - line_at) / second_ns;
      if (!run.quiet)
        std::fprintf(stderr, "%s %s/s   p50 %s p99 %s\n", what,
                     number_text(static_cast<double>(counts.cycles - before) / span).c_str(),
                     duration_text(counts.cycle_time.percentile(50)).c_str(),
                     duration_text(counts.cycle_time.percentile(99)).c_str());
      before = counts.cycles;
      line_at = now;
    }
    loop.turn(std::min(end, line_at + second_ns));
  }
  return {};
}

result<void> turn_until(event_loop& loop, const std::function<bool()>& condition) {
  const std::int64_t deadline = now_ns() + 30 * second_ns;
  while (!condition()) {
    if (loop.failed()) return failure{loop.why()};
    if (now_ns() > deadline) return failure{error{"no answer for 30 s"}};
    loop.turn(deadline);
  }
  return {};
}

}  // namespace

void connection_churner::begin() {
  begun_at_ = now_ns();
  open();
}

void connection_churner::on_closed() {
  ++counts_.cycles;
  counts_.cycle_time.record(static_cast<std::uint64_t>(now_ns() - begun_at_));
  if (!stopping_) begin();
}

request_churner::request_churner(event_loop& loop, const target& to, const churn_options& options,
                                 std::string_view name, churn_counts& counts)
    : client{loop, to}, options_{options}, counts_{counts}, sent_at_(options.pipeline) {
  const bool channels = options.kind == churn_kind::channels;
  wire::plain(setup_, 1, wire::method::channel_open, 1);
  setup_replies_ = 1;
  if (channels) {
    wire::plain(cycle_, 2, wire::method::channel_open, 1);
    wire::channel_close(cycle_, 2);
  } else if (options.kind == churn_kind::queues) {
    wire::queue_declare(cycle_, 1, name, {options.durable, false, false});
    wire::queue_delete(cycle_, 1, name);
  } else {
    wire::queue_declare(setup_, 1, name, {false, true, false});  // exclusive: goes with us
    setup_replies_ = 2;
    wire::queue_bind(cycle_, 1, name, "amq.topic", name, false);
    wire::queue_unbind(cycle_, 1, name, "amq.topic", name);
  }
}

void request_churner::on_open() {
  replies_due_ = setup_replies_;
  out() += setup_;
  flush();
}

void request_churner::begin() {
  for (std::uint32_t i = 0; i < options_.pipeline; ++i) send_cycle();
  flush();
}

void request_churner::send_cycle() {
  sent_at_[sent_++ % sent_at_.size()] = now_ns();
  replies_due_ += 2;
  out() += cycle_;
}

void request_churner::on_frame(const wire::frame& frame) {
  if (frame.type != wire::frame_type::method) return;
  if (frame.id() == wire::method::channel_close)
    return fail("refused by the broker: " + wire::close_text(frame.payload));
  if (replies_due_ == 0) return fail("an answer that nothing asked for");
  --replies_due_;
  if (!ready_) {
    ready_ = replies_due_ == 0;
    return;
  }
  const bool cycle_done = replies_due_ % 2 == 0;
  if (!cycle_done) return;
  ++counts_.cycles;
  counts_.cycle_time.record(
      static_cast<std::uint64_t>(read_at_ns() - sent_at_[done_++ % sent_at_.size()]));
  if (!stopping_) send_cycle();
}

void request_churner::on_read_done() { flush(); }

namespace {

template <class Churner>
result<report> run_churners(event_loop& loop, const run_options& run, const churn_options& options,
                            churn_counts& counts, std::vector<std::unique_ptr<Churner>>& churners) {
  const char* what = name_of(options.kind);
  for (auto& each : churners) each->begin();
  if (auto done = spin(loop, run, run.warmup_seconds, "warm-up", counts); !done)
    return failure{done.reason()};
  counts = churn_counts{};
  measurement measured;
  result<process_usage> before = run.pid ? read_process_usage(*run.pid) : process_usage{};
  if (!before) return failure{before.reason()};
  const auto own_before = own_usage();
  const std::int64_t begin = now_ns();
  if (auto done = spin(loop, run, run.seconds, what, counts); !done) return failure{done.reason()};
  measured.seconds = static_cast<double>(now_ns() - begin) / second_ns;
  if (run.pid) {
    auto after = read_process_usage(*run.pid);
    if (!after) return failure{after.reason()};
    measured.broker = used_between(*before, *after);
  }
  measured.generator = used_between(own_before, own_usage());
  report summary;
  summary.add("churn", std::string_view{what});
  summary.add("connections", std::uint64_t{options.connections});
  summary.add("pipeline", std::uint64_t{options.pipeline});
  summary.add("seconds", measured.seconds);
  summary.add("cycles_per_second", static_cast<double>(counts.cycles) / measured.seconds);
  add_percentiles(summary, "cycle", counts.cycle_time);
  add_usage(summary, measured, counts.cycles);
  for (auto& each : churners) each->stop();
  return summary;
}

}  // namespace

result<report> run_churn(const run_options& run, const churn_options& options) {
  event_loop loop;
  const auto counts = std::make_unique<churn_counts>();
  if (options.kind == churn_kind::connections) {
    std::vector<std::unique_ptr<connection_churner>> churners;
    for (std::uint32_t i = 0; i < options.connections; ++i)
      churners.push_back(std::make_unique<connection_churner>(loop, run.to, *counts));
    auto summary = run_churners(loop, run, options, *counts, churners);
    if (!summary) return summary;
    auto closed = turn_until(loop, [&] {
      return std::all_of(churners.begin(), churners.end(),
                         [](auto& one) { return one->is_closed(); });
    });
    if (!closed) return failure{closed.reason()};
    return summary;
  }
  std::vector<std::unique_ptr<request_churner>> churners;
  for (std::uint32_t i = 0; i < options.connections; ++i) {
    const auto name = run.prefix + "-" + std::to_string(i);
    churners.push_back(std::make_unique<request_churner>(loop, run.to, options, name, *counts));
    churners.back()->open();
  }
  auto all = [&](auto condition) {
    return turn_until(loop, [&] {
      return std::all_of(churners.begin(), churners.end(),
                         [&](auto& one) { return condition(*one); });
    });
  };
  if (auto done = all([](auto& one) { return one.is_ready(); }); !done)
    return failure{done.reason()};
  auto summary = run_churners(loop, run, options, *counts, churners);
  if (!summary) return summary;
  if (auto done = all([](auto& one) { return one.is_idle(); }); !done)
    return failure{done.reason()};
  for (auto& each : churners) each->close();
  if (auto done = all([](auto& one) { return one.is_closed(); }); !done)
    return failure{done.reason()};
  return summary;
}

}  // namespace baton::perf
