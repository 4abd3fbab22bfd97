#include "cli/perf/process_usage.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace baton::perf {
namespace {

std::optional<std::uint64_t> number_at(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end == text.data()) return std::nullopt;
  return number;
}

/// The figure in the line `name:  123 kB`, in bytes.
std::optional<std::uint64_t> kilobytes_of(std::string_view status, std::string_view name) {
  for (std::size_t at = 0; (at = status.find(name, at)) != status.npos; at += name.size()) {
    const bool line_start = at == 0 || status[at - 1] == '\n';
    const auto colon = at + name.size();
    if (!line_start || colon >= status.size() || status[colon] != ':') continue;
    if (const auto number = number_at(status.substr(colon + 1))) return *number * 1024;
    return std::nullopt;
  }
  return std::nullopt;
}

result<std::string> read_text(const std::string& path) {
  std::ifstream file{path};
  if (!file) return failure{error{"cannot read " + path + ": no such process?"}};
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

result<process_usage> parse_stat(std::string_view stat, long ticks_per_second) {
  // proc(5): pid (comm) state ppid ...; comm may contain spaces and parentheses. utime and stime
  // are fields 14 and 15, the twelfth and thirteenth after the last ')'.
  const auto comm_end = stat.rfind(')');
  if (comm_end == stat.npos) return failure{error{"/proc/PID/stat has no command name"}};
  auto rest = stat.substr(comm_end + 1);
  std::uint64_t ticks[2] = {};
  for (int field = 3; field <= 15; ++field) {
    const auto start = rest.find_first_not_of(' ');
    if (start == rest.npos) return failure{error{"/proc/PID/stat ends before its CPU times"}};
    rest.remove_prefix(start);
    if (field >= 14) {
      const auto number = number_at(rest);
      if (!number) return failure{error{"/proc/PID/stat: a CPU time is not a number"}};
      ticks[field - 14] = *number;
    }
    const auto end = rest.find(' ');
    rest.remove_prefix(end == rest.npos ? rest.size() : end);
  }
  process_usage usage;
  usage.user_seconds = static_cast<double>(ticks[0]) / static_cast<double>(ticks_per_second);
  usage.system_seconds = static_cast<double>(ticks[1]) / static_cast<double>(ticks_per_second);
  return usage;
}

result<process_usage> parse_status(std::string_view status, process_usage usage) {
  const auto resident = kilobytes_of(status, "VmRSS");
  const auto peak = kilobytes_of(status, "VmHWM");
  if (!resident || !peak) return failure{error{"/proc/PID/status has no VmRSS or VmHWM"}};
  usage.resident_bytes = *resident;
  usage.peak_resident_bytes = *peak;
  return usage;
}

result<process_usage> parse_io(std::string_view io, process_usage usage) {
  constexpr std::string_view name = "\nwrite_bytes:";
  const auto at = io.find(name);
  const auto number = at == io.npos ? std::nullopt : number_at(io.substr(at + name.size()));
  if (!number) return failure{error{"/proc/PID/io has no write_bytes"}};
  usage.written_bytes = *number;
  return usage;
}

result<process_usage> read_process_usage(pid_t pid) {
  const auto folder = "/proc/" + std::to_string(pid);
  auto stat = read_text(folder + "/stat");
  if (!stat) return failure{stat.reason()};
  auto status = read_text(folder + "/status");
  if (!status) return failure{status.reason()};
  auto usage = parse_stat(*stat, sysconf(_SC_CLK_TCK));
  if (!usage) return usage;
  if (const auto io = read_text(folder + "/io"))
    if (auto with_io = parse_io(*io, *usage)) usage = with_io;
  return parse_status(*status, *usage);
}

process_usage own_usage() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  process_usage usage;
  usage.user_seconds = seconds_of(used.ru_utime);
  usage.system_seconds = seconds_of(used.ru_stime);
  usage.peak_resident_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  return usage;
}

}  // namespace baton::perf
