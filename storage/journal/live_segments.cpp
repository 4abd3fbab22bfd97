#include "storage/journal/live_segments.hpp"

#include "config/check.hpp"

namespace baton::journal {

void live_segments::begin(std::uint32_t segment) {
  if (segments_.try_emplace(segment).second) ++in_log_;
}

void live_segments::cut_behind(std::uint32_t last) {
  for (auto s = segments_.upper_bound(last); s != segments_.end();) {
    if (s->second.in_log) --in_log_;
    s->second.in_log = false;
    s = s->second.references == 0 ? segments_.erase(s) : std::next(s);
  }
}

void live_segments::add(std::uint32_t segment, std::uint64_t queue, std::uint64_t references,
                        std::uint64_t bytes) {
  begin(segment);
  auto& to = segments_[segment];
  to.queues[queue] += references;
  to.references += references;
  to.bytes += bytes;
  references_ += references;
  live_bytes_ += bytes;
}

void live_segments::drop(const reference_drop& gone) {
  const auto s = segments_.find(gone.segment);
  BATON_CHECK(s != segments_.end());
  auto& of = s->second;
  const auto q = of.queues.find(gone.queue);
  BATON_CHECK(q != of.queues.end() && q->second >= gone.references && of.bytes >= gone.bytes);
  q->second -= gone.references;
  if (q->second == 0) of.queues.erase(q);
  of.references -= gone.references;
  of.bytes -= gone.bytes;
  references_ -= gone.references;
  live_bytes_ -= gone.bytes;
  if (of.references == 0 && !of.in_log) segments_.erase(s);
}

void live_segments::define(std::string_view key, std::uint32_t segment) {
  begin(segment);
  auto& to = segments_[segment];
  BATON_CHECK(to.in_log);
  const auto found = defined_.find(key);
  if (found == defined_.end()) {
    defined_.emplace(key, segment);
  } else {
    --segments_.find(found->second)->second.definitions;
    found->second = segment;
  }
  ++to.definitions;
}

std::string live_segments::key_of(record_kind kind, std::uint64_t number) {
  return std::string(1, '\0') + static_cast<char>(kind) + std::to_string(number);
}

void live_segments::undefine(std::string_view key) {
  const auto found = defined_.find(key);
  if (found == defined_.end()) return;
  --segments_.find(found->second)->second.definitions;
  defined_.erase(found);
}

std::optional<std::uint32_t> live_segments::oldest() const noexcept {
  for (const auto& [number, s] : segments_)
    if (s.in_log) return number;
  return std::nullopt;
}

bool live_segments::is_needed(std::uint32_t segment) const noexcept {
  const auto s = segments_.find(segment);
  return s != segments_.end() && (s->second.references > 0 || s->second.definitions > 0);
}

bool live_segments::is_needed_for_definitions(std::uint32_t segment) const noexcept {
  const auto s = segments_.find(segment);
  return s != segments_.end() && s->second.references == 0 && s->second.definitions > 0;
}

void live_segments::remove(std::uint32_t segment) {
  const auto s = segments_.find(segment);
  BATON_CHECK(s != segments_.end() && s->second.in_log && !is_needed(segment));
  segments_.erase(s);
  --in_log_;
}

std::vector<std::uint64_t> live_segments::queues_in(std::uint32_t segment) const {
  std::vector<std::uint64_t> found;
  if (const auto s = segments_.find(segment); s != segments_.end())
    for (const auto& [queue, references] : s->second.queues) found.push_back(queue);
  return found;
}

std::uint64_t live_segments::live_bytes_of(std::uint32_t segment) const noexcept {
  const auto s = segments_.find(segment);
  return s == segments_.end() ? 0 : s->second.bytes;
}

}  // namespace baton::journal
