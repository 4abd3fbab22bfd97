#include "actors/topology_actor.hpp"

#include <sodium.h>

#include "actors/queue_actor.hpp"
#include "actors/support/log.hpp"

namespace baton {

namespace {

// How long after a change a loop that routes nothing lets go of the snapshot before it.
constexpr std::chrono::seconds refresh_interval{1};

topology_limits limits_of(const limit_settings& limits) {
  return {limits.max_vhosts, limits.max_exchanges, limits.max_queues, limits.max_bindings};
}

std::array<std::uint8_t, 16> random_bytes() {
  std::array<std::uint8_t, 16> bytes;
  randombytes_buf(bytes.data(), bytes.size());
  return bytes;
}

void log_warnings(const std::vector<std::string>& warnings) {
  for (const auto& w : warnings) log::warning("unknown argument", w);
}

template <class Outcome>
defined answer_to(const result<Outcome, refusal>& outcome) {
  defined answer;
  if (!outcome) answer.refused = outcome.reason();
  return answer;
}

}  // namespace

topology_actor::topology_actor(caf::actor_config& config, node_services& node,
                               std::function<void(result<void>)> ready)
    : actor_of{config},
      node_{node},
      ready_{std::move(ready)},
      core_{node.publication(), limits_of(node.configured().limits),
            node.configured().node.strict_arguments, random_bytes},
      refresh_timer_{*this, [this] {
                       for (const auto& keeper : view_keepers_) keeper.send(refresh_view{});
                     }} {}

void topology_actor::on_start() {
  for (std::size_t i = 0; i < node_.loops().size(); ++i) {
    auto& on = node_.loops().at(i);
    view_keepers_.push_back(spawn_handlers<view_keeper_ref>(
        on, [&view = node_.of(on).view](refresh_view&) { view.refresh(); }));
  }
  auto declared = declare_configured();
  core_.publish();
  std::exchange(ready_, nullptr)(std::move(declared));
}

void topology_actor::on_exit() {
  defined_.clear();
  deleted_.clear();
  last_consumers_.clear();
  view_keepers_.clear();
}

void topology_actor::handle(define& request) {
  auto answer = apply(request);
  defined_.emplace_back(std::move(request.reply), std::move(answer));
  want_publish();
}

defined topology_actor::apply(const define& request) {
  const auto& who = request.who;
  struct {
    topology_actor& self;
    const baton::requester& who;
    loop& home;

    defined operator()(const queue_declaration& asked) { return self.declare(who, asked, home); }
    defined operator()(const binding_request& asked) {
      return answer_to(self.core_.bind(who, asked));
    }
    defined operator()(const unbinding& asked) {
      return answer_to(self.core_.unbind(who, asked.of));
    }
    defined operator()(const exchange_declaration& asked) {
      auto outcome = self.core_.declare_exchange(who, asked);
      if (outcome) log_warnings(outcome->warnings);
      return answer_to(outcome);
    }
    defined operator()(const exchange_deletion& asked) {
      return answer_to(self.core_.delete_exchange(who, asked.vhost, asked.name, asked.if_unused));
    }
    defined operator()(const reply_name& asked) {
      if (asked.to)
        self.core_.add_reply_name(asked.vhost, asked.name,
                                  std::make_shared<queue_endpoint>(asked.to));
      else
        self.core_.remove_reply_name(asked.vhost, asked.name);
      return {};
    }
  } visitor{*this, who, request.home != nullptr ? *request.home : home()};
  return std::visit(visitor, request.request);
}

defined topology_actor::declare(const baton::requester& who, queue_declaration asked, loop& home) {
  auto make = [&](const queue_entry& entry) -> std::shared_ptr<queue_target> {
    return std::make_shared<queue_endpoint>(
        baton::spawn<queue_actor>(home, entry, node_.queue_share_bytes(), topology_ref{self()}));
  };
  auto outcome = core_.declare_queue(who, std::move(asked), make);
  auto answer = answer_to(outcome);
  if (!outcome) return answer;
  log_warnings(outcome->warnings);
  answer.queue = outcome->queue;
  answer.existed = outcome->status == queue_status::existing;
  return answer;
}

void topology_actor::handle(queue_ended& notice) {
  core_.queue_closed(notice.vhost, notice.queue);
  if (notice.reply) {
    queue_counts answer;
    answer.messages = notice.messages;
    deleted_.emplace_back(std::move(notice.reply), std::move(answer));
  }
  if (notice.last_consumer) last_consumers_.push_back(std::move(notice.last_consumer));
  want_publish();
}

void topology_actor::handle(connection_ended& notice) {
  end_queues(core_.connection_closed(notice.connection));
  defined_.emplace_back(std::move(notice.reply), defined{});
  want_publish();
}

void topology_actor::end_queues(const std::vector<shared<queue_entry>>& gone) {
  for (const auto& entry : gone) queue_endpoint::of(*entry).queue.send(end_queue{});
}

void topology_actor::want_publish() {
  if (std::exchange(publish_wanted_, true)) return;
  self().send(publish_now{});
}

void topology_actor::handle(publish_now&) {
  publish_wanted_ = false;
  core_.publish();
  if (!refresh_timer_.is_armed()) refresh_timer_.arm(refresh_interval);
  for (auto& [reply, answer] : std::exchange(defined_, {}))
    std::move(reply).keep(std::move(answer));
  for (auto& [reply, answer] : std::exchange(deleted_, {}))
    std::move(reply).keep(std::move(answer));
  for (auto& consumer : std::exchange(last_consumers_, {})) consumer.send(unsubscribed{});
}

void topology_actor::handle(ask_topology_report& request) {
  topology_report report;
  for (const auto& e : core_.list_exchanges())
    report.exchanges.push_back({e.vhost, e.name, std::string{to_string(e.type)}, e.durable,
                                e.auto_delete, e.internal, e.arguments});
  for (const auto& b : core_.list_bindings())
    report.bindings.push_back(
        {b.vhost, b.source, b.destination, b.kind == resource_kind::exchange, b.key, b.arguments});
  for (const auto& q : core_.list_queues())
    report.queues.push_back(queue_endpoint::of(*q.queue).queue);
  std::move(request.reply).keep(std::move(report));
}

result<void> topology_actor::declare_configured() {
  const auto& wanted = node_.configured();
  auto refused = [](const place& where, const std::string& why) {
    return failure{error{to_string(where) + ": " + why}};
  };

  if (auto added = core_.add_vhost(default_vhost); !added) return failure{added.reason()};
  for (const auto& v : wanted.vhosts)
    if (v.name != default_vhost)
      if (auto added = core_.add_vhost(v.name); !added)
        return refused(v.where, added.reason().text);

  for (const auto& u : wanted.users) {
    user_definition definition{u.name, u.password_hash,       u.loopback_only,
                               u.tags, u.permissions.empty(), {}};
    for (const auto& p : u.permissions)
      definition.permissions.push_back({p.vhost, p.configure, p.write, p.read});
    if (auto put = core_.put_user(std::move(definition)); !put)
      return refused(u.where, put.reason().text);
  }

  auto id_of = [&](const std::string& vhost) { return *core_.state().vhost_names.find(vhost); };
  const baton::requester the_node{};
  for (const auto& e : wanted.exchanges) {
    exchange_declaration asked{id_of(e.vhost), e.name,        e.type,     false,
                               e.durable,      e.auto_delete, e.internal, e.arguments};
    auto outcome = core_.declare_exchange(the_node, std::move(asked));
    if (!outcome) return refused(e.where, outcome.reason().text);
    log_warnings(outcome->warnings);
  }
  for (const auto& q : wanted.queues) {
    queue_declaration asked{id_of(q.vhost), q.name,        false,      q.durable,
                            false,          q.auto_delete, q.arguments};
    auto outcome = declare(the_node, std::move(asked), home());
    if (outcome.refused) return refused(q.where, outcome.refused->text);
  }
  for (const auto& b : wanted.bindings) {
    const bool to_queue = b.to_exchange.empty();
    binding_request asked{id_of(b.vhost),
                          b.exchange,
                          to_queue ? resource_kind::queue : resource_kind::exchange,
                          to_queue ? b.queue : b.to_exchange,
                          b.key,
                          b.arguments};
    if (auto outcome = core_.bind(the_node, std::move(asked)); !outcome)
      return refused(b.where, outcome.reason().text);
  }
  return {};
}

}  // namespace baton
