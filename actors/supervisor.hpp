#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "actors/node_services.hpp"
#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/timer.hpp"
#include "transport/net/listener.hpp"

namespace baton {

/// Listens, gives each new connection to a loop, watches over memory, and ends the node in order:
/// first the listeners, then the connections, then everything else.
class supervisor final : public actor_of<supervisor, supervisor_ref> {
public:
  struct events {
    /// Once: where it listens, or why it cannot.
    std::function<void(result<std::vector<std::string>>)> ready;
    /// Once, after `stop_node`: all connections are closed.
    std::function<void()> drained;
  };

  supervisor(caf::actor_config& config, node_services& node, events tell);
  ~supervisor() override;

  void handle(connection_closed& notice);
  void handle(memory_is_short& notice);
  void handle(stop_node&);
  void handle(ask_node_report& request);

protected:
  void on_start() override;
  void on_exit() override;

private:
  class door;

  result<void> open_listeners();
  void accept(door& at, unattached_stream accepted);
  loop& place_connection();
  void look_at_memory();
  void end_when_drained();

  node_services& node_;
  events tell_;
  std::vector<std::unique_ptr<door>> doors_;
  struct member {
    connection_ref actor;
    door* through = nullptr;
  };
  std::unordered_map<connection_id, member> connections_;
  std::unordered_set<connection_id> waiting_for_space_;
  timer memory_timer_;
  timer drain_timer_;
  std::size_t next_loop_ = 0;
  bool stopping_ = false;
  steady_time started_;
};

}  // namespace baton
