#pragma once

#include <cstdint>

#include "cli/perf/load.hpp"
#include "cli/perf/report.hpp"

namespace baton::perf {

enum class idle_kind { connections, channels, queues };

struct idle_options {
  idle_kind kind = idle_kind::connections;
  std::uint32_t count = 10'000;
  double settle_seconds = 3;  // before memory is read
  bool durable = false;       // queues
};

/// Makes that many, leaves them alone and reports what each costs in the broker's resident memory.
/// Needs the broker's process id.
result<report> run_idle(const run_options& run, const idle_options& options);

}  // namespace baton::perf
