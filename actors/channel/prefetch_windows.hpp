#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "config/ids.hpp"

namespace baton {

/// A change of what a queue may hand to a consumer.
struct demand_change {
  enum class kind : std::uint8_t {
    more,   ///< `messages` more
    offer,  ///< as many more, to be used now: all that it cannot use then is given back, and the
            ///< queue says how much it was; an offer of 0 is a recall
    any,    ///< any number, from now on
    none,   ///< no more for now
  };

  consumer_id consumer;
  kind how = kind::more;
  std::uint32_t messages = 0;

  friend bool operator==(const demand_change&, const demand_change&) = default;
};

/// The prefetch windows of one AMQP channel as RabbitMQ means them: basic.qos with global=false is
/// the window of each consumer started later, which its queue keeps to; with global=true it is one
/// window that all consumers of the channel share, at once and beside their own.
///
/// The shared window spans queues that do not know of each other, so it is dealt out to them as
/// demand, and never more than there is: what a queue hands out can always be sent, and order is
/// the queue's own. A queue that has messages and no demand says so (`short_of_demand`); where the
/// window lies idle with another, it is recalled from there. `limit` is a shared window that every
/// channel has.
class prefetch_windows {
public:
  using changes = std::vector<demand_change>;

  /// `limit`: the most that the shared window can be, above 0.
  explicit prefetch_windows(std::uint32_t limit) : limit_{limit}, shared_{limit} {}

  /// basic.qos. 0 removes a window. The queues are to be told what is appended to `tell`, here and
  /// below. A smaller shared window holds from when it is no more `narrowing()`.
  void set(std::uint32_t messages, bool global, changes& tell);
  bool narrowing() const noexcept { return issued_ > 0 && unsettled_ + issued_ > shared_; }

  /// The window of a consumer that starts now; 0: unlimited.
  std::uint32_t for_new_consumer() const noexcept { return per_consumer_; }
  /// Whether the client has set a window for consumers that start now.
  bool is_limited() const noexcept { return per_consumer_ > 0 || shared_ < limit_; }
  /// Demand that a consumer starts with; absent: any number.
  std::optional<std::uint32_t> add(consumer_id consumer, bool no_ack);
  /// It has ended, and nothing that it was handed is on its way any more.
  void remove(consumer_id consumer, changes& tell);

  /// `leases` have arrived for a consumer. Those of a no-ack consumer do not count; it only waits
  /// while the shared window is full.
  void took(consumer_id consumer, std::uint32_t leases, changes& tell);
  /// Deliveries of consumers (running or cancelled, but not of basic.get or no-ack) have been
  /// settled.
  void settled(std::uint32_t deliveries, changes& tell);

  /// A queue has messages for this consumer, and no demand.
  void short_of_demand(consumer_id consumer, changes& tell);
  /// The answer to an offer: `unused` of what the consumer had.
  void given_back(consumer_id consumer, std::uint32_t unused, changes& tell);

  /// Deliveries that count in the shared window.
  std::uint64_t unsettled() const noexcept { return unsettled_; }

private:
  struct member {
    consumer_id consumer;
    std::uint32_t issued = 0;  // demand that has not come back as leases
    bool answering = false;    // its queue is to answer an offer
    bool waiting = false;      // in waiting_
  };

  /// What is neither out nor dealt.
  std::uint32_t room() const noexcept {
    const auto used = unsettled_ + issued_;
    return used < shared_ ? shared_ - static_cast<std::uint32_t>(used) : 0;
  }
  std::uint32_t portion() const noexcept;
  member* find(consumer_id consumer) noexcept;
  void top_up(member& m, changes& tell);
  void give(member& m, std::uint32_t messages, changes& tell);
  void take_back(member& m, std::uint32_t messages);
  void offer(member& m, std::uint32_t messages, changes& tell);
  void recall(member& m, changes& tell);
  void deal(changes& tell);
  void recall_from_the_idle(changes& tell);
  void hold_or_release_no_ack(changes& tell);

  std::uint32_t limit_;
  std::uint32_t shared_;
  std::uint32_t per_consumer_ = 0;
  std::uint64_t unsettled_ = 0;
  std::uint64_t issued_ = 0;         // of all members
  std::uint32_t offers_ = 0;         // that are not answered
  std::vector<member> members_;      // sorted; those with acknowledgements
  std::deque<consumer_id> waiting_;  // short of demand, the first first
  consumer_id last_{};               // who has taken something last
  std::vector<consumer_id> no_ack_;
  bool no_ack_held_ = false;
};

}  // namespace baton
