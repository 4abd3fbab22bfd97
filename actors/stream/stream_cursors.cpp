#include "actors/stream/stream_cursors.hpp"

#include <algorithm>
#include <limits>

#include "config/check.hpp"

namespace baton {

stream_cursor* stream_cursors::find(consumer_id id) noexcept {
  const auto at = std::ranges::lower_bound(all_, id, {}, &stream_cursor::id);
  return at != all_.end() && at->id == id ? &*at : nullptr;
}

const stream_cursor* stream_cursors::find(consumer_id id) const noexcept {
  const auto at = std::ranges::lower_bound(all_, id, {}, &stream_cursor::id);
  return at != all_.end() && at->id == id ? &*at : nullptr;
}

stream_cursor& stream_cursors::add(consumer_id id, const consumer_options& options) {
  const auto at = std::ranges::lower_bound(all_, id, {}, &stream_cursor::id);
  BATON_CHECK(at == all_.end() || at->id != id);
  auto& made = *all_.insert(at, stream_cursor{});
  made.id = id;
  made.balance = static_cast<std::int64_t>(options.byte_credit);
  made.demand = options.demand ? *options.demand : 2 * stream_cursor::unlimited;
  made.prefetch = options.no_ack || options.prefetch == 0
                      ? std::numeric_limits<std::uint32_t>::max()
                      : options.prefetch;
  made.no_ack = options.no_ack;
  made.exclusive = options.exclusive;
  made.reading = options.reading;
  exclusive_ = exclusive_ || options.exclusive;
  return made;
}

void stream_cursors::remove(consumer_id id) {
  const auto* gone = find(id);
  if (gone == nullptr) return;
  if (gone->exclusive) exclusive_ = false;  // it was the only one
  all_.erase(all_.begin() + (gone - all_.data()));
}

}  // namespace baton
