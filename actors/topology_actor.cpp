#include "actors/topology_actor.hpp"

#include <sodium.h>

#include "actors/queue_actor.hpp"
#include "actors/support/log.hpp"
#include "actors/topology/configured.hpp"
#include "config/check.hpp"

namespace baton {

namespace {

// How long after a change a loop that routes nothing lets go of the snapshot before it.
constexpr std::chrono::seconds refresh_interval{1};

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
                               recovered_topology found, std::function<void(result<void>)> ready)
    : actor_of{config},
      node_{node},
      found_{std::move(found)},
      ready_{std::move(ready)},
      core_{node.publication(), limits_of(node.configured().limits),
            node.configured().node.strict_arguments, random_bytes, sync_rules{node.configured()}},
      refresh_timer_{*this, [this] {
                       for (const auto& keeper : view_keepers_) keeper.send(refresh_view{});
                     }} {}

void topology_actor::on_start() {
  for (std::size_t i = 0; i < node_.loops().size(); ++i) {
    auto& on = node_.loops().at(i);
    view_keepers_.push_back(spawn_handlers<view_keeper_ref>(
        on, [&view = node_.of(on).view](refresh_view&) { view.refresh(); }));
  }
  restore();
  auto declared = declare_configured();
  core_.publish();
  store_changes();
  std::exchange(ready_, nullptr)(std::move(declared));
}

void topology_actor::on_exit() {
  next_ = {};
  unsafe_.clear();
  storing_.clear();
  last_consumers_.clear();
  view_keepers_.clear();
}

void topology_actor::handle(define& request) {
  auto answer = apply(request);
  auto& to = is_stored(request) ? next_ : next_unstored_;
  to.defined.emplace_back(std::move(request.reply), std::move(answer));
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

topology_core::make_target topology_actor::make_queue(loop& home) {
  return [this, &home](const queue_entry& entry) {
    if (entry.arguments.type == queue_type::stream) return make_stream(home, entry);
    const bool stores = node_.store && entry.survives_restart();
    auto queue =
        baton::spawn<queue_actor>(home, entry, node_.allowance_of_a_queue(), topology_ref{self()},
                                  stores ? journal_side_of(entry.id) : nullptr);
    if (stores) storing_.emplace(entry.id, queue);
    return std::make_shared<queue_endpoint>(std::move(queue));
  };
}

std::shared_ptr<queue_endpoint> topology_actor::make_stream(loop& home, const queue_entry& entry) {
  BATON_CHECK(node_.storage != nullptr);
  const auto& limits = node_.configured().limits;
  stream_limits made;
  made.tail = limits.stream_tail.value;
  made.cache = limits.stream_cache.value;
  made.max_bytes = entry.arguments.max_length_bytes;
  if (const auto age = entry.arguments.max_age)
    made.max_age_ms = static_cast<std::uint64_t>(age->count());
  auto stream =
      baton::spawn<stream_actor>(home, entry, made, node_.allowance_of_a_queue(),
                                 topology_ref{self()}, node_.storage->open_stream(node_, entry));
  storing_.emplace(entry.id, stream);
  return std::make_shared<queue_endpoint>(queue_ref{std::move(stream)});
}

std::unique_ptr<queue_actor::journal_side> topology_actor::journal_side_of(queue_id id) {
  auto side = std::make_unique<queue_actor::journal_side>();
  side->store = node_.store;
  side->reader = node_.reader;
  side->wall_offset = node_.wall_offset;
  if (auto found = found_.queues.extract(id.value)) {
    side->found = std::move(found.mapped().messages);
    side->next = found.mapped().next;
  }
  return side;
}

defined topology_actor::declare(const baton::requester& who, queue_declaration asked, loop& home) {
  auto outcome = core_.declare_queue(who, std::move(asked), make_queue(home));
  auto answer = answer_to(outcome);
  if (!outcome) return answer;
  log_warnings(outcome->warnings);
  answer.queue = outcome->queue;
  answer.existed = outcome->status == queue_status::existing;
  return answer;
}

void topology_actor::handle(queue_ended& notice) {
  core_.queue_closed(notice.vhost, notice.queue);
  const bool stored = storing_.erase(notice.queue) > 0;
  if (notice.reply) {
    queue_counts answer;
    answer.messages = notice.messages;
    auto& to = stored ? next_ : next_unstored_;
    to.deleted.emplace_back(std::move(notice.reply), std::move(answer));
  }
  if (notice.last_consumer) last_consumers_.push_back(std::move(notice.last_consumer));
  want_publish();
}

void topology_actor::handle(connection_ended& notice) {
  end_queues(core_.connection_closed(notice.connection));
  next_unstored_.defined.emplace_back(std::move(notice.reply), defined{});
  want_publish();
}

void topology_actor::end_queues(const std::vector<shared<queue_entry>>& gone) {
  for (const auto& entry : gone) {
    queue_endpoint::of(*entry).queue.send(end_queue{});
    storing_.erase(entry->id);
  }
}

void topology_actor::want_publish() {
  if (std::exchange(publish_wanted_, true)) return;
  self().send(publish_now{});
}

void topology_actor::handle(publish_now&) {
  publish_wanted_ = false;
  core_.publish();
  if (!refresh_timer_.is_armed()) refresh_timer_.arm(refresh_interval);
  store_changes();
  std::exchange(next_unstored_, {}).keep();
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
  auto outcome = baton::declare_configured(core_, node_.configured(), make_queue(home()));
  for (const auto& each : outcome.warnings) log::warning("unknown argument", to_string(each));
  if (outcome.refused.empty()) return {};
  std::string all;
  for (const auto& each : outcome.refused) (all += all.empty() ? "" : "\n") += to_string(each);
  return failure{error{std::move(all)}};
}

}  // namespace baton
