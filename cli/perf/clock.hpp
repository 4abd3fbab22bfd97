#pragma once

#include <ctime>

#include <cstdint>

namespace baton::perf {

/// Nanoseconds of the monotonic clock: the same for all processes and threads of a machine, so a
/// stamp that one connection sends can be compared where another one receives it.
inline std::int64_t now_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace baton::perf
