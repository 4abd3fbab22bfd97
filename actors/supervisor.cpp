#include "actors/supervisor.hpp"

#include <unistd.h>

#include <fstream>

#include "actors/connection/connection_actor.hpp"
#include "actors/support/log.hpp"

namespace baton {

namespace {

// A loop below this load takes every new connection: publishers, queues and consumers on one loop
// hand each other messages without a hop between threads.
constexpr double busy_load = 0.7;

// How often memory is looked at while publishers wait for it; otherwise nobody looks.
constexpr std::chrono::milliseconds memory_interval{5};

std::uint64_t resident_bytes() {
  std::ifstream statm{"/proc/self/statm"};
  std::uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

/// One listener, and the connections that came through it.
class supervisor::door final : public listener_handler {
public:
  door(supervisor& owner, const listener_settings& configured)
      : owner_{owner}, configured_{configured} {}

  result<void> open() {
    auto found = resolve(configured_.address, configured_.port);
    if (!found) return failure{found.reason()};
    auto opened = owner_.home().sockets().listen(found->front(), *this);
    if (!opened) return failure{opened.reason()};
    listener_ = std::move(*opened);
    return {};
  }
  void close() { listener_.reset(); }

  std::string text() const { return "amqp " + (listener_ ? listener_->local().text() : "closed"); }
  bool full() const { return connections >= configured_.max_connections; }
  std::size_t connections = 0;

private:
  void on_accept(unattached_stream accepted) override {
    owner_.enter([&] { owner_.accept(*this, std::move(accepted)); });
  }
  void on_accept_blocked(const error& why) override {
    log::warning("accept", text() + " pauses: " + why.text);
  }
  void on_accept_recovered() override { log::warning("accept", text() + " accepts again"); }

  supervisor& owner_;
  const listener_settings& configured_;
  std::unique_ptr<listener> listener_;
};

supervisor::supervisor(caf::actor_config& config, node_services& node, events tell)
    : actor_of{config},
      node_{node},
      tell_{std::move(tell)},
      memory_timer_{*this, [this] { look_at_memory(); }},
      drain_timer_{*this,
                   [this] {
                     log::warning("drain", "some clients have not closed in time");
                     connections_.clear();
                     end_when_drained();
                   }},
      started_{home().now()} {}

supervisor::~supervisor() = default;

void supervisor::on_start() {
  auto opened = open_listeners();
  if (!opened) {
    doors_.clear();
    tell_.ready(failure{opened.reason()});
    return;
  }
  std::vector<std::string> where;
  for (const auto& d : doors_) where.push_back(d->text());
  tell_.ready(std::move(where));
}

void supervisor::on_exit() {
  doors_.clear();
  connections_.clear();
}

result<void> supervisor::open_listeners() {
  for (const auto& configured : node_.configured().listeners) {
    auto& added = doors_.emplace_back(std::make_unique<door>(*this, configured));
    if (auto opened = added->open(); !opened)
      return failure{
          error{(configured.where.source.empty() ? "" : to_string(configured.where) + ": ") +
                opened.reason().text}};
  }
  return {};
}

void supervisor::accept(door& at, unattached_stream accepted) {
  auto limit = node_.configured().limits.max_connections;
  if (at.full() || connections_.size() >= limit) {
    // Closing says it all: there is no protocol to say it in before the handshake.
    log::warning("connection limit", at.text() + " turns away " + accepted.peer().text() + ": " +
                                         std::to_string(at.connections) + " connections here, " +
                                         std::to_string(connections_.size()) + " in all");
    return;
  }
  auto id = node_.next_connection();
  connections_.emplace(
      id, member{baton::spawn<connection_actor>(place_connection(), node_, id, std::move(accepted)),
                 &at});
  ++at.connections;
}

loop& supervisor::place_connection() {
  auto& loops = node_.loops();
  if (node_.configured().node.placement == placement::spread)
    return loops.at(next_loop_++ % loops.size());
  std::size_t least = 0;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (loops.at(i).load() < busy_load) return loops.at(i);
    if (loops.at(i).load() < loops.at(least).load()) least = i;
  }
  return loops.at(least);
}

void supervisor::handle(connection_closed& notice) {
  auto at = connections_.find(notice.connection);
  if (at == connections_.end()) return;
  --at->second.through->connections;
  connections_.erase(at);
  waiting_for_space_.erase(notice.connection);
  if (stopping_) end_when_drained();
}

void supervisor::handle(memory_is_short& notice) {
  if (waiting_for_space_.empty())
    log::warning("memory", node_.disk_is_short()
                               ? "the disk takes nothing more: publishers wait"
                               : "memory has reached its high mark: publishers wait");
  waiting_for_space_.insert(notice.connection);
  if (!memory_timer_.is_armed()) memory_timer_.arm(memory_interval);
}

void supervisor::look_at_memory() {
  if (!node_.publishers_may_go_on()) {
    memory_timer_.arm(memory_interval);
    return;
  }
  log::warning("memory", "there is room again: publishers go on");
  for (auto id : std::exchange(waiting_for_space_, {}))
    if (auto at = connections_.find(id); at != connections_.end())
      at->second.actor.send(publishers_go_on{});
}

void supervisor::handle(stop_node&) {
  if (std::exchange(stopping_, true)) return;
  for (auto& d : doors_) d->close();
  for (const auto& [id, c] : connections_)
    c.actor.send(end_connection{"broker forced connection closure with reason 'shutdown'"});
  drain_timer_.arm(node_.configured().node.drain_timeout);
  end_when_drained();
}

void supervisor::end_when_drained() {
  if (!connections_.empty() || !tell_.drained) return;
  drain_timer_.cancel();
  std::exchange(tell_.drained, nullptr)();
}

void supervisor::handle(ask_node_report& request) {
  supervisor_report report;
  auto& n = report.node;
  const auto& configured = node_.configured();
  n.name = configured.node.name;
  n.version = BATON_VERSION;
  n.process = static_cast<std::uint64_t>(getpid());
  n.uptime_seconds = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(home().now() - started_).count());
  n.loops = node_.loops().size();
  n.memory_budget = configured.node.memory.value;
  n.memory_held = memory_account::total();
  n.memory_resident = resident_bytes();
  n.publishers_blocked = !waiting_for_space_.empty();
  n.connections = connections_.size();
  for (const auto& d : doors_) n.listeners.push_back(d->text());
  for (const auto& [id, c] : connections_) report.connections.push_back(c.actor);
  std::move(request.reply).keep(std::move(report));
}

}  // namespace baton
