#pragma once

#include <ctime>

#include <cstdint>

namespace baton::perf {

inline constexpr std::int64_t second_ns = 1'000'000'000;

/// Nanoseconds of the monotonic clock: the same for all processes and threads of a machine, so a
/// stamp that one connection sends can be compared where another one receives it.
inline std::int64_t now_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * second_ns + now.tv_nsec;
}

}  // namespace baton::perf
