#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/connection/channel.hpp"
#include "actors/connection/context.hpp"
#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/timer.hpp"

namespace baton {

/// One AMQP 0-9-1 connection: it owns the socket, the protocol machine and the AMQP channels.
///
/// Each turn: bytes come in and become calls of channels, which gather what they have for queues;
/// then everything gathered is sent on in batches, and at the end of the loop's turn what is to be
/// written goes out in one piece.
///
/// Back-pressure: while its credit is used up, or memory is short, publishes are held in the
/// machine and everything else goes on; only when the reserve for held frames is full it stops
/// reading. Publishes in front of a question of the client's, its close above all, wait for nothing
/// if it has deliveries to settle or exclusive queues, which may be what memory is short of. That
/// is bounded by the reserve for each question and, all in all, by the node's budget.
class connection_actor final : public actor_of<connection_actor, connection_ref>,
                               private stream_handler,
                               private amqp091::server_handler,
                               private delivery_sink,
                               private flushable {
public:
  connection_actor(caf::actor_config& config, node_services& node, connection_id id,
                   unattached_stream accepted);
  ~connection_actor() override;

  void handle(published& notice);
  void handle(publishes_refused& notice);
  void handle(credit_paid& notice);
  void handle(answer<defined>& got);
  void handle(answer<queue_counts>& got);
  void handle(answer<fetched>& got);
  void handle(login_checked& verdict);
  void handle(publishers_go_on&);
  void handle(end_connection& order);
  void handle(ask_connection_report& request);

protected:
  void on_start() override;
  void on_failure(const std::string& why) override;
  void on_exit() override;

private:
  // connection_actor.cpp: the socket, turns, credit, time
  void on_readable() override;
  void on_writable() override;
  void flush() override;
  void read();
  /// Runs `work` as a part of a turn: with a fresh view before, and everything sent on after it.
  template <class Work>
  void act(Work&& work) {
    context_.local.view.refresh();
    work();
    end_turn();
  }
  void end_turn();
  void look_at_credit();
  void account_reserve(std::uint64_t bytes);
  void tell_blocked(bool blocked);
  void look_at_ending();
  void write_output();
  void give_up(std::string_view kind, const std::string& why);
  void on_heartbeat_due();
  void on_deadline();
  void on_trickle();
  void hold_if_overdrawn();
  bool has_unsettled() const;
  bool holds_memory() const { return has_unsettled() || context_.has_exclusive_queues; }

  // connection_handler.cpp: what the machine calls
  void authenticate(std::string_view mechanism, std::string_view user,
                    std::string_view password) override;
  void refuse_login();
  void open_requested(std::string_view virtual_host) override;
  void secret_updated(byte_view, std::string_view) override {}
  void close_requested(std::uint16_t reply_code, std::string_view reply_text) override;
  void connection_failed(const amqp091::protocol_error& error) override;
  void channel_opened(amqp091::channel_number number) override;
  void channel_close_requested(amqp091::channel_number number) override;
  void channel_failed(amqp091::channel_number number,
                      const amqp091::protocol_error& error) override;
  void publish(amqp091::channel_number number, const amqp091::publish_view& publish) override;
  amqp091::admission content_begin(amqp091::channel_number number,
                                   const amqp091::publish_view& publish, std::uint64_t body_size,
                                   bool may_wait) override;
  bool gives_back(amqp091::channel_number number) override;
  void content_piece(amqp091::channel_number number, byte_view bytes) override;
  void content_end(amqp091::channel_number number) override;

#define BATON_FORWARD(method)                                                               \
  void on(amqp091::channel_number number, const amqp091::methods::method& asked) override { \
    channel(number).on(asked);                                                              \
  }
  BATON_FORWARD(basic_ack)
  BATON_FORWARD(basic_nack)
  BATON_FORWARD(basic_reject)
  BATON_FORWARD(basic_get)
  BATON_FORWARD(basic_qos)
  BATON_FORWARD(basic_consume)
  BATON_FORWARD(basic_cancel)
  BATON_FORWARD(basic_recover)
  BATON_FORWARD(basic_recover_async)
  BATON_FORWARD(exchange_declare)
  BATON_FORWARD(exchange_delete)
  BATON_FORWARD(exchange_bind)
  BATON_FORWARD(exchange_unbind)
  BATON_FORWARD(queue_declare)
  BATON_FORWARD(queue_bind)
  BATON_FORWARD(queue_unbind)
  BATON_FORWARD(queue_purge)
  BATON_FORWARD(queue_delete)
  BATON_FORWARD(confirm_select)
  BATON_FORWARD(tx_select)
  BATON_FORWARD(tx_commit)
  BATON_FORWARD(tx_rollback)
#undef BATON_FORWARD

  // what consumers call
  void on_deliver(consumer_id to, lease_batch leases) override;
  void on_reply(consumer_id to, batch messages) override;
  void on_subscribed(consumer_id which, std::optional<refusal> refused) override;
  void on_unsubscribed(consumer_id which) override;
  void on_queue_gone(consumer_id which) override;
  void on_short_of_demand(consumer_id which) override;
  void on_demand_given_back(consumer_id which, std::uint32_t unused) override;

  amqp_channel& channel(amqp091::channel_number number);
  amqp_channel* channel_of(std::uint64_t ticket);
  amqp_channel* channel_of(consumer_id which);
  void close_channels();
  void let_go_of_exclusive_queues(bool with_answer);
  std::string title() const;

  std::optional<unattached_stream> accepted_;  // until the actor runs on its loop
  std::unique_ptr<stream> socket_;
  const endpoint peer_;
  const endpoint local_;
  connection_output output_;
  amqp091::server_connection machine_;
  connection_context context_;

  std::unordered_map<amqp091::channel_number, std::unique_ptr<amqp_channel>> channels_;
  amqp_channel* last_channel_ = nullptr;
  std::vector<std::unique_ptr<amqp_channel>> closed_channels_;  // freed at the end of the turn
  std::uint32_t incarnations_ = 0;

  bool waiting_for_space_ = false;  // the supervisor has been told
  int runs_withheld_ = 0;           // whose credit a queue at its share keeps back; its end may
                                    // be told before its beginning
  bool blocked_told_ = false;
  bool reading_paused_ = false;
  std::uint64_t reserve_accounted_ = 0;
  amqp091::ending ending_ = amqp091::ending::none;
  bool login_refused_ = false;  // and not yet told

  timer deadline_;  // of the hand-shake, of a refused login's wait, then of closing
  timer heartbeat_;
  timer admission_;  // armed while what found no room waits to be asked for anew
  timer trickle_;    // of reading a little although the reserve is full
};

}  // namespace baton
