#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/management/json.hpp"
#include "actors/node_services.hpp"
#include "actors/runtime/actor_of.hpp"
#include "transport/net/listener.hpp"

namespace baton {

using control_ref = actor_ref<answer<topology_report>, answer<queue_report>,
                              answer<connection_report>, answer<supervisor_report>,
                              answer<journal_report>, answer<queue_counts>, answer<queue_peek>>;

/// Answers the requests on the control socket (control_socket.hpp): asks the actors that know,
/// waits for all their answers, and writes one line of JSON. An actor that ends meanwhile is left
/// out.
class control_actor final : public actor_of<control_actor, control_ref>, private listener_handler {
public:
  /// `ready` is called once, on the home loop: it listens, or why not.
  control_actor(caf::actor_config& config, node_services& node,
                std::function<void(result<void>)> ready);
  ~control_actor() override;

  void handle(answer<topology_report>& got);
  void handle(answer<queue_report>& got);
  void handle(answer<connection_report>& got);
  void handle(answer<supervisor_report>& got);
  void handle(answer<journal_report>& got);
  void handle(answer<queue_counts>& got);
  void handle(answer<queue_peek>& got);

protected:
  void on_start() override;
  void on_exit() override;

private:
  static constexpr std::size_t max_sessions = 32;

  class session;
  enum class subject : std::uint8_t {
    nothing,
    status,
    queues,
    exchanges,
    bindings,
    connections,
    consumers,
    purge_queue,
    delete_queue,
    peek_queue,
    stop,
  };

  /// One client of the socket, what it asked, and what has been answered so far.
  struct inquiry {
    std::unique_ptr<session> client;
    subject about = subject::nothing;
    json::control_request asked{};
    std::size_t outstanding = 0;
    supervisor_report node;
    journal_report journal;
    topology_report topology;
    std::vector<queue_report> queues;
    std::vector<connection_report> connections;
  };

  void on_accept(unattached_stream accepted) override;
  void on_accept_blocked(const error&) override {}
  void on_accept_recovered() override {}

  void begin(std::uint64_t ticket, const std::string& line);
  void end(std::uint64_t ticket);
  void ask_queue(inquiry& what, std::uint64_t ticket);
  result<queue_ref> find_queue(const json::control_request& asked);
  std::string text_of(inquiry& what) const;
  inquiry* find(std::uint64_t ticket);

  /// Takes one answer into account; true when it was the last one.
  template <class T, class Take>
  void take(answer<T>& got, Take&& into);

  node_services& node_;
  std::function<void(result<void>)> ready_;
  std::unique_ptr<listener> listener_;
  std::map<std::uint64_t, inquiry> inquiries_;  // by ticket, so the oldest first
  std::uint64_t next_ticket_ = 1;
};

}  // namespace baton
