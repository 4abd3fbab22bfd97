#include "actors/local/local_session.hpp"

#include <algorithm>

#include "actors/receipt_mail.hpp"
#include "transport/amqp091/properties.hpp"

namespace baton {

namespace {

// How often an end looks whether memory is there again, when nothing of its own is under way.
constexpr std::chrono::milliseconds memory_interval{20};

}  // namespace

local_session::local_session(caf::actor_config& config, node_services& node,
                             std::unique_ptr<local_end> end)
    : actor_of{config},
      node_{node},
      local_{node.of(home())},
      id_{node.next_connection()},
      end_{std::move(end)},
      receipts_{std::make_shared<receipt_mail>(self())},
      memory_timer_{*this, [this] {
                      if (starved_) go_on();
                    }} {}

local_session::~local_session() = default;

void local_session::on_start() {
  local_.view.refresh();
  vhost_ = local_.view.snapshot().find_vhost(default_vhost)->id;
  act([this] { end_->on_attached(*this); });
}

void local_session::on_exit() {
  for (auto& s : subscriptions_) {
    s.face().sink_gone();
    s.queue.send(abandon{s.id});
  }
  subscriptions_.clear();
  asked_.clear();
  end_.reset();
  receipts_.reset();
}

template <class Work>
void local_session::act(Work&& work) {
  local_.view.refresh();
  work();
  if (!settlements_.empty())
    for (auto& group : settlements_.take())
      if (auto* s = find(group.consumer))
        s->queue.send(baton::settle{group.consumer, std::move(group.leases)});
  run_.release();
  local_.outbox.flush();
  local_.writer.close();
  if (credit() > 0) return;
  starved_ = true;
  if (nothing_to_wait_for()) memory_timer_.arm(memory_interval);
}

bool local_session::nothing_to_wait_for() const {
  return in_flight_ * 2 <= node_.configured().limits.publish_credit.value;
}

// ---- definitions

template <class Request>
void local_session::define(Request request, answered then) {
  const auto ticket = ++tickets_;
  asked_.emplace_back(ticket, std::move(then));
  node_.topology.send(baton::define{
      {std::nullopt, id_}, std::move(request), &home(), {local_session_ref{self()}, ticket}});
}

void local_session::declare_exchange(std::string name, std::string type, answered then) {
  exchange_declaration asked;
  asked.vhost = vhost_;
  asked.name = std::move(name);
  asked.type = std::move(type);
  define(std::move(asked), std::move(then));
}

void local_session::declare_queue(std::string name, field_table arguments, answered then) {
  queue_declaration asked;
  asked.vhost = vhost_;
  asked.name = std::move(name);
  asked.arguments = std::move(arguments);
  define(std::move(asked), std::move(then));
}

void local_session::bind_queue(std::string queue, std::string exchange, std::string key,
                               answered then) {
  binding_request asked;
  asked.vhost = vhost_;
  asked.source = std::move(exchange);
  asked.destination = std::move(queue);
  asked.key = std::move(key);
  define(std::move(asked), std::move(then));
}

void local_session::handle(answer<defined>& got) {
  auto at = std::ranges::find(asked_, got.ticket, &std::pair<std::uint64_t, answered>::first);
  if (at == asked_.end()) return;
  auto then = std::move(at->second);
  asked_.erase(at);
  act([&] {
    if (!got.value) return then(failure{error{"the node is stopping"}});
    if (got.value->refused) return then(failure{error{got.value->refused->text}});
    then({});
  });
}

// ---- publishing

message local_session::make(std::string_view exchange, std::string_view routing_key, byte_view body,
                            byte_view properties) {
  message_parts parts;
  parts.exchange = exchange;
  parts.routing_key = routing_key;
  parts.properties = properties.empty() ? byte_view{amqp091::no_properties} : properties;
  parts.persistent = local_.properties.read(parts.properties).persistent;
  local_.writer.expect(batch::max_bytes / 8);
  return local_.writer.add(parts, body);
}

publish_outcome local_session::publish(message taken) {
  auto route = local_.view.route({vhost_, taken.exchange(), taken.routing_key(), {}, nullptr});
  if (route.status != route_status::found) return publish_outcome::no_exchange;
  if (route.queues.empty()) return publish_outcome::unroutable;

  const auto number = ++publishes_;
  if (run_ && run_.run().count == receipt::max_publishes) run_.release();
  if (!run_) run_ = receipt::open(receipts_, {0, 0, number, 0, 0});
  const auto footprint = taken.footprint();
  ++run_.run().count;
  run_.run().bytes += footprint;
  in_flight_ += footprint;
  local_.outbox.add(route.queues, std::move(taken), run_, number, node_.store);
  return publish_outcome::queued;
}

std::int64_t local_session::credit() const {
  if (node_.publishers_wait()) return 0;
  return static_cast<std::int64_t>(node_.configured().limits.publish_credit.value) -
         static_cast<std::int64_t>(in_flight_);
}

void local_session::handle(published& notice) {
  accepted_ += notice.run.count;
  if (notice.credit == credit_state::returned) give_credit_back(notice.run.bytes);
}

void local_session::handle(publishes_refused& notice) { refused_ += notice.sequences.size(); }

void local_session::handle(credit_paid& notice) { give_credit_back(notice.bytes); }

void local_session::give_credit_back(std::uint64_t bytes) {
  in_flight_ -= bytes;
  // Half of it: an end that is let go for every batch would publish one batch at a time.
  if (starved_ && nothing_to_wait_for()) go_on();
}

void local_session::go_on() {
  if (node_.publishers_wait()) {
    memory_timer_.arm(memory_interval);
    return;
  }
  starved_ = false;
  act([this] { end_->on_credit(*this); });
}

// ---- consuming

result<consumer_id> local_session::consume(std::string_view queue, consumer_options options) {
  const auto* here = local_.view.find_vhost(vhost_);
  const auto* found = here == nullptr ? nullptr : here->find_queue(queue);
  if (found == nullptr || found->direct_reply)
    return failure{error{no_queue(queue, default_vhost).text}};
  if (auto refused = check_exclusive_access(*found, id_)) return failure{error{refused->text}};
  subscription made;
  made.id = node_.next_consumer();
  made.queue = queue_endpoint::of(*found).queue;
  made.actor = baton::spawn<consumer_actor>(
      home(), made.id, made.queue, static_cast<delivery_sink&>(*this), options.byte_credit);
  made.queue.send(subscribe{made.id, made.actor, options});
  subscriptions_.push_back(std::move(made));
  return subscriptions_.back().id;
}

void local_session::on_deliver(consumer_id to, lease_batch leases) {
  enter([&] {
    auto* s = find(to);
    if (s == nullptr) return;
    const auto bytes = leases.bytes();
    act([&] { end_->on_deliver(*this, to, std::move(leases)); });
    // Taken over: there is no socket to wait for.
    if ((s = find(to)) != nullptr) s->face().left(bytes);
  });
}

void local_session::settle(consumer_id consumer, sequence number, outcome how) {
  settlements_.add({0, consumer, {number, 1, how}});
}

void local_session::cancel(consumer_id consumer) {
  if (auto* s = find(consumer)) s->queue.send(unsubscribe{consumer});
}

void local_session::on_subscribed(consumer_id which, std::optional<refusal> refused) {
  if (refused) end_subscription(which, &refused->text);
}

void local_session::on_unsubscribed(consumer_id which) { end_subscription(which, nullptr); }

void local_session::on_queue_gone(consumer_id which) {
  static const std::string why = "the queue has ended";
  end_subscription(which, &why);
}

void local_session::end_subscription(consumer_id which, const std::string* why) {
  enter([&] {
    auto* s = find(which);
    if (s == nullptr) return;
    s->face().sink_gone();
    if (why == nullptr) s->queue.send(abandon{which});
    std::erase_if(subscriptions_, [&](const auto& each) { return each.id == which; });
    if (why != nullptr) act([&] { end_->on_ended(*this, which, *why); });
  });
}

local_session::subscription* local_session::find(consumer_id which) {
  auto at = std::ranges::find(subscriptions_, which, &subscription::id);
  return at == subscriptions_.end() ? nullptr : &*at;
}

void local_session::detach() {
  enter([this] { quit(); });
}

void local_session::handle(local_work& work) {
  act([&] { work.run(*this, *end_); });
}

}  // namespace baton
