#include "actors/stream/stream_core.hpp"

#include <algorithm>
#include <utility>

#include "transport/amqp091/properties.hpp"

namespace baton {

namespace {

constexpr std::string_view offset_header = "x-stream-offset";

// What the header adds to a message at most, with the table that it may be the first in.
constexpr std::size_t offset_header_size = 32;

}  // namespace

stream_core::stream_core(queue_id id, const stream_limits& limits, stream_log::segment_table found)
    : id_{id},
      limits_{limits},
      segments_{std::move(found)},
      next_{segments_.next_offset()},
      committed_{next_},
      synced_{next_},
      last_time_{segments_.last_time_ms()} {}

// ---- in

message stream_core::stamped(const message& original, std::uint64_t offset) {
  amqp091::properties_editor editor{original.properties()};
  editor.set_header(offset_header, field_value{integer_value{static_cast<std::int64_t>(offset)}});
  properties_.clear();
  editor.finish(properties_);
  const message_parts parts{original.exchange(),   original.routing_key(), properties_.view(),
                            original.persistent(), original.priority(),    std::nullopt};
  if (const auto* body = original.large()) return slabs_.add(parts, body->share());
  return slabs_.add(parts, original.small_body());
}

void stream_core::publish(batch messages, std::uint64_t now_ms) {
  slabs_.expect(messages.bytes() + messages.size() * offset_header_size);
  for (const auto& each : messages) {
    if (unwritten_ == 0 || tail_.back().full()) {
      auto& begun = tail_.emplace_back();
      begun.first = next_;
      // Time goes forward, so that it can be searched.
      begun.time_ms = last_time_ = std::max(last_time_, now_ms);
      ++unwritten_;
    }
    tail_.back().add(stamped(each, next_++));
  }
  totals_.published += messages.size();
}

stream_core::unwritten stream_core::take_unwritten() {
  unwritten taken;
  journal::record_writer writer;
  for (auto i = tail_.size() - unwritten_; i < tail_.size(); ++i) {
    const auto& chunk = tail_[i];
    tail_bytes_ += chunk.bytes;
    writer.add_chunk(id_.value, chunk.first, chunk.time_ms, chunk.messages);
    taken.chunks.push_back({chunk.first, chunk.messages.size(), chunk.time_ms});
  }
  unwritten_ = 0;
  slabs_.close();
  taken.records = writer.take();
  return taken;
}

void stream_core::written(const unwritten::chunk& which, const journal::record_place& where) {
  segments_.note(where, which.first, static_cast<std::uint32_t>(which.count), which.time_ms,
                 drops_);
}

void stream_core::committed(std::uint64_t end) { committed_ = std::max(committed_, end); }

void stream_core::synced(std::uint64_t end) {
  synced_ = std::max(synced_, end);
  segments_.synced(end);
}

// ---- readers

result<void, queue_refusal> stream_core::add(consumer_id reader, const consumer_options& options) {
  if (cursors_.has_exclusive() || (options.exclusive && cursors_.size() > 0))
    return failure{queue_refusal::in_exclusive_use};
  auto& made = cursors_.add(reader, options);
  stand_at_start(made, options.reading.start);
  return {};
}

void stream_core::stand_at_start(stream_cursor& reader, const stream_start& start) {
  using kind = stream_start::kind;
  switch (start.from) {
    case kind::first:
      reader.next = first();
      return;
    case kind::last:
      reader.next = std::min(segments_.last_chunk(), committed_);
      return;
    case kind::next:
      reader.next = next_;
      return;
    case kind::offset:
      reader.next = std::max(start.value, first());
      return;
    case kind::time:
      return stand_at_time(reader, start.value);
  }
}

void stream_core::stand_at_time(stream_cursor& reader, std::uint64_t time_ms) {
  reader.next = next_;
  if (last_time_ < time_ms) return;
  if (!tail_.empty() && tail_.front().time_ms < time_ms) {
    const auto at = std::ranges::lower_bound(tail_, time_ms, {}, &stream_chunk::time_ms);
    reader.next = at->first;
    return;
  }
  reader.next = first();
  reader.seeks_time_ms = time_ms;
}

void stream_core::remove(consumer_id reader) {
  if (const auto* gone = cursors_.find(reader)) totals_.unsettled -= gone->unsettled;
  cursors_.remove(reader);
}

void stream_core::grant(consumer_id reader, std::uint64_t bytes) {
  if (auto* to = cursors_.find(reader)) to->balance += static_cast<std::int64_t>(bytes);
}

void stream_core::settle(consumer_id reader, const std::vector<settlement>& runs) {
  auto* of = cursors_.find(reader);
  if (of == nullptr) return;
  for (const auto& run : runs) {
    const auto ended = std::min(run.count, of->unsettled);
    of->unsettled -= ended;
    totals_.unsettled -= ended;
    if (run.how == outcome::accept) totals_.acked += ended;
  }
}

void stream_core::demand(consumer_id reader, std::uint32_t messages) {
  auto* to = cursors_.find(reader);
  if (to == nullptr || to->demand >= stream_cursor::unlimited) return;
  to->demand += messages;
  to->told_demand = false;
}

void stream_core::set_demand(consumer_id reader, std::optional<std::uint32_t> messages) {
  auto* to = cursors_.find(reader);
  if (to == nullptr) return;
  to->demand = messages ? *messages : 2 * stream_cursor::unlimited;
  to->told_demand = false;
}

std::optional<std::uint32_t> stream_core::recall_demand(consumer_id reader) {
  auto* of = cursors_.find(reader);
  if (of == nullptr) return std::nullopt;
  of->told_demand = false;
  return static_cast<std::uint32_t>(std::exchange(of->demand, 0));
}

std::int64_t stream_core::byte_credit(consumer_id reader) const noexcept {
  const auto* of = cursors_.find(reader);
  return of == nullptr ? 0 : of->balance;
}

std::vector<consumer_id> stream_core::take_short_of_demand() {
  return std::exchange(short_of_demand_, {});
}

// ---- handing out

bool stream_core::hand_out() {
  slab_holds holds;
  bool more = false;
  const auto count = cursors_.size();
  for (std::size_t i = 0; i < count; ++i)
    more = hand_out_to(cursors_.begin()[static_cast<std::ptrdiff_t>((turn_ + i) % count)], holds) ||
           more;
  ++turn_;
  return more;
}

bool stream_core::hand_out_to(stream_cursor& reader, slab_holds& holds) {
  if (reader.next >= committed_ || reader.waits_for.segment != 0) return false;
  std::size_t left = turn_messages;
  while (left > 0 && reader.next < committed_) {
    if (!reader.may_take()) {
      if (reader.lacks_only_demand() && !std::exchange(reader.told_demand, true))
        short_of_demand_.push_back(reader.id);
      return false;
    }
    const auto chunk = chunk_for(reader);
    if (chunk == nullptr) {
      want(reader);
      return false;
    }
    hand_out_of(*chunk, reader, holds, left);
  }
  return left == 0 && reader.next < committed_ && reader.may_take();
}

const stream_chunk* stream_core::chunk_for(stream_cursor& reader) {
  if (reader.seeks_time_ms) return nullptr;
  if (!tail_.empty() && reader.next >= tail_.front().first) {
    reader.stopped = {};
    return find_chunk(tail_, reader.next);
  }
  const auto at = std::ranges::find_if(
      windows_, [&](const window& w) { return w.from <= reader.next && reader.next < w.end; });
  if (at == windows_.end()) return nullptr;
  reader.stopped = {};
  windows_.splice(windows_.begin(), windows_, at);
  return find_chunk(at->chunks, reader.next);
}

void stream_core::hand_out_of(const stream_chunk& chunk, stream_cursor& reader, slab_holds& holds,
                              std::size_t& left) {
  // Behind messages that were lost a chunk may begin later.
  reader.next = std::max(reader.next, chunk.first);
  lease_batch open{reader.id};
  for (; left > 0 && reader.next < chunk.end() && reader.may_take(); ++reader.next, --left) {
    const auto& next = chunk.messages[static_cast<std::size_t>(reader.next - chunk.first)];
    if (!reader.reading.filter.empty() && !reader.reading.wants(filter_value_of(next))) continue;
    const auto footprint = next.footprint();
    if (open.empty())
      open.reserve(std::min<std::size_t>(chunk.end() - reader.next, batch::max_messages));
    open.add({reader.next, next.fork_through(holds), 0, false}, footprint);
    reader.balance -= static_cast<std::int64_t>(footprint);
    --reader.demand;
    if (!reader.no_ack) {
      ++reader.unsettled;
      ++totals_.unsettled;
    }
    ++totals_.delivered;
    if (open.full()) outbox_.push_back(std::exchange(open, lease_batch{reader.id}));
  }
  if (!open.empty()) outbox_.push_back(std::move(open));
}

std::optional<std::string_view> stream_core::filter_value_of(const message& of) {
  const auto value =
      amqp091::decode_checked_properties(of.properties()).header("x-stream-filter-value");
  return value ? value->text() : std::nullopt;
}

void stream_core::trim() {
  trim_tail();
  trim_cache();
}

void stream_core::trim_tail() {
  const auto limit = std::min(limits_.tail, allowed_);
  auto needed = committed_;
  if (!tail_.empty())
    for (const auto& reader : cursors_)
      if (reader.next >= tail_.front().first) needed = std::min(needed, reader.next);
  while (!tail_.empty() && tail_.front().end() <= committed_ &&
         (tail_bytes_ > limit || tail_.front().end() <= needed)) {
    tail_bytes_ -= tail_.front().bytes;
    tail_.pop_front();
  }
}

/// What was read back goes when all have passed it. Where the slowest stands, the end of it says
/// where to read on.
void stream_core::trim_cache() {
  if (windows_.empty()) return;
  auto slowest = committed_;
  for (const auto& reader : cursors_) slowest = std::min(slowest, reader.next);
  const bool all_have_caught_up = slowest == committed_;
  std::erase_if(windows_, [&](const window& w) {
    if (w.end > slowest || (w.end == slowest && !all_have_caught_up)) return false;
    cached_bytes_ -= w.bytes;
    return true;
  });
  const auto limit = std::min(limits_.cache, allowed_);
  for (; cached_bytes_ > limit && windows_.size() > 1; windows_.pop_back())
    cached_bytes_ -= windows_.back().bytes;
}

// ---- from the disk

std::optional<stream_log::stretch> stream_core::where_to_read(const stream_cursor& reader) const {
  if (reader.stopped.segment != 0) return segments_.find(reader.next, reader.stopped);
  if (reader.seeks_time_ms) return segments_.find_time(*reader.seeks_time_ms);
  const auto before = std::ranges::find(windows_, reader.next, &window::end);
  return segments_.find(reader.next, before != windows_.end() ? before->stopped : journal::place{});
}

void stream_core::want(stream_cursor& reader) {
  if (reader.next < first()) {
    reader.next = first();  // what lay before was retired
    reader.stopped = {};
  }
  const auto where = where_to_read(reader);
  if (!where) {
    // All that is there is older; or it is written anew, and this comes again.
    if (reader.seeks_time_ms) reader.next = segments_.next_offset();
    reader.seeks_time_ms.reset();
    return;
  }
  const bool under_way = std::ranges::any_of(reading_, [&](const stream_read& r) {
    return r.where.from == where->from && r.offset <= reader.next &&
           r.since_ms == reader.seeks_time_ms;
  });
  if (!under_way && reading_.size() >= limits_.reads) return;
  reader.waits_for = where->from;
  if (under_way) return;
  reading_.push_back(
      {*where, reader.next, reader.seeks_time_ms, committed_, where->next <= synced_});
  wanted_.push_back(reading_.back());
}

std::vector<stream_read> stream_core::take_wanted() { return std::exchange(wanted_, {}); }

void stream_core::go_on(stream_cursor& reader, const stream_read& asked,
                        const stream_found& found) {
  reader.stopped = {};
  if (!found.chunks.empty()) {
    if (asked.since_ms) reader.next = found.chunks.front().first;
    reader.seeks_time_ms.reset();
    return;
  }
  if (!found.retired) {
    reader.next = std::max(reader.next, found.offset);
    reader.stopped = found.stopped;
  } else if (first() > reader.next) {
    reader.next = first();
  } else if (asked.synced) {
    reader.next = std::max(reader.next, asked.where.next);  // somebody has removed its file
  }
  if (reader.next >= asked.before) reader.seeks_time_ms.reset();
}

void stream_core::loaded(const stream_read& asked, stream_found&& found) {
  std::erase_if(reading_, [&](const stream_read& r) {
    return r.where.from == asked.where.from && r.offset == asked.offset &&
           r.since_ms == asked.since_ms;
  });
  for (auto& reader : cursors_) {
    const auto waited_for = std::exchange(reader.waits_for, {});
    if (waited_for.segment != 0 && waited_for == asked.where.from &&
        reader.seeks_time_ms == asked.since_ms && reader.next >= asked.offset)
      go_on(reader, asked, found);
  }
  if (found.chunks.empty()) return;
  read_.insert(asked.where.from.segment);
  window made;
  made.from = asked.since_ms ? found.chunks.front().first : asked.offset;
  made.end = found.chunks.back().end();
  made.stopped = found.stopped;
  for (const auto& chunk : found.chunks) made.bytes += chunk.bytes;
  made.chunks = std::move(found.chunks);
  cached_bytes_ += made.bytes;
  windows_.push_front(std::move(made));
}

// ---- space

std::vector<journal::reference_drop> stream_core::take_drops(std::uint64_t now_ms) {
  const auto oldest =
      limits_.max_age_ms ? now_ms - std::min(now_ms, *limits_.max_age_ms) : std::uint64_t{0};
  auto gone = segments_.retire(limits_.max_bytes.value_or(UINT64_MAX), oldest);
  for (auto& each : std::exchange(drops_, {})) gone.push_back(each);
  return gone;
}

std::uint32_t stream_core::oldest_segment() const {
  const auto at = segments_.find(first());
  return at ? at->from.segment : 0;
}

std::vector<std::uint32_t> stream_core::take_left_behind() {
  std::vector<std::uint32_t> left;
  if (read_.empty()) return left;
  auto slowest = committed_;
  for (const auto& reader : cursors_) slowest = std::min(slowest, reader.next);
  // Of what everybody has read, the last one is in the segment that is still written, or needed.
  const auto needed = segments_.find(std::min(slowest, segments_.last_chunk()));
  const auto end = needed ? read_.lower_bound(needed->from.segment) : read_.begin();
  left.assign(read_.begin(), end);
  read_.erase(read_.begin(), end);
  return left;
}

// ---- looking

std::uint64_t stream_core::first() const noexcept {
  return std::min(segments_.first_offset(), committed_);
}

stream_statistics stream_core::statistics() const noexcept {
  auto figures = totals_;
  figures.messages = committed_ - first();
  figures.bytes = segments_.bytes();
  figures.readers = cursors_.size();
  return figures;
}

}  // namespace baton
