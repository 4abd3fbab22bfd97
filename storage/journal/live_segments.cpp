#include "storage/journal/live_segments.hpp"

#include "config/check.hpp"

namespace baton::journal {

void live_segments::add(std::uint32_t segment, std::uint64_t references, std::uint64_t bytes) {
  auto& s = segments_[segment];
  if (references == 0) return;
  s.references += references;
  s.bytes += bytes;
  live_bytes_ += bytes;
}

void live_segments::drop(std::uint32_t segment, std::uint64_t references, std::uint64_t bytes,
                         bool last) {
  auto s = segments_.find(segment);
  BATON_CHECK(s != segments_.end() && s->second.references >= references);
  s->second.references -= references;
  if (!last) return;
  BATON_CHECK(s->second.bytes >= bytes);
  s->second.bytes -= bytes;
  live_bytes_ -= bytes;
}

std::vector<std::uint32_t> live_segments::take_free() {
  std::vector<std::uint32_t> found;
  for (auto s = segments_.begin(); s != segments_.end() && !is_replayed(s->first);) {
    if (s->second.references == 0) {
      found.push_back(s->first);
      s = segments_.erase(s);
    } else {
      ++s;
    }
  }
  return found;
}

std::optional<std::uint32_t> live_segments::worth_compacting(std::uint32_t percent,
                                                             std::uint64_t segment_size) const {
  std::optional<std::uint32_t> best;
  std::uint64_t least = segment_size / 100 * percent;
  for (const auto& [number, s] : segments_) {
    if (is_replayed(number)) break;
    if (s.references == 0 || s.bytes > least || (best && s.bytes == least)) continue;
    best = number;
    least = s.bytes;
  }
  return best;
}

}  // namespace baton::journal
