#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/presence.hpp"

namespace baton::simulation {

/// What AMQP queues owe their clients, as plain as it can be told: each message, in each queue that
/// it was routed to, is a copy that is ready, held by one client, or done with. Clients tell what
/// they do *when they ask for it* and what they see *when they see it*, so the model is ahead of
/// the node wherever a client acts and behind it wherever the node does; what it calls broken is
/// broken however long frames were on their way.
///
/// A message goes to one queue, by its name, or to all that are bound to the fanout exchange; or to
/// nobody, by way of an exchange of its publisher's own that is not bound to it.
class model {
public:
  using message_id = std::uint64_t;
  /// AMQP channels are those who publish (their messages keep their order in each queue) and hold.
  using channel_id = std::uint32_t;

  static constexpr std::size_t to_all = ~std::size_t{0};
  static constexpr std::size_t to_nobody = to_all - 1;

  struct message {
    channel_id publisher = 0;
    std::uint32_t size = 0;
    std::size_t to = to_all;  // a queue, or all that are bound, or nobody
    bool mandatory = false;
    bool persistent = false;
    std::uint32_t exchange = 0;  // of its publisher's own; 0: none
    std::uint32_t life = 0;      // of the node, when it was published
    enum class place : std::uint8_t {
      under_way,
      arrived,    // in its queues, or known to have none
      withdrawn,  // never to be in any
    } where = place::under_way;
    bool taken = false;  // the node has it, and does not lose it while it lives
    bool returned = false;
  };
  /// How well the disk has what happened to a copy, as far as anybody can tell.
  enum class depth : std::uint8_t {
    nowhere,
    written,  // it survives a kill
    safe,     // and that the power goes
  };
  /// How a node's life ends.
  enum class ending : std::uint8_t { stopped, killed, powerless };

  /// What a queue is declared with, and what it promises.
  struct queue_kind {
    bool durable = true;
    bool limited = false;  // whether it has a copy that nobody holds is never known
    bool refuses = false;  // what is too much, instead of dropping the oldest
    bool syncs = true;     // before it confirms
  };
  enum class copy_state : std::uint8_t {
    none,     // not routed to this queue
    ready,    // to be delivered, when the node has it
    held,     // a client has it and has not settled it
    done,     // never to be seen again
    unknown,  // whether it is still to come nobody can know: either is right
  };
  /// How a delivery came.
  enum class delivery : std::uint8_t {
    held,
    no_ack,
    /// On its way while the client asked for everything of its channel to be taken back: another
    /// client may have it already.
    overtaken,
  };
  /// When a client asked for something of a queue.
  struct moment {
    presence::moment removal = 0;
    std::uint64_t purge = 0;  // all up to here had happened
  };
  /// What clients do to queues.
  enum class change : std::uint8_t { declare, bind, unbind, remove, purge };
  struct asked_change {
    change what = change::declare;
    std::size_t queue = 0;
    std::uint64_t number = 0;  // of removals, or purges
    presence::request of_queue{};
    presence::request of_binding{};
  };

  /// `broken` is told of each invariant that does not hold; `may_have_failed` says whether the node
  /// may have closed this AMQP channel (0: any), though its client has not heard of it.
  model(const std::vector<queue_kind>& queues, std::function<void(std::string)> broken,
        std::function<bool(channel_id)> may_have_failed)
      : broken_{std::move(broken)}, may_have_failed_{std::move(may_have_failed)} {
    for (const auto& kind : queues) queues_.emplace_back().kind = kind;
  }

  std::size_t queues() const noexcept { return queues_.size(); }
  std::uint64_t messages() const noexcept { return messages_.size(); }
  const message& operator[](message_id id) const { return messages_[id]; }

  // ---- messages

  /// A client publishes to one queue, or to all that are bound, or to nobody.
  message_id publish(message made);
  /// The node has it, from now on, or will have it without fail.
  void take(message_id id) { messages_[id].taken = true; }
  /// The node says that it has taken it over, and stored it as its queues promise.
  void confirm(message_id id);
  /// The node says that a queue does not take it; others have.
  void refuse(message_id id);
  /// The node says that it has no queue for it.
  void give_return(message_id id);
  /// The publish is lost, or may be, with its channel.
  void doubt_publish(message_id id);
  /// Whoever published it takes it back: tx.rollback.
  void withdraw(message_id id);

