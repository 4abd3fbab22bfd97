#pragma once

#include <cstdint>

namespace baton::bench {

/// A system call that changed a file, as io_trace.cpp writes it down and journal_replay.cpp reads
/// it.
struct io_call {
  enum kind_of : std::uint32_t { allocate = 1, write = 2, sync = 3 };

  std::uint64_t start_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint64_t duration_ns = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t kind = 0;
  std::int32_t descriptor = 0;
  std::uint64_t thread = 0;
};
static_assert(sizeof(io_call) == 48);

}  // namespace baton::bench
