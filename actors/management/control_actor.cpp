#include "actors/management/control_actor.hpp"

#include <algorithm>

#include "actors/management/control_socket.hpp"
#include "actors/topology/names.hpp"
#include "config/nearest.hpp"

namespace baton {

namespace {

// Whoever mistypes a name waits no longer than its neighbours on the loop can.
constexpr std::size_t most_names_compared = 10'000;

// Of one look at a queue.
constexpr std::uint64_t most_peeked = 1000;
constexpr std::uint64_t most_body_bytes = 1 << 20;

constexpr auto ended_meanwhile = "the queue has ended meanwhile";

}  // namespace

/// The bytes of one client: a line in, a line out, and it is closed.
class control_actor::session final : public stream_handler {
public:
  session(control_actor& owner, std::uint64_t ticket, std::unique_ptr<stream> socket)
      : owner_{owner}, ticket_{ticket}, socket_{std::move(socket)} {
    socket_->set_handler(this);
  }

  bool has_asked() const noexcept { return asked_; }

  void answer(std::string line) {
    out_ = std::move(line);
    out_ += '\n';
    write();
  }

private:
  void on_readable() override {
    owner_.enter([this] { read(); });
  }
  void on_writable() override {
    owner_.enter([this] { write(); });
  }

  void read() {
    std::uint8_t buffer[1024];
    auto got = socket_->read(buffer);
    if (got.status == io_status::would_block) return;
    // Who has asked may finish writing; that its answer goes nowhere shows when it is written.
    if (got.status == io_status::closed && asked_) return;
    if (got.status != io_status::ok) return owner_.end(ticket_);
    if (asked_) return;  // one request for each connection; more is ignored
    in_.append(as_text({buffer, got.bytes}));
    auto line_end = in_.find('\n');
    if (line_end == std::string::npos) {
      if (in_.size() > max_control_request_bytes) owner_.end(ticket_);
      return;
    }
    asked_ = true;
    owner_.begin(ticket_, in_.substr(0, line_end));
  }

  void write() {
    while (written_ < out_.size()) {
      byte_view rest = as_bytes(std::string_view{out_}.substr(written_));
      auto put = socket_->write({&rest, 1});
      if (put.status == io_status::failed || put.status == io_status::closed)
        return owner_.end(ticket_);
      written_ += put.bytes;
      if (put.status == io_status::would_block || put.bytes < rest.size()) {
        socket_->notify_writable();
        return;
      }
    }
    owner_.end(ticket_);
  }

