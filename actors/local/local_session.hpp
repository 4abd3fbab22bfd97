#pragma once

#include <memory>
#include <vector>

#include "actors/channel/settlement_groups.hpp"
#include "actors/consumer_actor.hpp"
#include "actors/local/end.hpp"
#include "actors/node_services.hpp"
#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/timer.hpp"

namespace baton {

/// Runs on the loop of an attached end.
struct local_work {
  local_handle::work run;
};

using local_session_ref =
    actor_ref<published, publishes_refused, credit_paid, answer<defined>, local_work>;

/// The actor that carries a `local_end`: what connection and AMQP channel are for a client on a
/// socket, without the socket.
class local_session final : public actor_of<local_session, local_session_ref>,
                            private local_link,
                            private delivery_sink {
public:
  local_session(caf::actor_config& config, node_services& node, std::unique_ptr<local_end> end);
  ~local_session() override;

  void handle(published& notice);
  void handle(publishes_refused& notice);
  void handle(credit_paid& notice);
  void handle(answer<defined>& got);
  void handle(local_work& work);

protected:
  void on_start() override;
  void on_exit() override;

private:
  struct subscription {
    consumer_id id;
    consumer_ref actor;
    queue_ref queue;

    consumer_actor& face() const { return static_cast<consumer_actor&>(*actor.actor()); }
  };

  // what the end calls
  void declare_exchange(std::string name, std::string type, answered then) override;
  void declare_queue(std::string name, field_table arguments, answered then) override;
  void bind_queue(std::string queue, std::string exchange, std::string key, answered then) override;
  message make(std::string_view exchange, std::string_view routing_key, byte_view body,
               byte_view properties) override;
  publish_outcome publish(message taken) override;
  std::int64_t credit() const override;
  std::uint64_t accepted() const override { return accepted_; }
  std::uint64_t refused() const override { return refused_; }
  result<consumer_id> consume(std::string_view queue, consumer_options options) override;
  void settle(consumer_id consumer, sequence number, outcome how) override;
  void cancel(consumer_id consumer) override;
  void detach() override;

  // what consumers call
  void on_deliver(consumer_id to, lease_batch leases) override;
  void on_reply(consumer_id, batch) override {}
  void on_subscribed(consumer_id which, std::optional<refusal> refused) override;
  void on_unsubscribed(consumer_id which) override;
  void on_queue_gone(consumer_id which) override;

  template <class Work>
  void act(Work&& work);
  template <class Request>
  void define(Request request, answered then);
  void end_subscription(consumer_id which, const std::string* why);
  subscription* find(consumer_id which);
  void give_credit_back(std::uint64_t bytes);
  bool nothing_to_wait_for() const;
  void go_on();

  node_services& node_;
  loop_services& local_;
  const connection_id id_;
  std::unique_ptr<local_end> end_;
  vhost_id vhost_;
  std::shared_ptr<receipt_owner> receipts_;

  receipt run_;
  std::uint64_t publishes_ = 0;
  std::uint64_t in_flight_ = 0;
  std::uint64_t accepted_ = 0;
  std::uint64_t refused_ = 0;
  bool starved_ = true;  // of credit; at the start, so that the first turn is announced too

  std::vector<subscription> subscriptions_;
  settlement_groups settlements_;
  std::vector<std::pair<std::uint64_t, answered>> asked_;
  std::uint64_t tickets_ = 0;
  timer memory_timer_;
};

}  // namespace baton
