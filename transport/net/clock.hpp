#pragma once

#include <chrono>

namespace baton {

using steady_time = std::chrono::steady_clock::time_point;

/// Where time comes from. Nothing reads the machine's clock by itself, so that tests move time by
/// hand.
class clock {
public:
  virtual ~clock() = default;

  /// Never goes back. Thread-safe.
  virtual steady_time now() const noexcept = 0;
};

/// The machine's steady clock; one call costs about 25 ns.
class machine_clock final : public clock {
public:
  steady_time now() const noexcept override { return std::chrono::steady_clock::now(); }
};

/// Stands still until it is advanced. Single-threaded.
class manual_clock final : public clock {
public:
  steady_time now() const noexcept override { return now_; }
  void advance(std::chrono::nanoseconds by) noexcept {
    now_ += std::chrono::duration_cast<steady_time::duration>(by);
  }

private:
  steady_time now_{std::chrono::hours{1}};
};

}  // namespace baton
