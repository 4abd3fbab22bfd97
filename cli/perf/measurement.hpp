#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/perf/load.hpp"
#include "cli/perf/report.hpp"

namespace baton::perf {

/// The measured part of a run.
struct measurement {
  double seconds = 0;
  std::vector<std::unique_ptr<tally>> flows;
  std::optional<process_usage> broker;  // CPU during the measured time, memory at its end
  process_usage generator;              // likewise
};

/// Starts the load, warms up, measures, and prints a line each second about the first flow. With a
/// `count` of messages there is no warm-up, and it ends when all of them have arrived.
result<measurement> measure(load& what, const run_options& run,
                            const std::vector<load::request>& requests);

/// Spans of time on a process: `from` is subtracted from the CPU times of `to`.
process_usage used_between(const process_usage& from, process_usage to);

/// `<name>_p50_us` to `<name>_max_us`; nothing when nothing was recorded.
void add_percentiles(report& to, std::string_view name, const histogram& values);

/// What the broker and the generator used, a message. A message is a delivery; where nobody
/// consumes, a publish.
void add_usage(report& to, const measurement& measured, std::uint64_t messages);
/// What the broker wrote to disks for each byte of body that was published.
void add_disk_usage(report& to, const measurement& measured, std::uint64_t body_bytes);

/// Rates, counts and percentiles of one flow; `name` is put in front of each key.
void add_flow(report& to, std::string_view name, const tally& done, double seconds);

/// How the flow was asked for: what a reader needs to judge its figures.
void add_flow_options(report& to, const flow_options& options, const flow_plan& plan);

}  // namespace baton::perf
