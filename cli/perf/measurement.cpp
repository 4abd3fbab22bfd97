#include "cli/perf/measurement.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "cli/perf/clock.hpp"

namespace baton::perf {
namespace {

double seconds_between(std::int64_t from, std::int64_t to) {
  return static_cast<double>(to - from) / second_ns;
}

void print_line(double at, bool warming_up, const tally& done, double seconds, double broker_cpu) {
  const auto rate = [&](std::uint64_t count) {
    return number_text(static_cast<double>(count) / seconds) + "/s";
  };
  std::string line = (warming_up ? "warm-up " : "") + number_text(at) + " s   published " +
                     rate(done.published) + "   delivered " + rate(done.delivered);
  if (done.confirmed + done.nacked > 0) line += "   confirmed " + rate(done.confirmed);
  if (done.nacked > 0) line += "   nacked " + rate(done.nacked);
  if (done.returned > 0) line += "   returned " + rate(done.returned);
  if (done.blocked > 0) line += "   blocked";
  const auto& latency = done.latency.count() > 0 ? done.latency : done.confirm_latency;
  if (latency.count() > 0)
    line += (&latency == &done.latency ? "   latency p50 " : "   confirm p50 ") +
            duration_text(latency.percentile(50)) + " p99 " +
            duration_text(latency.percentile(99)) + " max " + duration_text(latency.max());
  if (broker_cpu >= 0) line += "   broker cpu " + number_text(broker_cpu);
  std::fprintf(stderr, "%s\n", line.c_str());
}

/// Takes what the flows did, second by second, and adds it up.
class second_by_second {
public:
  second_by_second(load& what, const run_options& run, std::size_t flow_count)
      : what_{what}, run_{run}, begin_{now_ns()}, last_{begin_} {
    for (std::size_t i = 0; i < flow_count; ++i) totals_.push_back(std::make_unique<tally>());
  }

  result<void> collect(bool warming_up) {
    const auto second = std::make_unique<tally>();
    for (std::size_t i = 0; i < totals_.size(); ++i) {
      auto taken = what_.take(i);
      if (!taken) return failure{taken.reason()};
      totals_[i]->merge(**taken);
      if (i == 0) unprinted_.merge(**taken);
    }
    const std::int64_t now = now_ns();
    if (now - last_ < second_ns / 2) return {};
    if (!run_.quiet)
      print_line(seconds_between(begin_, now), warming_up, unprinted_, seconds_between(last_, now),
                 broker_cpu(seconds_between(last_, now)));
    unprinted_ = tally{};
    last_ = now;
    return {};
  }

  std::vector<std::unique_ptr<tally>>& totals() noexcept { return totals_; }

private:
  double broker_cpu(double seconds) {
    if (!run_.pid) return -1;
    const auto usage = read_process_usage(*run_.pid);
    if (!usage) return -1;
    const double before = std::exchange(broker_seconds_, (*usage).cpu_seconds());
    return before < 0 ? -1 : (broker_seconds_ - before) / seconds;
  }

