#include <algorithm>
#include <limits>

#include "actors/connection/channel_checks.hpp"
#include "actors/connection/generated_name.hpp"
#include "actors/topology/names.hpp"
#include "transport/amqp091/properties.hpp"

/// Class basic, the consuming half: subscriptions, deliveries and what becomes of them.
namespace baton {

namespace {

namespace methods = amqp091::methods;
using amqp091::reply_code;

std::string type_of(const amqp091::encoded_value& value) {
  auto decoded = amqp091::decode_value(value);
  return decoded ? std::string{amqp091::type_name(*decoded)} : "unknown";
}

/// Properties of a message that has come back, with a header that says how often.
amqp091::output_buffer counted_properties(const lease& returned) {
  amqp091::properties_editor editor{returned.content.properties()};
  editor.set_header("x-delivery-count", {integer_value{returned.returns}});
  amqp091::output_buffer made;
  editor.finish(made);
  return made;
}

}  // namespace

// ---- books

std::vector<std::unique_ptr<amqp_channel::consumer>>::const_iterator amqp_channel::place_of(
    consumer_id which) const noexcept {
  const auto at = std::ranges::lower_bound(consumers_, which, {}, &consumer::id_of);
  return at != consumers_.end() && (*at)->id == which ? at : consumers_.end();
}

amqp_channel::consumer* amqp_channel::find(consumer_id which) const noexcept {
  const auto at = place_of(which);
  return at == consumers_.end() ? nullptr : at->get();
}

amqp_channel::consumer* amqp_channel::find(std::string_view tag) const noexcept {
  const auto at = tags_.find(tag);
  return at == tags_.end() ? nullptr : at->second;
}

void amqp_channel::add_consumer(std::unique_ptr<consumer> started) {
  context_.consumers.emplace(started->id, this);
  tags_.emplace(started->tag, started.get());
  consumers_.push_back(std::move(started));  // ids only grow: still sorted
}

std::uint32_t amqp_channel::take_holder(holder made) {
  if (free_holders_.empty()) {
    holders_.push_back(std::move(made));
    return static_cast<std::uint32_t>(holders_.size() - 1);
  }
  const auto index = free_holders_.back();
  free_holders_.pop_back();
  holders_[index] = std::move(made);
  return index;
}

void amqp_channel::drop_holder_if_done(std::uint32_t index) {
  auto& h = holders_[index];
  if (h.unsettled > 0 || h.subscribed || h.fetching || h.id == consumer_id{}) return;
  h = {};
  free_holders_.push_back(index);
}

// ---- subscriptions

void amqp_channel::on(const methods::basic_consume& asked) {
  if (find(asked.consumer_tag) != nullptr && !asked.consumer_tag.empty())
    return raise<methods::basic_consume>(
        reply_code::not_allowed,
        "attempt to reuse consumer tag '" + std::string{asked.consumer_tag} + "'");
  if (asked.queue == direct_reply_queue) return start_reply_consumer(asked);

  auto name = queue_name_or_last<methods::basic_consume>(asked.queue);
  if (!name) return;
  const auto* queue = find_queue<methods::basic_consume>(*name, permission::read);
  if (queue == nullptr) return;
  if (context_.consumers.size() >= context_.limits().max_consumers_per_connection)
    return raise<methods::basic_consume>(
        reply_code::resource_error,
        "a connection may have " + std::to_string(context_.limits().max_consumers_per_connection) +
            " consumers (limits.max_consumers_per_connection)");
  std::int32_t priority = 0;
  if (auto given = amqp091::find_in_table(asked.arguments.entries, "x-priority")) {
    auto number = given->integer();
    if (!number)
      return raise<methods::basic_consume>(
          reply_code::precondition_failed,
          "invalid arg 'x-priority' for " + queue_text(*name, context_.vhost_name) +
              ": \"expected integer, got " + type_of(*given) + '"');
    priority = static_cast<std::int32_t>(std::clamp<std::int64_t>(*number, INT32_MIN, INT32_MAX));
  }
  stream_reading reading;
  if (queue->arguments.type == queue_type::stream) {
    auto checked = reading_of(asked, *queue);
    if (!checked) return;
    reading = *std::move(checked);
  }
  start_consumer(asked, *queue, priority, std::move(reading));
}

std::optional<stream_reading> amqp_channel::reading_of(const methods::basic_consume& asked,
                                                       const queue_entry& stream) {
  const auto text = queue_text(stream.name, context_.vhost_name);
  if (asked.no_ack) {
    raise<methods::basic_consume>(
        reply_code::not_implemented,
        "automatic acknowledgement is not supported by stream queues: " + text);
    return std::nullopt;
  }
  if (!windows_.is_limited()) {
    raise<methods::basic_consume>(reply_code::precondition_failed,
                                  "consumer prefetch count is not set for " + text);
    return std::nullopt;
  }
  const auto now = context_.home.now().time_since_epoch();
  const auto wall_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now) + context_.node.wall_offset;
  auto reading =
      parse_stream_reading(asked.arguments.entries, static_cast<std::uint64_t>(wall_ms.count()));
  if (reading) return *std::move(reading);
  raise<methods::basic_consume>(reply_code::precondition_failed,
                                reading.reason().text + ", for " + text);
  return std::nullopt;
}

