#include <algorithm>

#include "tests/simulation/client_notes.hpp"

// What the node says to a client, and what the client makes of it.
namespace baton::simulation {

namespace {

namespace methods = amqp091::methods;

constexpr std::uint16_t no_route = 312;

}  // namespace

// ---- the connection

void client::opened() {
  note("is connected");
  if (drains_) open_channel();
}

void client::closed(std::uint16_t code, std::string_view text) {
  if (where_.node_stops) {
    note("connection closed: ", code);
    for (auto& c : channels_) give_up(*c);
    channels_.clear();
    closing_ = blocked_ = false;
    return;
  }
  if (code != 200 || !closing_)
    broken("its connection was closed: " + std::to_string(code) + " " + std::string{text});
  note("connection closed");
  for (auto& c : channels_) may_fail(*c) ? doubt(*c) : prove(*c);
  channels_.clear();
  closing_ = blocked_ = false;
}

void client::blocked(std::string_view reason) {
  note("is blocked: ", reason);
  ++where_.times_blocked;
  if (std::exchange(blocked_, true)) broken("it was blocked twice");
  if (!has_published_) broken("it was blocked, though it has never published");
}

void client::unblocked() {
  note("is unblocked");
  if (!std::exchange(blocked_, false)) broken("it was unblocked, though it was not blocked");
}

// ---- AMQP channels

void client::channel_opened(std::uint16_t number) {
  auto& c = find(number);
  note("channel ", number, " is open");
  c.open = true;
  if (drains_) {
    const auto window = static_cast<std::uint32_t>(dice_.below(20));
    set_window(c, window, dice_.once_in(2));
    for (std::size_t q = 0; q < model_.queues(); ++q) drain(c, q);
    return;
  }
  if (settling_) return;
  if (dice_.once_in(2)) {
    c.kind = channel_kind::confirm;
    machine_->send(number, methods::confirm_select{});
    ask(c, request::confirms);
  } else if (dice_.once_in(3) && !where_.some_refuse) {  // a refused commit would fail the channel
    c.kind = channel_kind::transactional;
    may_overdraw_ = true;
    machine_->send(number, methods::tx_select{});
    ask(c, request::transactions);
  }
  if (dice_.once_in(4)) set_window(c, 1 + static_cast<std::uint32_t>(dice_.below(6)), true);
}

void client::drain(channel& c, std::size_t queue) {
  change(c, model::change::declare, queue);
  consume(c, queue, false);
}

// ---- messages

void client::delivered(std::uint16_t number, std::string_view consumer_tag, std::uint64_t tag,
                       bool redelivered, const amqp091::message_view& content) {
  auto& c = find(number);
  for (auto& one : c.consumers)
    if (tag_of(one.name) == consumer_tag) {
      if (!one.started) broken("a delivery for a consumer that has not started");
      return take(c, one, tag, redelivered, one.no_ack, content);
    }
  broken("a delivery for " + std::string{consumer_tag} + ", which does not exist");
}

void client::returned(std::uint16_t number, std::uint16_t code, std::string_view,
                      const amqp091::message_view& content) {
  const auto id = read_body(content);
  if (!id) return;
  note("channel ", number, " has message ", *id, " back");
  if (code != no_route) broken("a message was returned with code " + std::to_string(code));
  if (model_[*id].publisher != find(number).id) broken("a message was returned to another");
  model_.give_return(*id);
}

void client::got(std::uint16_t number, std::uint64_t tag, bool redelivered, std::uint32_t,
                 const amqp091::message_view& content) {
  const auto asked = answered(number, request::get);
  if (!asked) return;
  auto& c = find(number);
  // Order holds for each queue that is fetched from.
  if (c.fetched.queue != asked->queue) c.fetched = {};
  c.fetched.queue = asked->queue;
  c.fetched.since = asked->since;
  take(c, c.fetched, tag, redelivered, asked->no_ack, content);
}

void client::on(std::uint16_t number, const methods::basic_get_empty&) {
  answered(number, request::get);
}

void client::on(std::uint16_t number, const methods::basic_ack& ack) {
  note("channel ", number, " is confirmed ", ack.delivery_tag, ack.multiple ? ", multiple" : "");
  confirmed(find(number), ack.delivery_tag, ack.multiple, true);
}

void client::on(std::uint16_t number, const methods::basic_nack& nack) {
  note("channel ", number, " is refused ", nack.delivery_tag, nack.multiple ? ", multiple" : "");
  confirmed(find(number), nack.delivery_tag, nack.multiple, false);
}

void client::confirmed(channel& c, std::uint64_t last, bool multiple, bool taken) {
  if (c.kind != channel_kind::confirm || last == 0 || last > c.published.size())
    return broken("a confirm of " + std::to_string(last) + ", which was not published");
  if (c.confirmed[last - 1])
    return broken("publish " + std::to_string(last) + " was confirmed twice");
  for (auto i = multiple ? 0 : last - 1; i < last; ++i) {
    if (c.confirmed[i]) continue;
    c.confirmed[i] = true;
    --c.unconfirmed;
    taken ? model_.confirm(c.published[i]) : model_.refuse(c.published[i]);
  }
}

// ---- consumers

void client::on(std::uint16_t number, const methods::basic_qos_ok&) {
  const auto asked = answered(number, request::qos);
  if (asked && asked->shared_window) find(number).shared_window = *asked->shared_window;
}

void client::on(std::uint16_t number, const methods::basic_consume_ok& ok) {
  answered(number, request::consume);
  for (auto& one : find(number).consumers)
    if (tag_of(one.name) == ok.consumer_tag) one.started = true;
}

void client::on(std::uint16_t number, const methods::basic_cancel& cancel) {
  auto& c = find(number);
  note("channel ", number, " loses ", cancel.consumer_tag, " with its queue");
  const auto which = std::find_if(c.consumers.begin(), c.consumers.end(), [&](const auto& one) {
    return tag_of(one.name) == cancel.consumer_tag;
  });
  if (which == c.consumers.end() || model_.is_sure_since(which->queue, which->since))
    return broken("the node cancels " + std::string{cancel.consumer_tag});
  const auto queue = which->queue;
  c.consumers.erase(which);
  if (drains_) drain(c, queue);
}

void client::on(std::uint16_t number, const methods::basic_cancel_ok& ok) {
  answered(number, request::cancel);
  std::erase_if(find(number).consumers,
                [&](const auto& one) { return tag_of(one.name) == ok.consumer_tag; });
}

void client::on(std::uint16_t number, const methods::basic_recover_ok&) {
  answered(number, request::recover);
}

// ---- queues

void client::on(std::uint16_t number, const methods::queue_declare_ok& ok) {
  note("channel ", number, " is told that ", ok.queue, " has ", ok.message_count);
  const auto& c = find(number);
  const bool looked = !c.asked.empty() && c.asked.front().what == request::look;
  answered(number, looked ? request::look : request::declare);
  for (std::size_t q = 0; q < model_.queues(); ++q) {
    const auto& rules = where_.rules[q];
    if (queue_name(q) == ok.queue && rules.max_length > 0 && !rules.refuses &&
        ok.message_count > rules.max_length)
      broken("queue " + std::string{ok.queue} + " has more messages than it may");
  }
  if (drains_ && looked && ok.message_count > 0)
    broken("queue " + std::string{ok.queue} + " still has " + std::to_string(ok.message_count) +
           " messages");
}

void client::on(std::uint16_t number, const methods::queue_bind_ok&) {
  answered(number, request::bind);
}
void client::on(std::uint16_t number, const methods::queue_unbind_ok&) {
  answered(number, request::unbind);
}
void client::on(std::uint16_t number, const methods::queue_purge_ok& ok) {
  note("channel ", number, " has purged ", ok.message_count);
  answered(number, request::purge);
}
void client::on(std::uint16_t number, const methods::queue_delete_ok& ok) {
  note("channel ", number, " has deleted a queue with ", ok.message_count);
  answered(number, request::remove);
}

void client::on(std::uint16_t number, const methods::exchange_declare_ok&) {
  answered(number, request::declare_exchange);
}
void client::on(std::uint16_t number, const methods::exchange_bind_ok&) {
  answered(number, request::bind_exchange);
}
void client::on(std::uint16_t number, const methods::exchange_unbind_ok&) {
  answered(number, request::unbind_exchange);
}
void client::on(std::uint16_t number, const methods::exchange_delete_ok&) {
  answered(number, request::remove_exchange);
}

// ---- confirms and transactions

void client::on(std::uint16_t number, const methods::confirm_select_ok&) {
  answered(number, request::confirms);
}
void client::on(std::uint16_t number, const methods::tx_select_ok&) {
  answered(number, request::transactions);
}
void client::on(std::uint16_t number, const methods::tx_commit_ok&) {
  note("channel ", number, " has committed");
  if (const auto asked = answered(number, request::commit))
    for (auto id : asked->committed) model_.confirm(id);
}
void client::on(std::uint16_t number, const methods::tx_rollback_ok&) {
  answered(number, request::rollback);
}

}  // namespace baton::simulation