  load& what_;
  const run_options& run_;
  std::int64_t begin_;
  std::int64_t last_;
  double broker_seconds_ = -1;
  tally unprinted_;
  std::vector<std::unique_ptr<tally>> totals_;
};

void sleep_until(std::int64_t deadline_ns) {
  constexpr std::int64_t step = 50'000'000;
  for (std::int64_t now = now_ns(); now < deadline_ns && !interrupted; now = now_ns())
    std::this_thread::sleep_for(std::chrono::nanoseconds{std::min(step, deadline_ns - now)});
}

/// Until `deadline_ns`, with a line each second.
result<void> run_until(second_by_second& lines, std::int64_t deadline_ns, bool warming_up) {
  for (std::int64_t now = now_ns(); now < deadline_ns && !interrupted; now = now_ns()) {
    sleep_until(std::min(now + second_ns, deadline_ns));
    if (auto done = lines.collect(warming_up); !done) return done;
  }
  return {};
}

/// Until `expected` messages of flow 0 have arrived (at consumers, or at the broker), or none
/// arrives for a while.
result<void> run_until_arrived(load& what, second_by_second& lines, bool consumed, bool confirms,
                               std::uint64_t expected) {
  constexpr std::int64_t patience_ns = 10 * second_ns;
  std::uint64_t arrived = 0;
  for (std::int64_t last_news = now_ns(); !interrupted;) {
    sleep_until(now_ns() + second_ns / 100);
    if (auto done = lines.collect(false); !done) return done;
    const auto& total = *lines.totals()[0];
    const std::uint64_t now_arrived = consumed   ? total.delivered
                                      : confirms ? total.confirmed
                                                 : total.published;
    if (now_arrived >= expected && what.published_all(0)) return {};
    if (now_arrived != arrived) last_news = now_ns();
    arrived = now_arrived;
    if (now_ns() - last_news > patience_ns)
      return failure{error{std::to_string(expected - arrived) + " of " + std::to_string(expected) +
                           " messages did not arrive"}};
  }
  return {};
}

}  // namespace

process_usage used_between(const process_usage& from, process_usage to) {
  to.user_seconds -= from.user_seconds;
  to.system_seconds -= from.system_seconds;
  to.written_bytes -= from.written_bytes;
  return to;
}

result<measurement> measure(load& what, const run_options& run,
                            const std::vector<load::request>& requests) {
  const auto& first = requests.front().options;
  const auto now_used = [&]() -> result<std::optional<process_usage>> {
    if (!run.pid) return std::optional<process_usage>{};
    auto usage = read_process_usage(*run.pid);
    if (!usage) return failure{usage.reason()};
    return std::optional{*usage};
  };
  what.start();
  if (first.count == 0) {
    second_by_second warmup{what, run, requests.size()};
    const auto end = now_ns() + static_cast<std::int64_t>(run.warmup_seconds * second_ns);
    if (auto done = run_until(warmup, end, true); !done) return failure{done.reason()};
    if (auto done = warmup.collect(true); !done) return failure{done.reason()};
  }
  second_by_second lines{what, run, requests.size()};
  auto broker_before = now_used();
  if (!broker_before) return failure{broker_before.reason()};
  const auto generator_before = own_usage();
  const std::int64_t begin = now_ns();
  const auto& plan = what.plan(0);
  auto done =
      first.count > 0
          ? run_until_arrived(what, lines, plan.deliveries_per_publish > 0, first.confirm > 0,
                              first.count * std::max(plan.deliveries_per_publish, 1u))
          : run_until(lines, begin + static_cast<std::int64_t>(run.seconds * second_ns), false);
  if (!done) return failure{done.reason()};
  measurement measured;
  measured.seconds = seconds_between(begin, now_ns());
  auto broker_after = now_used();
  if (!broker_after) return failure{broker_after.reason()};
  measured.generator = used_between(generator_before, own_usage());
  if (*broker_after) measured.broker = used_between(**broker_before, **broker_after);
  measured.flows = std::move(lines.totals());
  return measured;
}

void add_percentiles(report& to, std::string_view name, const histogram& values) {
  if (values.count() == 0) return;
  const auto add = [&](const char* suffix, std::uint64_t ns) {
    to.add(std::string{name} + suffix, static_cast<double>(ns) / 1e3);
  };
  add("_p50_us", values.percentile(50));
  add("_p90_us", values.percentile(90));
  add("_p99_us", values.percentile(99));
  add("_p999_us", values.percentile(99.9));
  add("_max_us", values.max());
}

void add_disk_usage(report& to, const measurement& measured, std::uint64_t body_bytes) {
  if (measured.broker && body_bytes > 0)
    to.add("broker_disk_bytes_per_byte",
           static_cast<double>(measured.broker->written_bytes) / static_cast<double>(body_bytes));
}

void add_usage(report& to, const measurement& measured, std::uint64_t messages) {
  const double each = messages == 0 ? 0 : 1e6 / static_cast<double>(messages);
  if (measured.broker) {
    to.add("broker_cpu_us_per_message", measured.broker->cpu_seconds() * each);
    to.add("broker_cpu_seconds", measured.broker->cpu_seconds());
    to.add("broker_user_seconds", measured.broker->user_seconds);
    to.add("broker_resident_bytes", measured.broker->resident_bytes);
    to.add("broker_peak_bytes", measured.broker->peak_resident_bytes);
    to.add("broker_disk_bytes", measured.broker->written_bytes);
  }
  to.add("generator_user_us_per_message", measured.generator.user_seconds * each);
  to.add("generator_cpu_us_per_message", measured.generator.cpu_seconds() * each);
}

void add_flow(report& to, std::string_view name, const tally& done, double seconds) {
  const auto key = [&](const char* word) { return std::string{name} + word; };
  const auto rate = [&](std::uint64_t count) { return static_cast<double>(count) / seconds; };
  to.add(key("published_per_second"), rate(done.published));
  to.add(key("delivered_per_second"), rate(done.delivered));
  to.add(key("delivered_bytes_per_second"), rate(done.delivered_bytes));
  to.add(key("published"), done.published);
  to.add(key("delivered"), done.delivered);
  if (done.confirmed + done.nacked > 0) {
    to.add(key("confirmed_per_second"), rate(done.confirmed));
    to.add(key("confirmed"), done.confirmed);
    to.add(key("nacked"), done.nacked);
  }
  if (done.returned > 0) to.add(key("returned"), done.returned);
  if (done.blocked > 0) to.add(key("blocked"), done.blocked);
  add_percentiles(to, key("latency"), done.latency);
  add_percentiles(to, key("confirm"), done.confirm_latency);
  add_percentiles(to, key("send_lag"), done.send_lag);
}

void add_flow_options(report& to, const flow_options& options, const flow_plan& plan) {
  to.add("producers", std::uint64_t{options.producers});
  to.add("consumers", std::uint64_t{options.consumers});
  to.add("queues", std::uint64_t{plan.queues.size()});
  to.add("connections", std::uint64_t{plan.connections.size()});
  to.add("size_bytes", options.size);
  to.add("acks",
         options.ack_every == 0 ? "automatic" : "every " + std::to_string(options.ack_every));
  to.add("prefetch", std::uint64_t{options.prefetch});
  to.add("confirm_window", std::uint64_t{options.confirm});
  to.add_flag("persistent", options.persistent);
  to.add_flag("durable", options.durable);
  if (!options.queue_type.empty()) to.add("queue_type", options.queue_type);
  if (options.rate > 0) to.add("rate", options.rate);
}

}  // namespace baton::perf