void amqp_channel::start_consumer(const methods::basic_consume& asked, const queue_entry& entry,
                                  std::int32_t priority, stream_reading reading) {
  const auto& queue = queue_endpoint::of(entry).queue;
  const auto& limits = context_.limits();
  auto started = std::make_unique<consumer>();
  started->id = context_.node.next_consumer();
  started->tag =
      asked.consumer_tag.empty() ? generated_name("amq.ctag-") : std::string{asked.consumer_tag};
  started->queue = entry.name;
  started->no_ack = asked.no_ack;
  started->exclusive = asked.exclusive;
  started->no_wait = asked.no_wait;
  started->counted = entry.arguments.type == queue_type::quorum;
  started->priority = priority;
  started->prefetch = windows_.for_new_consumer();
  started->holder = take_holder({started->id, queue, 0, true, false});
  started->encoder.emplace(number_, started->tag, context_.machine.frame_max());
  started->actor = baton::spawn<consumer_actor>(context_.home, started->id, queue, context_.sink,
                                                limits.delivery_credit.value);

  consumer_options options;
  options.no_ack = asked.no_ack;
  options.exclusive = asked.exclusive;
  options.priority = priority;
  options.prefetch = started->prefetch;
  options.byte_credit = limits.delivery_credit.value;
  options.reading = std::move(reading);
  options.demand = windows_.add(started->id, asked.no_ack);

  wait();
  starting_ = true;
  queue.send(subscribe{started->id, started->actor, options});
  add_consumer(std::move(started));
}

void amqp_channel::start_reply_consumer(const methods::basic_consume& asked) {
  if (!asked.no_ack)
    return raise<methods::basic_consume>(reply_code::precondition_failed,
                                         "reply consumer cannot acknowledge");
  if (!reply_to_.empty())
    return raise<methods::basic_consume>(reply_code::precondition_failed,
                                         "reply consumer already set");
  auto started = std::make_unique<consumer>();
  started->id = context_.node.next_consumer();
  started->tag =
      asked.consumer_tag.empty() ? generated_name("amq.ctag-") : std::string{asked.consumer_tag};
  started->queue = direct_reply_queue;
  started->no_ack = true;
  started->no_wait = asked.no_wait;
  started->holder = take_holder({started->id, {}, 0, true, false});
  started->encoder.emplace(number_, started->tag, context_.machine.frame_max());
  started->actor =
      baton::spawn<consumer_actor>(context_.home, started->id, queue_ref{}, context_.sink,
                                   context_.limits().delivery_credit.value);
  reply_to_ = generated_name(direct_reply_prefix);
  publish_ref to = started->actor;
  auto id = started->id;
  add_consumer(std::move(started));
  wait();
  on_defined_ = [this, id](defined&) {
    if (const auto* c = find(id); c != nullptr && !c->no_wait)
      context_.machine.send(number_, methods::basic_consume_ok{c->tag});
  };
  context_.node.topology.send(define{context_.who(),
                                     reply_name{context_.vhost, reply_to_, to},
                                     nullptr,
                                     {context_.self, ticket()}});
}

void amqp_channel::subscribed(consumer_id which, std::optional<refusal> refused) {
  starting_ = false;
  if (auto* c = find(which)) {
    c->starting = false;
    if (refused) {
      remove_consumer(which);
      raise<methods::basic_consume>(*refused);
    } else if (!c->no_wait) {
      context_.machine.send(number_, methods::basic_consume_ok{c->tag});
    }
  }
  go_on_unless_waiting();
}

void amqp_channel::on(const methods::basic_cancel& asked) {
  auto* c = find(asked.consumer_tag);
  if (c == nullptr) {
    if (!asked.no_wait)
      context_.machine.send(number_, methods::basic_cancel_ok{asked.consumer_tag});
    return;
  }
  c->no_wait = asked.no_wait;
  if (!holders_[c->holder].queue) {  // direct replies, or a queue that has ended
    if (c->queue == direct_reply_queue)
      context_.node.topology.send(
          define{context_.who(),
                 reply_name{context_.vhost, std::exchange(reply_to_, {}), {}},
                 nullptr,
                 {}});
    return unsubscribed(c->id);
  }
  wait();
  c->cancelling = true;
  starting_ = true;
  holders_[c->holder].queue.send(unsubscribe{c->id});
}

