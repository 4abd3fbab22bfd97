#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/perf/schedule.hpp"
#include "cli/perf/tally.hpp"
#include "cli/perf/wire.hpp"

namespace baton::perf {

/// Ready-made frames of many messages side by side, sent again and again: publishing costs one
/// 8-byte stamp a message and a share of a write.
class publish_block {
public:
  struct shape {
    std::uint16_t channel = 1;
    std::string exchange;
    std::vector<std::string> keys = {""};  // taken in turns
    bool mandatory = false;
    bool persistent = false;
    std::size_t body_bytes = 0;
    std::size_t frame_max = 131072;
    std::size_t target_bytes = 64 * 1024;  // of the whole block; at least one message for each key
  };
  explicit publish_block(const shape& form);

  std::size_t messages() const noexcept { return message_ends_.size(); }
  /// The frames of messages [first, first + count).
  byte_view bytes(std::size_t first, std::size_t count) const noexcept;
  /// Puts a time at the beginning of that message's body, if it has 8 bytes.
  void stamp(std::size_t message, std::int64_t time_ns) noexcept {
    if (stamped_) std::memcpy(bytes_.data() + body_starts_[message], &time_ns, sizeof time_ns);
  }

private:
  std::string bytes_;
  std::vector<std::size_t> message_ends_;
  std::vector<std::size_t> body_starts_;
  bool stamped_;
};

/// The publishes of one AMQP channel in confirm mode that wait for their confirm: at most `limit`
/// from the oldest unsettled one on.
class confirm_window {
public:
  explicit confirm_window(std::size_t limit);

  std::size_t room() const noexcept { return limit_ - static_cast<std::size_t>(next_ - oldest_); }
  /// Needs room.
  void sent(std::int64_t now_ns) noexcept { sent_at_[next_++ & mask_] = now_ns; }
  /// Calls `on_settled(sent_at_ns)` for each publish that this ack or nack settles.
  template <class OnSettled>
  void settle(std::uint64_t tag, bool multiple, OnSettled&& on_settled) {
    if (tag >= next_) return;
    for (std::uint64_t n = multiple ? oldest_ : tag; n <= tag; ++n) {
      auto& sent_at = sent_at_[n & mask_];
      if (n < oldest_ || sent_at == settled) continue;
      on_settled(sent_at);
      sent_at = settled;
    }
    while (oldest_ < next_ && sent_at_[oldest_ & mask_] == settled) ++oldest_;
  }

private:
  static constexpr std::int64_t settled = INT64_MIN;

  std::size_t limit_;
  std::uint64_t mask_;
  std::uint64_t oldest_ = 1;  // confirms count from 1
  std::uint64_t next_ = 1;
  std::vector<std::int64_t> sent_at_;
};

/// One publisher, without its socket: decides how many messages may leave now, and which bytes.
class producer {
public:
  struct limits {
    std::optional<std::size_t> confirm_window;
    std::optional<std::uint64_t> count;  // publish this many, then no more
  };
  producer(const publish_block::shape& form, const limits& bounds);

  /// Begins to publish: at the times of `when`, or as fast as the broker takes it.
  void start(std::optional<schedule> when) noexcept;
  void stop() noexcept { running_ = false; }
  /// When the next message is due; INT64_MAX: never, or only after a confirm.
  std::int64_t next_due() const noexcept {
    const bool waits = finished() || (window_ && window_->room() == 0);
    return running_ && schedule_ && !waits ? schedule_->due_at(sent_) : INT64_MAX;
  }
  bool finished() const noexcept { return bounds_.count && sent_ >= *bounds_.count; }

  /// The bytes of the messages to write now, counted as published; empty when there is none. The
  /// view is valid, and must have been written, before the next call.
  byte_view next(std::int64_t now_ns, tally& counts) noexcept;
  /// A basic.ack or basic.nack of the broker.
  void confirmed(std::uint64_t tag, bool multiple, bool good, std::int64_t now_ns,
                 tally& counts) noexcept;

private:
  std::size_t allowed(std::int64_t now_ns) const noexcept;

  publish_block block_;
  limits bounds_;
  std::optional<confirm_window> window_;
  std::optional<schedule> schedule_;
  bool running_ = false;
  std::size_t cursor_ = 0;  // next message of the block
  std::uint64_t sent_ = 0;
};

}  // namespace baton::perf
