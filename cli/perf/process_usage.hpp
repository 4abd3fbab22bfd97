#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "config/result.hpp"

namespace baton::perf {

/// What a process has used, as the kernel counts it.
struct process_usage {
  double user_seconds = 0;
  double system_seconds = 0;
  std::uint64_t resident_bytes = 0;       // VmRSS
  std::uint64_t peak_resident_bytes = 0;  // VmHWM
  std::uint64_t written_bytes = 0;        // to disks

  double cpu_seconds() const noexcept { return user_seconds + system_seconds; }
};

/// CPU time out of the text of /proc/PID/stat (user and system time in clock ticks, of all
/// threads).
result<process_usage> parse_stat(std::string_view stat, long ticks_per_second);

/// Adds the two memory figures out of the text of /proc/PID/status.
result<process_usage> parse_status(std::string_view status, process_usage usage);

/// Adds `write_bytes` out of the text of /proc/PID/io.
result<process_usage> parse_io(std::string_view io, process_usage usage);

/// Reads these files of a running process; that of its disks only where that is allowed.
result<process_usage> read_process_usage(pid_t pid);

/// This process, to the microsecond.
process_usage own_usage();

}  // namespace baton::perf
