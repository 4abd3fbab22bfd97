#pragma once

#include <chrono>
#include <cstdint>

namespace baton::amqp091 {

/// Says when to send a heartbeat and when the other end is to be given up (AMQP 0-9-1 §4.2.7). It
/// has no clock: whoever owns the socket counts octets and calls `tick` about twice an interval.
/// Any octets count, in both directions, not only heartbeat frames.
class heartbeat_monitor {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// What `tick` asks for.
  struct verdict {
    bool send = false;    ///< nothing was sent for half an interval: send a heartbeat frame
    bool silent = false;  ///< nothing was received for two intervals: close the socket
  };

  void received(std::size_t octets) noexcept { received_ += octets; }
  void sent(std::size_t octets) noexcept { sent_ += octets; }

  /// Octets counted since the beginning, for statistics.
  std::uint64_t octets_received() const noexcept { return received_; }
  std::uint64_t octets_sent() const noexcept { return sent_; }

  /// 0: no heartbeats in either direction.
  void set_interval(std::chrono::seconds interval) noexcept { interval_ = interval; }
  std::chrono::seconds interval() const noexcept { return interval_; }

  /// How long until the next `tick`; 0 when heartbeats are off.
  std::chrono::milliseconds tick_interval() const noexcept {
    return std::chrono::milliseconds{interval_} / 2;
  }

  /// The first call begins both periods.
  verdict tick(time_point now) noexcept {
    if (interval_.count() == 0) return {};
    if (!started_ || received_ != received_before_) last_received_ = now;
    if (!started_ || sent_ != sent_before_) last_sent_ = now;
    started_ = true;
    received_before_ = received_;
    sent_before_ = sent_;
    return {.send = now - last_sent_ >= interval_ / 2,
            .silent = now - last_received_ >= interval_ * 2};
  }

  /// For a pause in which we do not read: silence counts from here.
  void forgive(time_point now) noexcept { last_received_ = now; }

private:
  std::chrono::seconds interval_{0};
  std::uint64_t received_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_before_ = 0;
  std::uint64_t sent_before_ = 0;
  time_point last_received_;
  time_point last_sent_;
  bool started_ = false;
};

}  // namespace baton::amqp091
