#pragma once

#include <cstdint>
#include <optional>

#include "actors/interfaces.hpp"
#include "actors/runtime/actor_of.hpp"

namespace baton {

/// Whoever a consumer delivers to, on the consumer's own loop: an AMQP channel or an in-process
/// end. The consumer calls it directly; it must tell the consumer `sink_gone()` before it goes.
class delivery_sink {
public:
  virtual void on_deliver(consumer_id to, lease_batch leases) = 0;
  /// Published to the name of a direct reply-to consumer.
  virtual void on_reply(consumer_id to, batch messages) = 0;
  virtual void on_subscribed(consumer_id which, std::optional<refusal> refused) = 0;
  virtual void on_unsubscribed(consumer_id which) = 0;
  virtual void on_queue_gone(consumer_id which) = 0;
  /// Of a sink that limits its consumers' demand.
  virtual void on_short_of_demand(consumer_id) {}
  virtual void on_demand_given_back(consumer_id, std::uint32_t) {}

protected:
  ~delivery_sink() = default;
};

/// One subscription. It lives on its connection's loop, takes leases from the queue, hands them to
/// its sink, and gives the queue credit back as bytes leave through the socket.
class consumer_actor final : public actor_of<consumer_actor, consumer_ref> {
public:
  /// `queue`: empty for the consumer of direct replies, which has none.
  consumer_actor(caf::actor_config& config, consumer_id id, queue_ref queue, delivery_sink& sink,
                 std::uint64_t byte_credit)
      : actor_of{config}, id_{id}, queue_{std::move(queue)}, sink_{&sink}, window_{byte_credit} {}

  void handle(deliver& request);
  void handle(publish& request);
  void handle(subscribed& notice);
  void handle(unsubscribed&);
  void handle(short_of_demand&);
  void handle(demand_given_back& notice);
  void handle(queue_gone&);

  // For the sink, on the same loop.

  /// `bytes` that were delivered have left. Credit goes back when half of the window has gathered:
  /// one message to the queue for many deliveries.
  void left(std::uint64_t bytes) {
    left_ += bytes;
    if (left_ * 2 >= window_) give_back();
  }
  /// Bytes that have left, whose credit has not gone back yet.
  std::uint64_t kept_back() const noexcept { return left_; }
  const queue_ref& queue() const noexcept { return queue_; }

  /// The sink is going, and has told the queue: nothing is delivered any more; the actor ends.
  void sink_gone();

private:
  void give_back();

  consumer_id id_;
  queue_ref queue_;
  delivery_sink* sink_;
  std::uint64_t window_;
  std::uint64_t left_ = 0;
};

}  // namespace baton
