#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/queue/consumer_options.hpp"
#include "actors/queue/lease.hpp"
#include "config/field_value.hpp"
#include "config/ids.hpp"
#include "config/result.hpp"
#include "storage/message.hpp"

namespace baton {

/// What became of a message that an in-process end published.
enum class publish_outcome : std::uint8_t {
  queued,       ///< it is on its way to at least one queue
  unroutable,   ///< no queue wants it: it is gone
  no_exchange,  ///< there is no such exchange, or it is internal: it is gone
};

/// The node's side of an in-process channel. All calls are made on the end's own loop, from inside
/// a call of its `local_end`. Definitions are made in the virtual host "/".
class local_link {
public:
  using answered = std::function<void(result<void>)>;

  // ---- definitions; the answer comes later, on the same loop

  virtual void declare_exchange(std::string name, std::string type, answered then) = 0;
  /// Transient and shared; arguments as in `queue.declare`.
  virtual void declare_queue(std::string name, field_table arguments, answered then) = 0;
  virtual void bind_queue(std::string queue, std::string exchange, std::string key,
                          answered then) = 0;

  // ---- publishing

  /// Copies the body into the batch under way. `properties`: in AMQP 0-9-1's encoding, or none.
  virtual message make(std::string_view exchange, std::string_view routing_key, byte_view body,
                       byte_view properties = {}) = 0;
  /// Routes a message by its exchange and routing key and hands it on by move, in a batch with its
  /// neighbours. Spends credit.
  virtual publish_outcome publish(message taken) = 0;
  /// Bytes that may be published before queues have taken over what is under way; publish while it
  /// is above zero, then wait for `local_end::on_credit`.
  virtual std::int64_t credit() const = 0;
  /// Publishes that queues have taken over, and of these the ones that a queue refused.
  virtual std::uint64_t accepted() const = 0;
  virtual std::uint64_t refused() const = 0;

  // ---- consuming

  /// Subscribes; deliveries come by `local_end::on_deliver`. An error says why not; a later refusal
  /// comes by `local_end::on_ended`.
  virtual result<consumer_id> consume(std::string_view queue, consumer_options options) = 0;
  /// Ends a lease. What has ended within one call goes to the queue together.
  virtual void settle(consumer_id consumer, sequence number, outcome how) = 0;
  /// Ends a subscription. What it has been handed and has not settled goes back to its queue.
  virtual void cancel(consumer_id consumer) = 0;

  /// Ends this end: leases go back to their queues. The `local_end` is destroyed soon after.
  virtual void detach() = 0;

protected:
  ~local_link() = default;
};

/// An in-process end of a channel to the node: what a C++ program derives to publish and consume by
/// move, without a socket. All calls come on the loop that it was attached to, one at a time: no
/// lock is needed, and nothing in them may block.
class local_end {
public:
  virtual ~local_end() = default;

  /// Once, before all others. `link` is valid until the end is destroyed.
  virtual void on_attached(local_link& link) = 0;
  /// Credit was used up and is there again.
  virtual void on_credit(local_link&) {}
  /// Messages, with their leases: settle each (unless the subscription is no-ack). Whoever keeps a
  /// message takes it out of the batch.
  virtual void on_deliver(local_link&, consumer_id, lease_batch) {}
  /// A subscription has ended, other than by `cancel`: the queue is gone, or has refused it.
  virtual void on_ended(local_link&, consumer_id, const std::string& why) {
    static_cast<void>(why);
  }
};

/// Reaches an attached end from any thread. To be gone before the node is.
class local_handle {
public:
  using work = std::function<void(local_link&, local_end&)>;

  virtual ~local_handle() = default;
  /// Calls `run` on the end's loop, soon and in the order of the posts; not at all if the end has
  /// gone by then.
  virtual void post(work run) = 0;
};

}  // namespace baton
