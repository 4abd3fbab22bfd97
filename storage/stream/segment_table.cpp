#include "storage/stream/segment_table.hpp"

#include <algorithm>
#include <utility>

#include "config/check.hpp"

namespace baton::stream_log {

namespace {

constexpr std::uint32_t bytes_between_marks = 256 << 10;

std::uint32_t end_of(const journal::record_place& where) noexcept {
  return where.at.offset + static_cast<std::uint32_t>(journal::padded(where.size));
}

}  // namespace

void segment_table::note(const journal::record_place& where, std::uint64_t first,
                         std::uint32_t count, std::uint64_t time_ms,
                         std::vector<journal::reference_drop>& ended) {
  while (first < next_ && !unsynced_.empty()) forget_last(ended);
  BATON_CHECK(first >= next_ && count > 0);
  if (segments_.empty() || segments_.back().number != where.at.segment) {
    BATON_CHECK(segments_.empty() || segments_.back().number < where.at.segment);
    segment begun;
    begun.number = where.at.segment;
    begun.begin = begun.end = where.at.offset;
    begun.first = first;
    begun.first_time_ms = begun.last_time_ms = time_ms;
    segments_.push_back(std::move(begun));
  }
  auto& into = segments_.back();
  BATON_CHECK(into.end <= where.at.offset);
  unsynced_.push_back({where, first, into.end, into.last_time_ms});
  const auto marked = into.marks.empty() ? into.begin : into.marks.back().offset;
  if (where.at.offset - marked >= bytes_between_marks)
    into.marks.push_back({first, time_ms, where.at.offset});
  into.end = end_of(where);
  into.last_time_ms = std::max(into.last_time_ms, time_ms);
  ++into.references;
  const auto bytes = journal::reference_bytes(where.size, 1);
  into.bytes += bytes;
  bytes_ += bytes;
  last_chunk_ = first;
  last_time_ms_ = std::max(last_time_ms_, time_ms);
  next_ = first + count;
}

/// Takes the last chunk out again.
void segment_table::forget_last(std::vector<journal::reference_drop>& ended) {
  const auto& last = unsynced_.back();
  auto& of = segments_.back();
  BATON_CHECK(of.number == last.where.at.segment);
  const auto bytes = journal::reference_bytes(last.where.size, 1);
  if (!ended.empty() && ended.back().segment == of.number && ended.back().queue == queue_) {
    ++ended.back().references;
    ended.back().bytes += bytes;
  } else {
    ended.push_back({of.number, queue_, 1, bytes});
  }
  of.bytes -= bytes;
  bytes_ -= bytes;
  of.end = last.end_before;
  of.last_time_ms = last.last_time_before;
  if (!of.marks.empty() && of.marks.back().offset == last.where.at.offset) of.marks.pop_back();
  if (--of.references == 0) segments_.pop_back();
  next_ = last.first;
  unsynced_.pop_back();
}

void segment_table::synced(std::uint64_t offset) {
  while (!unsynced_.empty() && unsynced_.front().first < offset) unsynced_.pop_front();
}

void segment_table::add(const summary& unread) {
  BATON_CHECK(unsynced_.empty() && unread.references > 0);
  BATON_CHECK(segments_.empty() ||
              (segments_.back().number < unread.number && segments_.back().first < unread.first));
  segments_.push_back({unread, {}});
  bytes_ += unread.bytes;
  last_chunk_ = unread.first;
  last_time_ms_ = std::max(last_time_ms_, unread.last_time_ms);
  next_ = std::max(next_, unread.first + 1);
}

std::uint64_t segment_table::first_offset() const noexcept {
  return segments_.empty() ? next_ : segments_.front().first;
}

/// The offset that follows what lies in a segment.
std::uint64_t segment_table::behind(const segment& one) const noexcept {
  const auto next = std::upper_bound(
      segments_.begin(), segments_.end(), one.number,
      [](std::uint32_t number, const segment& other) { return number < other.number; });
  return next == segments_.end() ? next_ : next->first;
}

std::optional<stretch> segment_table::find(std::uint64_t offset, journal::place stopped) const {
  if (offset >= next_ || segments_.empty()) return std::nullopt;
  auto after = std::upper_bound(segments_.begin(), segments_.end(), offset,
                                [](std::uint64_t o, const segment& s) { return o < s.first; });
  const auto& in = after == segments_.begin() ? *after : *std::prev(after);
  auto from = in.begin;
  const auto mark = std::upper_bound(in.marks.begin(), in.marks.end(), offset,
                                     [](std::uint64_t o, const auto& m) { return o < m.first; });
  if (mark != in.marks.begin()) from = std::prev(mark)->offset;
  if (stopped.segment == in.number && stopped.offset <= in.end)
    from = std::max(from, stopped.offset);
  return stretch{{in.number, from}, in.end, behind(in)};
}

std::optional<stretch> segment_table::find_time(std::uint64_t ms) const {
  const auto in =
      std::lower_bound(segments_.begin(), segments_.end(), ms,
                       [](const segment& s, std::uint64_t t) { return s.last_time_ms < t; });
  if (in == segments_.end()) return std::nullopt;
  const auto mark = std::lower_bound(in->marks.begin(), in->marks.end(), ms,
                                     [](const auto& m, std::uint64_t t) { return m.time_ms < t; });
  const auto from = mark == in->marks.begin() ? in->begin : std::prev(mark)->offset;
  return stretch{{in->number, from}, in->end, behind(*in)};
}

std::vector<journal::reference_drop> segment_table::retire(std::uint64_t max_bytes,
                                                           std::uint64_t oldest_time_ms) {
  std::vector<journal::reference_drop> gone;
  while (segments_.size() > 1) {
    const auto& oldest = segments_.front();
    if (bytes_ <= max_bytes && oldest.last_time_ms >= oldest_time_ms) break;
    // The next one is the newest there is for certain, until a chunk in it has been synced.
    if (!unsynced_.empty() && unsynced_.front().first <= segments_[1].first) break;
    gone.push_back(drop_of(oldest));
    bytes_ -= oldest.bytes;
    segments_.pop_front();
  }
  return gone;
}

}  // namespace baton::stream_log
