#include "cli/perf/producer.hpp"

#include <algorithm>
#include <bit>

#include "config/check.hpp"

namespace baton::perf {

publish_block::publish_block(const shape& form) : stamped_{form.body_bytes >= 8} {
  BATON_CHECK(!form.keys.empty());
  do {
    for (const auto& key : form.keys) {
      body_starts_.push_back(
          wire::publish(bytes_, {form.channel, form.exchange, key, form.mandatory, form.persistent},
                        form.body_bytes, form.frame_max));
      message_ends_.push_back(bytes_.size());
    }
  } while (bytes_.size() + bytes_.size() / message_ends_.size() <= form.target_bytes);
}

byte_view publish_block::bytes(std::size_t first, std::size_t count) const noexcept {
  const std::size_t begin = first == 0 ? 0 : message_ends_[first - 1];
  return as_bytes(bytes_).subspan(begin, message_ends_[first + count - 1] - begin);
}

confirm_window::confirm_window(std::size_t limit)
    : limit_{limit}, mask_{std::bit_ceil(limit) - 1}, sent_at_(std::bit_ceil(limit), settled) {}

producer::producer(const publish_block::shape& form, const limits& bounds)
    : block_{form}, bounds_{bounds} {
  if (bounds.confirm_window) window_.emplace(*bounds.confirm_window);
}

void producer::start(std::optional<schedule> when) noexcept {
  schedule_ = when;
  sent_ = 0;
  running_ = true;
}

std::size_t producer::allowed(std::int64_t now_ns) const noexcept {
  if (!running_) return 0;
  std::uint64_t most = block_.messages() - cursor_;
  if (window_) most = std::min<std::uint64_t>(most, window_->room());
  if (bounds_.count) most = std::min(most, *bounds_.count - sent_);
  if (schedule_) {
    const auto due = schedule_->due_by(now_ns);
    most = std::min(most, due > sent_ ? due - sent_ : 0);
  }
  return static_cast<std::size_t>(most);
}

byte_view producer::next(std::int64_t now_ns, tally& counts) noexcept {
  const std::size_t count = allowed(now_ns);
  if (count == 0) return {};
  const std::size_t first = cursor_;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t due = schedule_ ? schedule_->due_at(sent_ + i) : now_ns;
    block_.stamp(first + i, due);
    if (schedule_) counts.send_lag.record(static_cast<std::uint64_t>(now_ns - due));
    if (window_) window_->sent(due);
  }
  cursor_ = (first + count) % block_.messages();
  sent_ += count;
  counts.published += count;
  return block_.bytes(first, count);
}

void producer::confirmed(std::uint64_t tag, bool multiple, bool good, std::int64_t now_ns,
                         tally& counts) noexcept {
  if (!window_) return;
  window_->settle(tag, multiple, [&](std::int64_t sent_at) {
    ++(good ? counts.confirmed : counts.nacked);
    counts.confirm_latency.record(
        static_cast<std::uint64_t>(std::max<std::int64_t>(now_ns - sent_at, 0)));
  });
}

}  // namespace baton::perf
