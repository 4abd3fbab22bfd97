#pragma once

#include <cstdint>

#include "cli/perf/flow_plan.hpp"
#include "cli/perf/load.hpp"
#include "cli/perf/report.hpp"

namespace baton::perf {

struct topology_options {
  std::uint32_t bindings = 100'000;  // that exist on the exchange beside the flow's own
  double changes = 1000;             // bindings added or removed a second, while on
  double turn_seconds = 2;
  std::uint32_t turns = 3;  // of each kind
};

/// Publishes through an exchange with many bindings while another client changes its bindings, in
/// turns of on and off, and reports how much of the rate is left.
result<report> run_topology(const run_options& run, const flow_options& flow,
                            const topology_options& options);

}  // namespace baton::perf
