#include <algorithm>
#include <array>

#include "tests/simulation/client_notes.hpp"

// How a client asks for things: each question goes into the node's socket and into the books.
namespace baton::simulation {

namespace {

namespace methods = amqp091::methods;

/// A client writes no more while so much of what it has written waits for its socket.
constexpr std::size_t enough_unsent = 2048;
constexpr std::size_t most_consumers = 3;  // of an AMQP channel
constexpr std::ptrdiff_t most_gets = 2;
constexpr std::ptrdiff_t most_fetched = 4 - most_gets;  // limits.max_unacknowledged is at least 4

}  // namespace

field_table surroundings::queue_rules::arguments() const {
  field_table all;
  if (max_length == 0) return all;
  all.emplace_back("x-max-length", field_value{integer_value{max_length}});
  if (refuses) all.emplace_back("x-overflow", field_value{std::string{"reject-publish"}});
  return all;
}

client::question& client::ask(channel& c, request what, std::size_t queue) {
  return c.asked.emplace_back(question{.what = what, .queue = queue, .since = model_.now(queue)});
}

// ---- messages

void client::publish(channel& c) {
  for (auto count = 1 + dice_.below(6); count > 0 && out_.size() < enough_unsent; --count) {
    const bool to_all = dice_.once_in(6);
    const bool by_own = to_all && c.exchange != 0 && dice_.once_in(2);
    const auto to = by_own && !c.leads_on ? model::to_nobody
                    : to_all              ? model::to_all
                                          : dice_.below(model_.queues());
    const auto exchange = !to_all  ? std::string{}
                          : by_own ? exchange_name(c.exchange)
                                   : std::string{fanout};
    std::uint32_t size = 8 + static_cast<std::uint32_t>(dice_.below(100));
    if (dice_.once_in(12)) size = 8 + static_cast<std::uint32_t>(dice_.below(where_.largest_body));
    const bool mandatory = dice_.once_in(3);
    const bool is_persistent = dice_.once_in(2);
    const auto id = model_.publish({.publisher = c.id,
                                    .size = size,
                                    .to = to,
                                    .mandatory = mandatory,
                                    .persistent = is_persistent,
                                    .exchange = by_own ? c.exchange : 0});
    std::vector<std::uint8_t> body(size);
    amqp091::store(body.data(), id);
    for (std::size_t i = 8; i < size; ++i) body[i] = filler(id, i);
    constexpr std::array<std::uint8_t, 2> no_properties{0, 0};
    constexpr std::array<std::uint8_t, 3> persistent{0x10, 0, 2};
    const auto key = to_all ? std::string{fanout_key} : queue_name(to);
    note("channel ", c.number, " publishes message ", id, " to '", exchange, "' with key ", key,
         ", ", size, " bytes", is_persistent ? ", persistent" : "", mandatory ? ", mandatory" : "");
    machine_->publish(c.number, {.exchange = exchange, .routing_key = key, .mandatory = mandatory},
                      is_persistent ? byte_view{persistent} : byte_view{no_properties}, body);
    has_published_ = true;
    c.published.push_back(id);
    c.confirmed.push_back(false);
    if (c.kind == channel_kind::confirm) ++c.unconfirmed;
    if (c.kind == channel_kind::transactional) c.in_transaction.push_back(id);
  }
}

void client::set_window(channel& c, std::uint32_t window, bool shared) {
  note("channel ", c.number, " sets its ", shared ? "shared window to " : "window to ", window);
  machine_->send(c.number, methods::basic_qos{.prefetch_count = static_cast<std::uint16_t>(window),
                                              .global = shared});
  auto& asked = ask(c, request::qos);
  if (shared)
    asked.shared_window = window;
  else
    c.window = window;
}

void client::consume(channel& c, std::size_t queue, bool no_ack) {
  if (c.consumers.size() >= most_consumers && !drains_) return;
  if (dice_.once_in(2)) set_window(c, static_cast<std::uint32_t>(dice_.below(8)), false);
  if (!model_.is_there(queue) && !dice_.once_in(8)) restore(c, queue);
  auto& made = c.consumers.emplace_back();
  made.name = ++where_.next_name;
  made.queue = queue;
  made.since = model_.now(queue);
  made.no_ack = no_ack;
  may_overdraw_ = may_overdraw_ || !no_ack;
  made.window = no_ack ? 0 : c.window;
  const auto tag = tag_of(made.name);
  const auto name = queue_name(queue);
  note("channel ", c.number, " consumes from ", name, " as ", tag, no_ack ? ", no-ack" : "");
  machine_->send(c.number,
                 methods::basic_consume{.queue = name, .consumer_tag = tag, .no_ack = no_ack});
  ask(c, request::consume, queue);
}

void client::cancel(channel& c) {
  for (auto& one : c.consumers) {
    if (one.cancelling || !one.started) continue;
    one.cancelling = true;
    const auto tag = tag_of(one.name);
    note("channel ", c.number, " cancels ", tag);
    machine_->send(c.number, methods::basic_cancel{.consumer_tag = tag});
    ask(c, request::cancel, one.queue);
    return;
  }
}

void client::get(channel& c) {
  const auto count = [](const auto& all, auto&& which) {
    return std::count_if(all.begin(), all.end(), which);
  };
  if (count(c.asked, [](const auto& one) { return one.what == request::get; }) >= most_gets) return;
  if (count(c.held, [](const auto& one) { return one.consumer == 0; }) +
          count(c.aside, [](const auto& one) { return one.of.consumer == 0; }) >
      most_fetched)
    return;
  const auto queue = dice_.below(model_.queues());
  const bool no_ack = dice_.once_in(3);
  const auto name = queue_name(queue);
  if (!model_.is_there(queue) && !dice_.once_in(8)) restore(c, queue);
  note("channel ", c.number, " gets from ", name, no_ack ? ", no-ack" : "");
  machine_->send(c.number, methods::basic_get{.queue = name, .no_ack = no_ack});
  ask(c, request::get, queue).no_ack = no_ack;
  may_overdraw_ = may_overdraw_ || !no_ack;
}

void client::settle_some(channel& c) {
  if (c.held.empty()) return;
  const auto last = dice_.below(c.held.size());
  const auto tag = c.held[last].tag;
  const bool multiple = dice_.once_in(2);
  const auto how = dice_.below(6);
  const bool requeue = how >= 3 && how != 5;
  note("channel ", c.number, how < 3 ? " acks " : " nacks ", tag, multiple ? ", multiple" : "",
       requeue ? ", requeue" : "");
  if (how < 3)
    machine_->send(c.number, methods::basic_ack{tag, multiple});
  else if (!multiple && dice_.once_in(2))
    machine_->send(c.number, methods::basic_reject{tag, requeue});
  else
    machine_->send(c.number, methods::basic_nack{tag, multiple, requeue});
  const auto first = multiple ? 0 : last;
  for (auto i = first; i <= last; ++i) settle(c, c.held[i], requeue);
  c.held.erase(c.held.begin() + static_cast<std::ptrdiff_t>(first),
               c.held.begin() + static_cast<std::ptrdiff_t>(last + 1));
}

void client::accept_all(channel& c) {
  if (!c.open || c.closing) return;
  if (!c.held.empty()) {
    note("channel ", c.number, " acks all up to ", c.held.back().tag);
    machine_->send(c.number, methods::basic_ack{c.held.back().tag, true});
    for (const auto& copy : c.held) settle(c, copy, false);
    c.held.clear();
  }
  if (!c.aside.empty() || !c.in_transaction.empty()) end_transaction(c, true);
}

void client::recover(channel& c) {
  note("channel ", c.number, " recovers");
  for (const auto& copy : c.held) done_with(c, copy, true);
  c.held.clear();
  for (const auto& one : c.consumers) model_.may_redeliver(one.queue);
  for (const auto& one : c.asked)
    if (one.what == request::get) model_.may_redeliver(one.queue);
  machine_->send(c.number, methods::basic_recover{.requeue = true});
  ask(c, request::recover);
}

void client::end_transaction(channel& c, bool commit) {
  note("channel ", c.number, commit ? " commits" : " rolls back");
  if (commit) {
    machine_->send(c.number, methods::tx_commit{});
    for (const auto& [copy, requeue] : c.aside) done_with(c, copy, requeue);
    ask(c, request::commit).committed = std::move(c.in_transaction);
  } else {
    machine_->send(c.number, methods::tx_rollback{});
    for (const auto& [copy, requeue] : c.aside) c.held.push_back(copy);
    std::sort(c.held.begin(), c.held.end(),
              [](const auto& left, const auto& right) { return left.tag < right.tag; });
    for (auto id : c.in_transaction) model_.withdraw(id);
    ask(c, request::rollback);
  }
  c.aside.clear();
  c.in_transaction.clear();
}

// ---- queues

void client::look(channel& c, std::size_t queue) {
  const auto name = queue_name(queue);
  note("channel ", c.number, " looks at ", name);
  machine_->send(c.number, methods::queue_declare{.queue = name, .passive = true});
  ask(c, request::look, queue);
}

void client::change(channel& c, model::change what, std::size_t queue) {
  const auto name = queue_name(queue);
  const auto begin = [&](request asked, std::string_view title) {
    note("channel ", c.number, " ", title, " ", name);
    ask(c, asked, queue).change = model_.ask(what, queue);
  };
  switch (what) {
    case model::change::declare: {
      begin(request::declare, "declares");
      amqp091::output_buffer arguments;
      amqp091::encode_table(arguments, where_.rules[queue].arguments());
      const auto entries = arguments.view().subspan(sizeof(std::uint32_t));
      return machine_->send(c.number, methods::queue_declare{.queue = name,
                                                             .durable = where_.rules[queue].durable,
                                                             .arguments = {entries}});
    }
    case model::change::bind:
      begin(request::bind, "binds");
      return machine_->send(c.number, methods::queue_bind{.queue = name, .exchange = fanout});
    case model::change::unbind:
      begin(request::unbind, "unbinds");
      return machine_->send(c.number, methods::queue_unbind{.queue = name, .exchange = fanout});
    case model::change::remove:
      begin(request::remove, "deletes");
      return machine_->send(c.number, methods::queue_delete{.queue = name});
    case model::change::purge:
      begin(request::purge, "purges");
      return machine_->send(c.number, methods::queue_purge{.queue = name});
  }
}

void client::change_something(channel& c) {
  const auto queue = dice_.below(model_.queues());
  if (!model_.is_there(queue) && dice_.once_in(2)) return restore(c, queue);
  switch (dice_.below(8)) {
    case 0:
    case 1:
      return change(c, model::change::remove, queue);
    case 2:
      return change(c, model::change::unbind, queue);
    case 3:
      return change(c, model::change::bind, queue);
    case 4:
    case 5:
      return restore(c, queue);
    default:
      return change(c, model::change::purge, queue);
  }
}

void client::change_exchange(channel& c) {
  if (!c.in_transaction.empty()) return;  // which is routed when it is committed
  const auto bind = [&](const std::string& from, const std::string& to) {
    note("channel ", c.number, " binds ", from, " to ", to);
    machine_->send(c.number, methods::exchange_bind{
                                 .destination = to, .source = from, .routing_key = fanout_key});
    ask(c, request::bind_exchange);
  };
  if (c.exchange == 0) {
    constexpr std::array<std::string_view, 3> types{"fanout", "direct", "topic"};
    c.exchange = ++where_.next_name;
    const auto name = exchange_name(c.exchange);
    const auto type = types[dice_.below(types.size())];
    note("channel ", c.number, " declares ", name, ", ", type);
    machine_->send(c.number, methods::exchange_declare{.exchange = name, .type = type});
    ask(c, request::declare_exchange);
    if (dice_.once_in(4)) return;
    c.leads_on = true;
    return bind(name, std::string{fanout});
  }
  const auto name = exchange_name(c.exchange);
  switch (dice_.below(6)) {
    case 0:
      note("channel ", c.number, " deletes ", name);
      machine_->send(c.number, methods::exchange_delete{.exchange = name});
      ask(c, request::remove_exchange);
      c.exchange = 0;
      c.leads_on = false;
      return;
    case 1:
    case 2:
      note("channel ", c.number, " unbinds ", name);
      machine_->send(c.number,
                     methods::exchange_unbind{
                         .destination = fanout, .source = name, .routing_key = fanout_key});
      ask(c, request::unbind_exchange);
      c.leads_on = false;
      return;
    case 3:
      // It leads no message anywhere, even where it closes a circle.
      return bind(std::string{fanout}, name);
    default:
      c.leads_on = true;
      return bind(name, std::string{fanout});
  }
}

/// What a client does that needs a queue and is not sure that it has it.
void client::restore(channel& c, std::size_t queue) {
  change(c, model::change::declare, queue);
  if (!model_.is_bound(queue) && !dice_.once_in(3)) change(c, model::change::bind, queue);
}

}  // namespace baton::simulation
