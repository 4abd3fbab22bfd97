#pragma once

#include <cstdint>

namespace baton::perf {

/// When the messages of a flow with a fixed rate are due. Message n is due at start + n / rate,
/// whatever happened to the ones before it: latency that is measured from there contains the wait
/// of messages which a stalled broker kept from being sent (no coordinated omission).
class schedule {
public:
  /// `per_second` may be fractional. Times are nanoseconds of any one clock.
  schedule(double per_second, std::int64_t start_ns) noexcept
      : interval_ns_{1e9 / per_second}, start_ns_{start_ns} {}

  /// The moment at which message `n` (from 0) should be sent.
  std::int64_t due_at(std::uint64_t n) const noexcept {
    return start_ns_ + static_cast<std::int64_t>(interval_ns_ * static_cast<double>(n));
  }

  /// How many messages are due by `now_ns`, the one due at this very moment included.
  std::uint64_t due_by(std::int64_t now_ns) const noexcept {
    if (now_ns < start_ns_) return 0;
    auto n = static_cast<std::uint64_t>(static_cast<double>(now_ns - start_ns_) / interval_ns_) + 1;
    while (n > 0 && due_at(n - 1) > now_ns) --n;  // rounding
    while (due_at(n) <= now_ns) ++n;
    return n;
  }

private:
  double interval_ns_;
  std::int64_t start_ns_;
};

}  // namespace baton::perf