void amqp_channel::unsubscribed(consumer_id which) {
  starting_ = false;
  if (auto* c = find(which)) {
    if (!c->no_wait) context_.machine.send(number_, methods::basic_cancel_ok{c->tag});
    remove_consumer(which);
  }
  go_on_unless_waiting();
}

void amqp_channel::queue_gone(consumer_id which) {
  auto* c = find(which);
  if (c == nullptr) return;
  if (c->starting) return subscribed(which, no_queue(c->queue, context_.vhost_name));
  if (c->cancelling) return unsubscribed(which);
  if (deleting_ && holders_[c->holder].queue == deleting_)
    cancelled_.push_back(c->tag);
  else
    tell_cancelled(c->tag);
  // Its leases may still be settled, to no effect.
  remove_consumer(which);
}

void amqp_channel::tell_cancelled(const std::string& tag) {
  if (context_.machine.client().capabilities().consumer_cancel_notify)
    context_.machine.send(number_, methods::basic_cancel{tag, true});
}

void amqp_channel::remove_consumer(consumer_id which) {
  const auto at = place_of(which);
  if (at == consumers_.end()) return;
  auto& c = **at;
  windows_.remove(which, demands_);
  holders_[c.holder].subscribed = false;
  drop_holder_if_done(c.holder);
  c.face().sink_gone();
  if (c.in_output > 0) std::erase(unwritten_, &c);
  tags_.erase(c.tag);
  consumers_.erase(at);
  context_.consumers.erase(which);
  tell_demands();
}

// ---- deliveries

void amqp_channel::deliver(consumer_id to, lease_batch leases) {
  auto* c = find(to);
  if (c == nullptr || closed_) return;  // given back by `abandon`
  const auto bytes = leases.bytes();
  const auto count = static_cast<std::uint32_t>(leases.size());
  for (const auto& l : leases) {
    auto tag = c->no_ack ? unsettled_.skip() : unsettled_.record({l.number, to, c->holder});
    encode_delivery(*c, tag, l);
  }
  if (!c->no_ack) holders_[c->holder].unsettled += count;
  if (c->in_output == 0 && bytes > 0) {
    if (unwritten_.empty()) context_.unwritten.push_back(this);
    unwritten_.push_back(c);
  }
  c->in_output += bytes;
  c->delivered += count;
  context_.delivered += count;
  windows_.took(to, count, demands_);
  tell_demands();
}

void amqp_channel::encode_delivery(consumer& to, std::uint64_t tag, const lease& what) {
  if (to.counted && what.returns > 0)
    context_.output.deliver(*to.encoder, tag, what.redelivered, what.content,
                            counted_properties(what).view());
  else
    context_.output.deliver(*to.encoder, tag, what.redelivered, what.content);
}

void amqp_channel::deliver_reply(consumer_id to, batch messages) {
  auto* c = find(to);
  if (c == nullptr || closed_) return;
  for (const auto& m : messages) context_.output.deliver(*c->encoder, unsettled_.skip(), false, m);
  c->delivered += messages.size();
  context_.delivered += messages.size();
}

void amqp_channel::output_written() {
  for (auto* c : unwritten_) c->face().left(std::exchange(c->in_output, 0));
  unwritten_.clear();
}

// ---- basic.get

void amqp_channel::on(const methods::basic_get& asked) {
  auto name = queue_name_or_last<methods::basic_get>(asked.queue);
  if (!name) return;
  const auto* entry = find_queue<methods::basic_get>(*name, permission::read);
  if (entry == nullptr) return;
  if (entry->arguments.type == queue_type::stream)
    return raise<methods::basic_get>(
        reply_code::not_implemented,
        "basic.get not supported by stream queues " + queue_text(*name, context_.vhost_name));
  const auto limit = context_.limits().max_unacknowledged;
  if (!asked.no_ack && fetched_ >= limit)
    return raise<methods::basic_get>(
        reply_code::precondition_failed,
        "a channel may have " + std::to_string(limit) +
            " unacknowledged messages of basic.get (limits.max_unacknowledged)");
  auto queue = queue_endpoint::of(*entry).queue;
  auto at =
      std::ranges::find_if(holders_, [&](const holder& h) { return h.getter && h.queue == queue; });
  auto index = at != holders_.end()
                   ? static_cast<std::uint32_t>(at - holders_.begin())
                   : take_holder({context_.node.next_consumer(), queue, 0, false, true});
  holders_[index].fetching = true;
  wait();
  const bool counted = entry->arguments.type == queue_type::quorum;
  on_fetched_ = [this, index, no_ack = asked.no_ack, counted](fetched& got) {
    if (!got.message) {
      context_.machine.send(number_, methods::basic_get_empty{});
    } else {
      auto& l = *got.message;
      auto& h = holders_[index];
      auto tag = no_ack ? unsettled_.skip() : unsettled_.record({l.number, h.id, index});
      if (!no_ack) {
        ++h.unsettled;
        ++fetched_;
      }
      ++context_.delivered;
      const auto remaining = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(got.remaining, std::numeric_limits<std::uint32_t>::max()));
      const methods::basic_get_ok ok{tag, l.redelivered, l.content.exchange(),
                                     l.content.routing_key(), remaining};
      const auto frame_max = context_.machine.frame_max();
      if (counted && l.returns > 0)
        context_.output.send_content(number_, ok, l.content, counted_properties(l).view(),
                                     frame_max);
      else
        context_.output.send_content(number_, ok, l.content, frame_max);
    }
    // A channel may ask thousands of queues in its life: it remembers those whose leases it has.
    flush();
    holders_[index].fetching = false;
    drop_holder_if_done(index);
  };
  queue.send(fetch{holders_[index].id, asked.no_ack, {context_.self, ticket()}});
}

