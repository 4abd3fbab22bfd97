#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/channel/channel_mode.hpp"
#include "actors/channel/confirm_tracker.hpp"
#include "actors/channel/prefetch_windows.hpp"
#include "actors/channel/settlement_groups.hpp"
#include "actors/channel/transaction.hpp"
#include "actors/channel/unsettled_table.hpp"
#include "actors/connection/context.hpp"

namespace baton {

/// One AMQP 0-9-1 channel: what its client publishes, consumes and declares, and the books about
/// it. Lives in its connection's actor and speaks to queues and to the topology through it.
///
/// A channel does one thing after the other: while it waits for an answer from an actor, what its
/// client sends meanwhile waits in the machine (`server_connection::hold_channel`), so everything
/// before an error takes effect and nothing after it.
class amqp_channel {
public:
  amqp_channel(connection_context& context, amqp091::channel_number number,
               std::uint32_t incarnation);
  amqp_channel(const amqp_channel&) = delete;
  amqp_channel& operator=(const amqp_channel&) = delete;
  ~amqp_channel();

  amqp091::channel_number number() const noexcept { return number_; }
  std::uint32_t incarnation() const noexcept { return incarnation_; }

  // ---- publishing (channel_publish.cpp)

  void publish(const amqp091::publish_view& publish);
  amqp091::admission content_begin(const amqp091::publish_view& publish, std::uint64_t body_size,
                                   bool may_wait);
  void content_piece(byte_view bytes);
  void content_end();
  void on(const amqp091::methods::confirm_select& select);
  void on(const amqp091::methods::tx_select& select);
  void on(const amqp091::methods::tx_commit& commit);
  void on(const amqp091::methods::tx_rollback& rollback);
  /// Queues have taken over, or refused, a run of this channel's publishes.
  void completed(const receipt_run& run);
  void refused(const std::vector<std::uint64_t>& publishes);

  // ---- consuming (channel_consume.cpp)

  void on(const amqp091::methods::basic_consume& consume);
  void on(const amqp091::methods::basic_cancel& cancel);
  void on(const amqp091::methods::basic_get& get);
  void on(const amqp091::methods::basic_qos& qos);
  void on(const amqp091::methods::basic_ack& ack);
  void on(const amqp091::methods::basic_nack& nack);
  void on(const amqp091::methods::basic_reject& reject);
  void on(const amqp091::methods::basic_recover& recover);
  void on(const amqp091::methods::basic_recover_async& recover);

  bool knows(consumer_id which) const noexcept { return find(which) != nullptr; }
  void deliver(consumer_id to, lease_batch leases);
  void deliver_reply(consumer_id to, batch messages);
  void subscribed(consumer_id which, std::optional<refusal> refused);
  void unsubscribed(consumer_id which);
  void queue_gone(consumer_id which);
  void short_of_demand(consumer_id which);
  void demand_given_back(consumer_id which, std::uint32_t unused);
  /// The socket has taken everything that was delivered: gives consumers' credit back.
  void output_written();

  // ---- definitions (channel_define.cpp)

  void on(const amqp091::methods::exchange_declare& declare);
  void on(const amqp091::methods::exchange_delete& remove);
  void on(const amqp091::methods::exchange_bind& bind);
  void on(const amqp091::methods::exchange_unbind& unbind);
  void on(const amqp091::methods::queue_declare& declare);
  void on(const amqp091::methods::queue_bind& bind);
  void on(const amqp091::methods::queue_unbind& unbind);
  void on(const amqp091::methods::queue_purge& purge);
  void on(const amqp091::methods::queue_delete& remove);

  // ---- the channel itself (channel.cpp)

  void answered(answer<defined>& got);
  void answered(answer<queue_counts>& got);
  void answered(answer<fetched>& got);

  /// Sends to queues what this turn has gathered; nothing of the channel may overtake it.
  void flush();
  /// Ends consumers, gives back what is unsettled, forgets confirms.
  void close();
  bool has_unsettled() const noexcept { return unsettled_.size() > 0; }
  void report(const std::string& connection_name, std::vector<consumer_report>& into) const;

private:
  /// Whoever holds leases on this channel: a subscription, or basic.get on one queue.
  struct holder {
    consumer_id id;
    queue_ref queue;
    std::uint64_t unsettled = 0;
    bool subscribed = false;  // a subscription that is not cancelled
    bool getter = false;
    bool fetching = false;  // a getter's question is under way
  };
  struct consumer {
    consumer_id id;
    consumer_ref actor;
    std::string tag;
    std::string queue;
    std::uint32_t holder = 0;
    bool no_ack = false;
    bool exclusive = false;
    bool no_wait = false;
    bool counted = false;  // how often a message came back is said with it: quorum
    bool starting = true;  // its queue has not answered yet
    bool cancelling = false;
    std::int32_t priority = 0;
    std::uint32_t prefetch = 0;
    std::optional<amqp091::deliver_encoder> encoder;
    std::uint64_t in_output = 0;  // footprint of deliveries that the socket has not taken
    std::uint64_t delivered = 0;

