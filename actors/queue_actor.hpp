#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/interfaces.hpp"
#include "actors/queue/queue_allowance.hpp"
#include "actors/queue/queue_core.hpp"
#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/timer.hpp"

namespace baton {

/// The actor around a `queue_core`: takes messages apart, calls the core, sends what comes out.
///
/// What arrives together is handed out together: instead of dispatching after each batch, the queue
/// sends itself `dispatch_now`, once, behind what already waits in its mailbox.
class queue_actor final : public actor_of<queue_actor, queue_ref> {
public:
  /// `allowance`: when it is used up, publishers wait.
  queue_actor(caf::actor_config& config, const queue_entry& entry, queue_allowance allowance,
              topology_ref topology);

  void handle(publish& request);
  void handle(settle& request);
  void handle(grant& request);
  void handle(dispatch_now&);
  void handle(subscribe& request);
  void handle(unsubscribe& request);
  void handle(abandon& request);
  void handle(demand& request);
  void handle(fetch& request);
  void handle(purge_queue& request);
  void handle(delete_queue& request);
  void handle(touch_queue& request);
  void handle(end_queue&);
  void handle(ask_queue_report& request);

protected:
  void on_start() override;
  void on_failure(const std::string& why) override;
  void on_exit() override;

private:
  struct subscription {
    consumer_id id;
    consumer_ref to;
  };

  queue_core::moment now() const;
  refusal refused(queue_refusal why) const;
  void want_dispatch();
  void dispatch();
  void forget_subscription(consumer_id which);
  const consumer_ref* find_subscription(consumer_id which) const;
  void arm_timer();
  void on_due();
  void pay_debts();
  bool consumers_catch_up();

  /// Lets go of everything and tells the consumers (but `except`); `end` tells topology too.
  void end(queue_ended notice, consumer_id except = {});
  void close(consumer_id except = {});
  void tell_consumers(consumer_id except = {});

  /// What it is called and how it was declared; nothing of it changes. Its entry in the topology
  /// has more, which only the core needs, and an idle queue should be small.
  struct identity {
    queue_id id;
    vhost_id vhost;
    std::string vhost_name;
    std::string name;
    field_table declared;
    bool durable;
    bool exclusive;
    bool auto_delete;
  };

  const identity entry_;
  const queue_allowance allowance_;
  topology_ref topology_;
  queue_core core_;
  std::vector<subscription> subscriptions_;  // few: found by a walk from the last one found
  mutable std::size_t last_found_ = 0;
  std::vector<credit_debt> debts_;  // to publishers who wait, while its allowance is used up
  std::vector<credit_debt> paced_;  // to publishers who wait for the consumers' sockets
  steady_time last_grant_{};
  steady_time looked_at_{};  // how many were acked until then:
  std::uint64_t acked_before_ = 0;
  std::uint64_t acked_lately_ = 0;  // in `pace_patience`
  bool dispatch_wanted_ = false;
  std::size_t undispatched_ = 0;  // messages since the last dispatch
  timer timer_;
  timer debts_timer_;
  queue_core::moment armed_for_ = queue_core::never;
};

}  // namespace baton
