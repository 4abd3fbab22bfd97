#include "cli/perf/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace baton::perf {

void histogram::merge(const histogram& other) noexcept {
  for (std::size_t i = 0; i < bucket_count; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
  min_ = std::min(min_, other.min_);
}

std::uint64_t histogram::percentile(double percent) const noexcept {
  if (count_ == 0) return 0;
  const double exact = percent / 100 * static_cast<double>(count_);
  const auto wanted =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(exact)), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    seen += counts_[i];
    if (seen >= wanted) return std::min(last_value_of(i), max_);
  }
  return max_;
}

std::uint64_t histogram::last_value_of(std::size_t bucket) noexcept {
  if (bucket < 2 * sub_buckets) return bucket;
  const int shift = static_cast<int>(bucket >> sub_bits) - 1;
  const std::uint64_t top = bucket - (static_cast<std::size_t>(shift) << sub_bits);
  return ((top + 1) << shift) - 1;  // wraps to the largest number for the very last bucket
}

}  // namespace baton::perf
