#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace baton::simulation {

/// What AMQP queues owe their clients, as plain as it can be told: each message, in each queue that
/// it was routed to, is a copy that is ready, held by one client, or done with. Clients tell what
/// they do *when they ask for it* and what they see *when they see it*, so the model is ahead of
/// the node wherever a client acts and behind it wherever the node does; what it calls broken is
/// broken however long frames were on their way.
class model {
public:
  using message_id = std::uint64_t;
  /// Publishers are AMQP channels: their messages keep their order in each queue.
  using publisher_id = std::uint32_t;

  struct message {
    publisher_id publisher = 0;
    std::uint32_t size = 0;
    bool certain = false;  // the node has it: confirmed, or its channel has ended in order
  };
  enum class copy_state : std::uint8_t {
    none,     // not routed to this queue
    ready,    // to be delivered, when the node has it
    held,     // a client has it and has not settled it
    done,     // never to be seen again
    unknown,  // whether it is done was lost with a connection: either is right
  };
  /// How a delivery came.
  enum class delivery : std::uint8_t {
    held,
    no_ack,
    /// On its way while the client asked for everything of its channel to be taken back: another
    /// client may have it already.
    overtaken,
  };

  /// `broken` is told of each invariant that does not hold.
  model(std::size_t queues, std::function<void(std::string)> broken)
      : queues_{queues}, flags_(queues), broken_{std::move(broken)} {}

  std::size_t queues() const noexcept { return queues_; }
  std::uint64_t messages() const noexcept { return messages_.size(); }
  const message& operator[](message_id id) const { return messages_[id]; }

  /// A client publishes to the queues in `mask`.
  message_id publish(publisher_id publisher, std::uint64_t mask, std::uint32_t size);
  /// The node has it, from now on.
  void make_certain(message_id id) { messages_[id].certain = true; }
  /// The publish is lost, or may be, with its connection.
  void doubt_publish(message_id id);
  /// Whoever published it takes it back: tx.rollback.
  void withdraw(message_id id);

  /// A client sees a copy. Gives false where something about it was broken.
  bool deliver(message_id id, std::size_t queue, bool redelivered, delivery how);
  /// A client says that it is done with a copy, or wants it back in its queue.
  void settle(message_id id, std::size_t queue) { at(id, queue).now = copy_state::done; }
  void give_back(message_id id, std::size_t queue) { at(id, queue).now = copy_state::ready; }
  /// That settlement may have been lost on its way.
  void doubt_settlement(message_id id, std::size_t queue);

  /// Deliveries of this queue may have been lost on their way to a client that had to settle them.
  void may_redeliver(std::size_t queue) { flags_[queue].redelivers = true; }
  /// The same, of one that had not: gone for good.
  void may_lose(std::size_t queue) { flags_[queue].loses = true; }

  bool has_seen(message_id id, std::size_t queue) const {
    return copies_[id * queues_ + queue].seen;
  }

  /// Copies that the node must have and that nobody has settled; `what` is told of each.
  std::size_t missing(const std::function<void(std::string)>& what = {}) const;

private:
  struct copy {
    copy_state now = copy_state::none;
    bool seen = false;
  };
  struct queue_flags {
    bool redelivers = false;
    bool loses = false;
  };

  copy& at(message_id id, std::size_t queue) { return copies_[id * queues_ + queue]; }

  std::size_t queues_;
  std::vector<message> messages_;
  std::vector<copy> copies_;
  std::vector<queue_flags> flags_;
  std::function<void(std::string)> broken_;
};

}  // namespace baton::simulation
