#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/ids.hpp"

namespace baton {

/// A change of what a queue may hand to a consumer: `queue_core::demand` or `set_demand`.
struct demand_change {
  consumer_id consumer;
  bool set = false;                       ///< replaces what it had; else adds to it
  std::optional<std::uint32_t> messages;  ///< absent: any number (only where `set`)

  friend bool operator==(const demand_change&, const demand_change&) = default;
};

/// The prefetch windows of one AMQP channel as RabbitMQ means them: basic.qos with global=false is
/// the window of each consumer started later, which its queue keeps to; with global=true it is one
/// window that all consumers of the channel share, at once and beside their own.
///
/// The shared one spans queues that do not know of each other, so each consumer is given as much
/// demand as the window has left, and what comes too many goes back undelivered (`admit`): the
/// window is never exceeded, and nobody starves while another is idle.
class prefetch_windows {
public:
  using changes = std::vector<demand_change>;

  /// basic.qos. 0 removes a window. The queues are to be told what is appended to `tell`.
  void set(std::uint32_t messages, bool global, changes& tell);

  /// The window of a consumer that starts now; 0: unlimited.
  std::uint32_t for_new_consumer() const noexcept { return per_consumer_; }
  /// Demand that a consumer starts with; absent: any number.
  std::optional<std::uint32_t> add(consumer_id consumer, bool no_ack);
  void remove(consumer_id consumer);

  /// `leases` have arrived for a consumer: how many of them, from the first on, may be sent; the
  /// rest goes back undelivered. Those of a no-ack consumer are nobody's any more: all may be sent.
  std::uint32_t admit(consumer_id consumer, std::uint32_t leases, changes& tell);

  /// Deliveries of consumers (running or cancelled, but not of basic.get or no-ack) have been
  /// settled. Gives the consumers new demand.
  void settled(std::uint32_t deliveries, changes& tell);

  /// Deliveries that count in the shared window.
  std::uint64_t unsettled() const noexcept { return unsettled_; }

private:
  struct member {
    consumer_id consumer;
    bool no_ack = false;
    std::uint32_t issued = 0;  // demand that its queue has not used; of no-ack ones 0 or `any`
  };

  std::uint32_t room() const noexcept {
    return unsettled_ < shared_ ? shared_ - static_cast<std::uint32_t>(unsettled_) : 0;
  }
  std::vector<member>::iterator find(consumer_id consumer);
  void adjust(member& m, changes& tell) const;

  std::uint32_t per_consumer_ = 0;
  std::uint32_t shared_ = 0;
  std::uint64_t unsettled_ = 0;
  std::vector<member> members_;  // sorted
};

}  // namespace baton
