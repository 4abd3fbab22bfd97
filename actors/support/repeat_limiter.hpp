#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace baton {

/// Decides which log lines of one kind are written, so that a client in a loop cannot fill a disk:
/// `limit` lines of a kind in each interval; the first line of the next interval says how many were
/// left out. Limit 0: all are written.
class repeat_limiter {
public:
  using time_point = std::chrono::steady_clock::time_point;

  repeat_limiter(std::uint32_t limit, std::chrono::milliseconds interval)
      : limit_{limit}, interval_{interval} {}

  /// nullopt: leave this line out. Else: write it; the number tells how many of its kind were left
  /// out before it.
  std::optional<std::uint64_t> admit(std::string_view kind, time_point now);

private:
  struct count {
    time_point since;
    std::uint64_t seen = 0;
  };

  std::uint32_t limit_;
  std::chrono::milliseconds interval_;
  std::unordered_map<std::string, count> kinds_;  // kinds are named in the code: few
};

}  // namespace baton