  /// A client sees a copy on this channel, by what it asked for `since` then. False where it cannot
  /// be this channel's any more.
  bool deliver(message_id id, std::size_t queue, bool redelivered, delivery how, moment since,
               channel_id to);
  /// Whoever holds a copy is done with it, or wants it back in its queue.
  void settle(message_id id, std::size_t queue, channel_id by);
  enum class when : std::uint8_t { now, at_some_time };
  void give_back(message_id id, std::size_t queue, moment since, channel_id by,
                 when then = when::now);
  /// That settlement may have been lost on its way.
  void doubt_settlement(message_id id, std::size_t queue, channel_id by);
  /// The node has read that settlement.
  void note_read(message_id id, std::size_t queue, channel_id by);
  /// A copy that was in its queue when this life began, and that nobody can have had since.
  bool is_untouched(message_id id, std::size_t queue) const;
  /// The node has given what this channel holds to others: it must have closed it.
  bool must_have_failed(channel_id channel) const { return failed_.contains(channel); }

  /// Deliveries of this queue may have been lost on their way to a client that had to settle them.
  void may_redeliver(std::size_t queue) { queues_[queue].redelivers = true; }
  /// The same, of one that had not: gone for good.
  void may_lose(std::size_t queue) { queues_[queue].loses = true; }

  // ---- the node

  /// Nothing is under way in the node, and its disk has all that the node knows `as` well as this.
  void come_to_rest(depth as);
  /// The node is gone, and another one is there with what its disk has. Clients have given up what
  /// they had asked for. `may_be_closed`: whether its log
  /// says that it was stopped in order nobody knows.
  void restart(ending how, bool may_be_closed);

  /// Copies that the node must have and that nobody has settled; `what` is told of each.
  std::size_t missing(const std::function<void(std::string)>& what = {}) const;

  // ---- queues

  asked_change ask(change what, std::size_t queue);
  void answer(const asked_change& asked);
  /// It will not happen.
  void give_up(const asked_change& asked);

  bool is_there(std::size_t queue) const noexcept { return queues_[queue].name.is_there(); }
  bool is_bound(std::size_t queue) const noexcept { return queues_[queue].binding.is_there(); }
  moment now(std::size_t queue) const noexcept;
  /// Whether one queue of this name exists and has done so ever since.
  bool is_sure_since(std::size_t queue, moment then) const noexcept {
    return queues_[queue].name.is_sure_since(then.removal);
  }

private:
  enum class redelivery : std::uint8_t { by_history, allowed, certain };
  struct copy {
    copy_state now = copy_state::none;
    bool seen = false;
    bool unread = false;  // it was settled, which the node may not have read yet
    depth stored = depth::nowhere;
    depth ended = depth::nowhere;  // that it is done
    redelivery mark = redelivery::by_history;
    std::uint32_t seen_in = 0;  // the last life
    channel_id by = 0;          // who holds it, or was the last to
    std::uint64_t removal = 0;  // the first that it was in the queue before; 0: none
    std::uint64_t purge = 0;
  };
  struct known_queue {
    presence name{true};
    presence binding{true};
    std::uint64_t purges = 0;
    std::uint64_t open_purges = 0;
    bool redelivers = false;
    bool loses = false;
    queue_kind kind{};
  };

  copy& at(message_id id, std::size_t queue) { return copies_[id * queues_.size() + queue]; }
  const presence& way_to(const message& m, std::size_t queue) const;
  copy_state routed(const message& m, std::size_t queue) const;
  bool is_stored(const message& m, std::size_t queue) const {
    return m.persistent && queues_[queue].kind.durable;
  }
  bool must_have(const message& m, const copy& c) const {
    return m.taken || c.stored != depth::nowhere;
  }
  void outlive(const message& m, std::size_t queue, copy& c, ending how, bool may_be_closed) const;
  template <class Function>
  void for_each_copy(std::size_t queue, Function&& function);

  std::vector<message> messages_;
  std::vector<copy> copies_;
  std::vector<known_queue> queues_;
  std::set<channel_id> failed_;
  std::uint32_t life_ = 1;
  std::function<void(std::string)> broken_;
  std::function<bool(channel_id)> may_have_failed_;
};

}  // namespace baton::simulation