// ---- windows and settling

void amqp_channel::on(const methods::basic_qos& asked) {
  if (asked.prefetch_size != 0)
    return raise<methods::basic_qos>(
        reply_code::not_implemented,
        "prefetch_size!=0 (" + std::to_string(asked.prefetch_size) + ")");
  windows_.set(asked.prefetch_count, asked.global, demands_);
  tell_demands();
  // Nothing beyond a smaller window comes behind its answer.
  narrowing_ = true;
  if (windows_.narrowing())
    wait();
  else
    answer_qos();
}

void amqp_channel::answer_qos() {
  if (!narrowing_ || windows_.narrowing()) return;
  narrowing_ = false;
  context_.machine.send(number_, methods::basic_qos_ok{});
  go_on_unless_waiting();
}

void amqp_channel::short_of_demand(consumer_id which) {
  windows_.short_of_demand(which, demands_);
  tell_demands();
}

void amqp_channel::demand_given_back(consumer_id which, std::uint32_t unused) {
  windows_.given_back(which, unused, demands_);
  tell_demands();
}

void amqp_channel::tell_demands() {
  for (const auto& change : std::exchange(demands_, {}))
    if (const auto* c = find(change.consumer); c != nullptr && holders_[c->holder].queue)
      holders_[c->holder].queue.send(demand{change});
  answer_qos();
}

void amqp_channel::on(const methods::basic_ack& ack) {
  settle<methods::basic_ack>(ack.delivery_tag, ack.multiple, outcome::accept);
}
void amqp_channel::on(const methods::basic_nack& nack) {
  settle<methods::basic_nack>(nack.delivery_tag, nack.multiple,
                              nack.requeue ? outcome::release : outcome::reject);
}
void amqp_channel::on(const methods::basic_reject& reject) {
  settle<methods::basic_reject>(reject.delivery_tag, false,
                                reject.requeue ? outcome::release : outcome::reject);
}

template <class Method>
void amqp_channel::settle(std::uint64_t tag, bool multiple, outcome how) {
  if (mode_.transactional()) {
    if (!transaction_fits(0)) return;
    auto set = unsettled_.set_aside(tag, multiple, how);
    if (!set) raise<Method>(reply_code::precondition_failed, to_string(set.reason()));
    return;
  }
  auto done = unsettled_.settle(tag, multiple, how, [this](const settled_run& run) { ended(run); });
  if (!done) raise<Method>(reply_code::precondition_failed, to_string(done.reason()));
}

void amqp_channel::ended(const settled_run& run) {
  auto& h = holders_[run.queue];
  h.unsettled -= run.leases.count;
  if (h.getter)
    fetched_ -= run.leases.count;
  else
    windows_.settled(run.leases.count, demands_);
  settlements_.add(run);
  context_.mark_for_flush(*this);
}

void amqp_channel::on(const methods::basic_recover& asked) {
  if (!asked.requeue)
    return raise<methods::basic_recover>(reply_code::not_implemented, "requeue=false");
  // The answer comes ahead of the redeliveries.
  context_.machine.send(number_, methods::basic_recover_ok{});
  unsettled_.settle_all(outcome::release, [this](const settled_run& run) { ended(run); });
}

void amqp_channel::on(const methods::basic_recover_async& asked) {
  if (!asked.requeue)
    return raise<methods::basic_recover_async>(reply_code::not_implemented, "requeue=false");
  unsettled_.settle_all(outcome::release, [this](const settled_run& run) { ended(run); });
}

}  // namespace baton
