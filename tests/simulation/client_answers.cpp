#include <algorithm>

#include "tests/simulation/client_notes.hpp"

// What the node says to a client, and what the client makes of it.
namespace baton::simulation {

namespace {

namespace methods = amqp091::methods;

}  // namespace

void client::opened() {
  note("is connected");
  if (drains_) open_channel();
}

void client::closed(std::uint16_t code, std::string_view text) {
  if (code != 200 || !closing_)
    broken("its connection was closed: " + std::to_string(code) + " " + std::string{text});
  note("connection closed");
  for (auto& c : channels_) prove(*c);
  channels_.clear();
  closing_ = false;
}

void client::blocked(std::string_view reason) { note("is blocked: ", reason); }
void client::unblocked() { note("is unblocked"); }

void client::channel_opened(std::uint16_t number) {
  auto& c = find(number);
  note("channel ", number, " is open");
  c.open = true;
  if (drains_) {
    set_window(c, static_cast<std::uint32_t>(dice_.below(20)), dice_.once_in(2));
    for (std::size_t q = 0; q < model_.queues(); ++q) {
      auto& made = c.consumers.emplace_back();
      made.name = ++where_.next_name;
      made.queue = q;
      made.window = c.window;
      machine_->send(number, methods::basic_consume{.queue = queue_name(q),
                                                    .consumer_tag = tag_of(made.name)});
      ++c.answers;
    }
    return;
  }
  if (settling_) return;
  if (dice_.once_in(2)) {
    c.kind = channel_kind::confirm;
    machine_->send(number, methods::confirm_select{});
    ++c.answers;
  } else if (dice_.once_in(4)) {
    c.kind = channel_kind::transactional;
    machine_->send(number, methods::tx_select{});
    ++c.answers;
  }
  if (dice_.once_in(4)) set_window(c, 1 + static_cast<std::uint32_t>(dice_.below(6)), true);
}

void client::channel_closed(std::uint16_t number, std::uint16_t code, std::string_view text) {
  auto& c = find(number);
  if (code != 200 || !c.closing)
    broken("channel " + std::to_string(number) + " was closed: " + std::to_string(code) + " " +
           std::string{text});
  note("channel ", number, " is closed");
  prove(c);
  std::erase_if(channels_, [&](const auto& one) { return one.get() == &c; });
}

void client::delivered(std::uint16_t number, std::string_view consumer_tag, std::uint64_t tag,
                       bool redelivered, const amqp091::message_view& content) {
  auto& c = find(number);
  for (auto& one : c.consumers)
    if (tag_of(one.name) == consumer_tag) {
      if (!one.started) broken("a delivery for a consumer that has not started");
      take(c, one, tag, redelivered, one.no_ack, content);
      return;
    }
  broken("a delivery for " + std::string{consumer_tag} + ", which does not exist");
}

void client::returned(std::uint16_t, std::uint16_t, std::string_view,
                      const amqp091::message_view&) {
  broken("a message was returned");
}

void client::got(std::uint16_t number, std::uint64_t tag, bool redelivered, std::uint32_t,
                 const amqp091::message_view& content) {
  auto& c = find(number);
  answered(number, "get-ok");
  if (c.gets.empty()) return;
  const auto [queue, no_ack] = c.gets.front();
  c.gets.erase(c.gets.begin());
  // Order holds for each queue that is fetched from.
  if (c.fetched.queue != queue) c.fetched.last.clear();
  c.fetched.queue = queue;
  take(c, c.fetched, tag, redelivered, no_ack, content);
}

void client::on(std::uint16_t number, const methods::basic_get_empty&) {
  answered(number, "get-empty");
  auto& c = find(number);
  if (!c.gets.empty()) c.gets.erase(c.gets.begin());
}

void client::on(std::uint16_t number, const methods::basic_ack& ack) {
  auto& c = find(number);
  note("channel ", number, " is confirmed ", ack.delivery_tag, ack.multiple ? ", multiple" : "");
  const auto last = ack.delivery_tag;
  if (c.kind != channel_kind::confirm || last == 0 || last > c.published.size())
    return broken("a confirm of " + std::to_string(last) + ", which was not published");
  if (c.confirmed[last - 1])
    return broken("publish " + std::to_string(last) + " was confirmed twice");
  for (auto i = ack.multiple ? 0 : last - 1; i < last; ++i) {
    if (c.confirmed[i]) continue;
    c.confirmed[i] = true;
    --c.unconfirmed;
    model_.make_certain(c.published[i]);
  }
}

void client::on(std::uint16_t, const methods::basic_nack& nack) {
  broken("publish " + std::to_string(nack.delivery_tag) + " was refused");
}

void client::on(std::uint16_t number, const methods::basic_qos_ok&) {
  answered(number, "qos-ok");
  auto& c = find(number);
  if (c.asked_windows.empty()) return broken("a qos-ok that was not asked for");
  if (auto shared = c.asked_windows.front()) c.shared_window = *shared;
  c.asked_windows.erase(c.asked_windows.begin());
}

void client::on(std::uint16_t number, const methods::basic_consume_ok& ok) {
  answered(number, "consume-ok");
  for (auto& one : find(number).consumers)
    if (tag_of(one.name) == ok.consumer_tag) one.started = true;
}

void client::on(std::uint16_t, const methods::basic_cancel& cancel) {
  broken("the node cancels " + std::string{cancel.consumer_tag});
}

void client::on(std::uint16_t number, const methods::basic_cancel_ok& ok) {
  answered(number, "cancel-ok");
  std::erase_if(find(number).consumers,
                [&](const auto& one) { return tag_of(one.name) == ok.consumer_tag; });
}

void client::on(std::uint16_t number, const methods::basic_recover_ok&) {
  answered(number, "recover-ok");
  --find(number).recovers;
}

void client::on(std::uint16_t number, const methods::queue_declare_ok& ok) {
  answered(number, "declare-ok");
  if (drains_ && ok.message_count > 0)
    broken("queue " + std::string{ok.queue} + " still has " + std::to_string(ok.message_count) +
           " messages");
}

void client::on(std::uint16_t number, const methods::confirm_select_ok&) {
  answered(number, "confirm.select-ok");
}
void client::on(std::uint16_t number, const methods::tx_select_ok&) {
  answered(number, "tx.select-ok");
}
void client::on(std::uint16_t number, const methods::tx_commit_ok&) {
  answered(number, "tx.commit-ok");
}
void client::on(std::uint16_t number, const methods::tx_rollback_ok&) {
  answered(number, "tx.rollback-ok");
}

}  // namespace baton::simulation