    static consumer_id id_of(const std::unique_ptr<consumer>& c) noexcept { return c->id; }
    consumer_actor& face() const { return static_cast<consumer_actor&>(*actor.actor()); }
  };
  /// A publish that was checked and routed, and waits for its commit. A queue that has gone by then
  /// gets nothing, and one that has been declared anew gets it, as in RabbitMQ.
  struct routed {
    message content;
    std::vector<std::string> queues;
    bool mandatory = false;
  };
  /// A publish whose body is still arriving.
  struct arriving {
    std::string exchange;
    std::string routing_key;
    std::string properties;
    bool mandatory = false;
    bool immediate = false;
    std::uint64_t size = 0;  // announced
    std::unique_ptr<large_body> body;
  };

  // publishing
  template <class MakeMessage>
  void take_publish(const amqp091::publish_view& publish, MakeMessage&& make);
  void forget_arriving();
  /// On to its queues, or back to the client.
  void send_on(message content, std::span<const queue_entry* const> queues, bool mandatory);
  std::uint64_t begin_publish(const message& content, std::span<const queue_entry* const> queues);
  void send_return(const message& content);
  void finish_commit();
  bool transaction_fits(std::uint64_t more_bytes);

  // consuming
  std::vector<std::unique_ptr<consumer>>::const_iterator place_of(consumer_id which) const noexcept;
  consumer* find(consumer_id which) const noexcept;
  consumer* find(std::string_view tag) const noexcept;
  void add_consumer(std::unique_ptr<consumer> started);
  std::uint32_t take_holder(holder made);
  void drop_holder_if_done(std::uint32_t index);
  template <class Method>
  void settle(std::uint64_t tag, bool multiple, outcome how);
  void ended(const settled_run& run);
  void tell_demands();
  void answer_qos();
  void start_consumer(const amqp091::methods::basic_consume& asked, const queue_entry& queue,
                      std::int32_t priority, stream_reading reading);
  std::optional<stream_reading> reading_of(const amqp091::methods::basic_consume& asked,
                                           const queue_entry& stream);
  void start_reply_consumer(const amqp091::methods::basic_consume& asked);
  void remove_consumer(consumer_id which);
  void tell_cancelled(const std::string& tag);
  void encode_delivery(consumer& to, std::uint64_t tag, const lease& what);

  // definitions and questions
  template <class Method>
  result<std::string> queue_name_or_last(std::string_view given);
  template <class Method>
  const queue_entry* find_queue(std::string_view name, permission needed);
  template <class Method, class Request>
  void define_then(Request request, std::function<void(defined&)> then);
  template <class Method>
  void count_then(std::function<void(queue_counts&)> then);
  void declare_queue(queue_declaration asked, bool no_wait, int attempt);

  template <class Method>
  void raise(const refusal& why);
  template <class Method>
  void raise(amqp091::reply_code code, std::string text);
  void wait();
  void go_on_unless_waiting();
  bool committing() const noexcept { return transaction_ && transaction_->committing(); }
  std::uint64_t ticket() const noexcept;

  connection_context& context_;
  const amqp091::channel_number number_;
  const std::uint32_t incarnation_;
  bool closed_ = false;

  // publishing
  channel_mode mode_;
  confirm_tracker confirms_;
  // Publishes without confirms are numbered from here on, so that a run that began before
  // confirm.select is not taken for confirmed ones.
  static constexpr std::uint64_t first_plain = std::uint64_t{1} << 63;
  std::uint64_t publishes_ = first_plain;
  receipt run_;
  bool run_is_stored_ = false;
  std::vector<std::uint64_t> refused_;  // publishes of runs that are not complete
  std::unique_ptr<transaction<routed>> transaction_;
  std::uint64_t commit_begin_ = 0;  // number of the first publish of the commit under way
  std::uint64_t commit_runs_ = 0;   // its open runs
  bool commit_refused_ = false;
  std::unique_ptr<arriving> arriving_;

  // consuming
  unsettled_table unsettled_;
  settlement_groups settlements_;
  prefetch_windows windows_;
  prefetch_windows::changes demands_;
  std::uint64_t fetched_ = 0;  // messages of basic.get that are not settled
  std::vector<holder> holders_;
  std::vector<std::uint32_t> free_holders_;           // places of holders_ that nobody has
  std::vector<std::unique_ptr<consumer>> consumers_;  // sorted by id
  std::unordered_map<std::string_view, consumer*> tags_;
  std::vector<consumer*> unwritten_;  // those with something in the output
  bool starting_ = false;             // a consumer waits for its queue's word
  bool narrowing_ = false;            // a basic.qos waits for what queues may still hand out
  std::string reply_to_;              // the name that direct replies come under; empty: none

  // definitions
  std::string last_queue_;
  queue_ref deleting_;                  // the queue that a queue.delete under way is about
  std::vector<std::string> cancelled_;  // our consumers of it, told behind delete-ok
  std::function<void(defined&)> on_defined_;
  std::function<void(queue_counts&)> on_counts_;
  std::function<void(fetched&)> on_fetched_;
};

}  // namespace baton
