#pragma once

#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/interfaces.hpp"
#include "actors/node_services.hpp"
#include "actors/node_storage.hpp"
#include "actors/queue_actor.hpp"
#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/timer.hpp"
#include "actors/topology/topology_core.hpp"

namespace baton {

struct publish_now;
using topology_inner_ref =
    actor_ref<define, queue_ended, connection_ended, relocate_queues, define_anew, definitions_safe,
              finish, ask_topology_report, publish_now>;

/// From the topology to itself: whatever has arrived before it becomes one snapshot.
struct publish_now {};

/// From the topology to each loop, now and then: look at the latest snapshot. A loop with nothing
/// to route would otherwise keep an old one, and with it the handles of queues that have ended.
struct refresh_view {};
using view_keeper_ref = actor_ref<refresh_view>;

/// The actor around the `topology_core`, and the parent of all queues. Changes that arrive together
/// are published as one snapshot; only then are they answered.
class topology_actor final : public actor_of<topology_actor, topology_inner_ref> {
public:
  /// `ready` is called once, on the home loop, when all that is configured is declared: or with
  /// everything that could not be, and against what, a line each.
  topology_actor(caf::actor_config& config, node_services& node, recovered_topology found,
                 std::function<void(result<void>)> ready);

  void handle(define& request);
  void handle(queue_ended& notice);
  void handle(connection_ended& notice);
  void handle(relocate_queues& request);
  void handle(define_anew&);
  void handle(definitions_safe& notice);
  void handle(finish& request);
  void handle(ask_topology_report& request);
  void handle(publish_now&);

protected:
  void on_start() override;
  void on_exit() override;

private:
  defined apply(const define& request);
  defined declare(const baton::requester& who, queue_declaration asked, loop& home);
  topology_core::make_target make_queue(loop& home);
  std::shared_ptr<queue_endpoint> make_stream(loop& home, const queue_entry& entry);
  result<void> declare_configured();
  void end_queues(const std::vector<shared<queue_entry>>& gone);
  void want_publish();

  // topology_storage.cpp
  void restore();
  std::unique_ptr<queue_actor::journal_side> journal_side_of(queue_id id);
  void store_changes();
  static bool is_stored(const define& request);

  node_services& node_;
  recovered_topology found_;  // until it has been put back
  std::function<void(result<void>)> ready_;
  topology_core core_;
  bool publish_wanted_ = false;
  std::vector<view_keeper_ref> view_keepers_;  // one on each loop
  timer refresh_timer_;

  std::unordered_map<queue_id, queue_ref> storing_;  // queues that may have stored messages

  /// What is answered once the snapshot is out, and what it says is safe.
  struct waiting_answers {
    std::uint64_t publication = 0;
    std::vector<std::pair<promise<baton::defined>, baton::defined>> defined;
    std::vector<std::pair<promise<queue_counts>, queue_counts>> deleted;

    void keep() &&;
  };
  waiting_answers next_;
  waiting_answers next_unstored_;  // about what is not stored: they wait for no disk
  std::deque<waiting_answers> unsafe_;
  std::uint64_t publication_ = 0;
  std::vector<consumer_ref> last_consumers_;
};

}  // namespace baton