  control_actor& owner_;
  std::uint64_t ticket_;
  std::unique_ptr<stream> socket_;
  std::string in_;
  std::string out_;
  std::size_t written_ = 0;
  bool asked_ = false;
};

control_actor::control_actor(caf::actor_config& config, node_services& node,
                             std::function<void(result<void>)> ready)
    : actor_of{config}, node_{node}, ready_{std::move(ready)} {}
control_actor::~control_actor() = default;

void control_actor::on_start() {
  endpoint where{control_socket_path(node_.configured().node.data).string(), 0};
  if (!where.is_path()) where.address = "./" + where.address;
  auto opened = home().sockets().listen(where, *this);
  if (!opened) return std::exchange(ready_, nullptr)(failure{opened.reason()});
  listener_ = std::move(*opened);
  std::exchange(ready_, nullptr)({});
}

void control_actor::on_exit() {
  listener_.reset();
  inquiries_.clear();
}

void control_actor::on_accept(unattached_stream accepted) {
  enter([&] {
    if (inquiries_.size() >= max_sessions) {
      // Clients that say nothing keep nobody out: the oldest of them goes.
      auto silent = std::ranges::find_if(
          inquiries_, [](const auto& each) { return !each.second.client->has_asked(); });
      if (silent == inquiries_.end()) return;
      inquiries_.erase(silent);
    }
    auto ticket = next_ticket_++;
    inquiries_[ticket].client =
        std::make_unique<session>(*this, ticket, home().sockets().attach(std::move(accepted)));
  });
}

control_actor::inquiry* control_actor::find(std::uint64_t ticket) {
  auto at = inquiries_.find(ticket);
  return at == inquiries_.end() ? nullptr : &at->second;
}

void control_actor::begin(std::uint64_t ticket, const std::string& line) {
  static const std::pair<std::string_view, subject> subjects[]{
      {"status", subject::status},           {"queues", subject::queues},
      {"exchanges", subject::exchanges},     {"bindings", subject::bindings},
      {"connections", subject::connections}, {"consumers", subject::consumers},
      {"purge_queue", subject::purge_queue}, {"delete_queue", subject::delete_queue},
      {"peek_queue", subject::peek_queue},   {"stop", subject::stop},
  };
  auto& what = inquiries_.at(ticket);
  what.asked = json::parse_request(line);
  for (auto [name, about] : subjects)
    if (name == what.asked.request) what.about = about;

  auto ask_topology = [&] {
    ++what.outstanding;
    node_.topology.send(ask_topology_report{{self(), ticket}});
  };
  auto ask_supervisor = [&] {
    ++what.outstanding;
    node_.supervisor.send(ask_node_report{{self(), ticket}});
  };
  switch (what.about) {
    case subject::nothing:
      what.client->answer(
          json::error_text("no such request; there are: status, queues, exchanges, "
                           "bindings, connections, consumers, purge_queue, delete_queue, "
                           "peek_queue, stop"));
      break;
    case subject::status:
      ask_topology();
      ask_supervisor();
      if (node_.store) {
        ++what.outstanding;
        node_.store.send(ask_journal_report{{self(), ticket}});
      }
      break;
    case subject::queues:
    case subject::exchanges:
    case subject::bindings:
      ask_topology();
      break;
    case subject::connections:
    case subject::consumers:
      ask_supervisor();
      break;
    case subject::purge_queue:
    case subject::delete_queue:
    case subject::peek_queue:
      ask_queue(what, ticket);
      break;
    // Answered by the end of the connection, when the node has drained and gone.
    case subject::stop:
      node_.supervisor.send(stop_node{});
      break;
  }
}

template <class T, class Take>
void control_actor::take(answer<T>& got, Take&& into) {
  auto* what = find(got.ticket);
  if (what == nullptr) return;  // its client has gone
  if (got.value) into(*what, std::move(*got.value));
  if (--what->outstanding == 0) what->client->answer(text_of(*what));
}

void control_actor::handle(answer<topology_report>& got) {
  take(got, [&](inquiry& what, topology_report&& report) {
    what.topology = std::move(report);
    if (what.about != subject::queues) return;
    what.outstanding += what.topology.queues.size();
    for (const auto& queue : what.topology.queues)
      queue.send(ask_queue_report{{self(), got.ticket}});
  });
}

void control_actor::handle(answer<supervisor_report>& got) {
  take(got, [&](inquiry& what, supervisor_report&& report) {
    what.node = std::move(report);
    if (what.about == subject::status) return;
    what.outstanding += what.node.connections.size();
    for (const auto& connection : what.node.connections)
      connection.send(ask_connection_report{{self(), got.ticket}});
  });
}

void control_actor::handle(answer<journal_report>& got) {
  take(got, [](inquiry& what, journal_report&& report) { what.journal = report; });
}

void control_actor::handle(answer<queue_report>& got) {
  take(got, [](inquiry& what, queue_report&& one) { what.queues.push_back(std::move(one)); });
}

void control_actor::handle(answer<connection_report>& got) {
  take(got,
       [](inquiry& what, connection_report&& one) { what.connections.push_back(std::move(one)); });
}

result<queue_ref> control_actor::find_queue(const json::control_request& asked) {
  auto& view = node_.of(home()).view;
  view.refresh();
  const auto* here = view.snapshot().find_vhost(asked.vhost);
  if (here == nullptr) return failure{error{"no vhost '" + asked.vhost + "'"}};
  const auto* entry = here->find_queue(asked.queue);
  if (entry == nullptr || entry->direct_reply) {
    std::vector<std::string_view> names;
    here->queues.for_each([&](const auto& each) {
      if (names.size() < most_names_compared) names.push_back(each->name);
    });
    auto why = "no queue '" + asked.queue + "' in vhost '" + asked.vhost + "'";
    if (const auto meant = nearest(asked.queue, names))
      why.append("; did you mean '").append(*meant).append("'?");
    return failure{error{why}};
  }
  if (entry->arguments.type == queue_type::stream && asked.request != "delete_queue")
    return failure{
        error{queue_text(entry->name, entry->vhost_name) +
              " is a stream: what is in it is read by consumers, and goes by its retention"}};
  return queue_endpoint::of(*entry).queue;
}

void control_actor::ask_queue(inquiry& what, std::uint64_t ticket) {
  const auto queue = find_queue(what.asked);
  if (!queue) return what.client->answer(json::error_text(queue.reason().text));
  if (what.about == subject::purge_queue) {
    queue->send(baton::purge_queue{{self(), ticket}});
  } else if (what.about == subject::delete_queue) {
    queue->send(baton::delete_queue{what.asked.if_unused, what.asked.if_empty, {self(), ticket}});
  } else {
    queue->send(baton::peek_queue{std::min(what.asked.count, most_peeked),
                                  std::min(what.asked.body_bytes, most_body_bytes),
                                  {self(), ticket}});
  }
}

void control_actor::handle(answer<queue_counts>& got) {
  auto* what = find(got.ticket);
  if (what == nullptr) return;
  if (!got.value) return what->client->answer(json::error_text(ended_meanwhile));
  if (got.value->refused) return what->client->answer(json::error_text(got.value->refused->text));
  what->client->answer(json::count_text(got.value->messages));
}

void control_actor::handle(answer<queue_peek>& got) {
  auto* what = find(got.ticket);
  if (what == nullptr) return;
  what->client->answer(got.value ? json::text_of(*got.value) : json::error_text(ended_meanwhile));
}

std::string control_actor::text_of(inquiry& what) const {
  switch (what.about) {
    case subject::status: {
      auto report = what.node.node;
      report.queues = what.topology.queues.size();
      report.exchanges = what.topology.exchanges.size();
      report.bindings = what.topology.bindings.size();
      report.journal = what.journal;
      return json::text_of(report);
    }
    case subject::queues:
      std::ranges::sort(what.queues, {}, [](const auto& q) { return std::tie(q.vhost, q.name); });
      return json::text_of(what.queues);
    case subject::exchanges:
      return json::text_of(what.topology.exchanges);
    case subject::bindings:
      return json::text_of(what.topology.bindings);
    case subject::connections:
      std::ranges::sort(what.connections, {}, &connection_report::id);
      return json::text_of(what.connections);
    case subject::consumers: {
      std::ranges::sort(what.connections, {}, &connection_report::id);
      std::vector<consumer_report> all;
      for (auto& c : what.connections) std::ranges::move(c.consumers, std::back_inserter(all));
      return json::text_of(all);
    }
    case subject::nothing:
    case subject::purge_queue:
    case subject::delete_queue:
    case subject::peek_queue:
    case subject::stop:
      break;
  }
  return json::error_text("not answered");
}

void control_actor::end(std::uint64_t ticket) { inquiries_.erase(ticket); }

}  // namespace baton
