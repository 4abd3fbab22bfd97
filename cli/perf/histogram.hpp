#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace baton::perf {

/// Counts of values (here: nanoseconds) in log-linear buckets: exact below 256, then 128 buckets to
/// each power of two, so a reported value is at most 0.8 % above a recorded one. Recording is an
/// addition to one counter; the whole is 58 KiB and never allocates.
class histogram {
public:
  void record(std::uint64_t value, std::uint64_t times = 1) noexcept {
    counts_[bucket_of(value)] += times;
    count_ += times;
    sum_ += value * times;
    if (value > max_) max_ = value;
    if (value < min_) min_ = value;
  }

  /// Adds all that `other` has recorded.
  void merge(const histogram& other) noexcept;
  void clear() noexcept { *this = histogram{}; }

  std::uint64_t count() const noexcept { return count_; }
  /// The largest and smallest recorded value, exactly; 0 when nothing was recorded.
  std::uint64_t max() const noexcept { return max_; }
  std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  double mean() const noexcept {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

  /// The smallest value v, rounded up to its bucket's end, with at least `percent` % of all
  /// recorded values <= v; never above max(). 0 when nothing was recorded.
  std::uint64_t percentile(double percent) const noexcept;

private:
  static constexpr int sub_bits = 7;
  static constexpr std::size_t sub_buckets = std::size_t{1} << sub_bits;
  static constexpr std::size_t bucket_count = (64 - sub_bits + 1) * sub_buckets;

  static std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < 2 * sub_buckets) return static_cast<std::size_t>(value);
    const int shift = static_cast<int>(std::bit_width(value)) - 1 - sub_bits;
    return (static_cast<std::size_t>(shift) << sub_bits) + static_cast<std::size_t>(value >> shift);
  }
  static std::uint64_t last_value_of(std::size_t bucket) noexcept;

  std::array<std::uint64_t, bucket_count> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
  std::uint64_t min_ = UINT64_MAX;
};

}  // namespace baton::perf
