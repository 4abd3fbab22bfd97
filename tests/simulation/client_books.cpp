#include <algorithm>

#include "tests/simulation/client_notes.hpp"

// What a client holds, what it has asked for, and what it proves of the node by them.
namespace baton::simulation {

namespace {

constexpr std::uint16_t not_found = 404;

}  // namespace

// ---- channels and their questions

client::channel& client::find(std::uint16_t number) {
  for (auto& c : channels_)
    if (c->number == number) return *c;
  BATON_CHECK(false);
  return *channels_.front();
}

std::optional<client::question> client::answered(std::uint16_t number, request what) {
  auto& c = find(number);
  if (c.asked.empty() || c.asked.front().what != what) {
    broken("channel " + std::to_string(number) + " has an answer to what it has not asked");
    return std::nullopt;
  }
  auto asked = std::move(c.asked.front());
  c.asked.pop_front();
  if (asked.change) model_.answer(*asked.change);
  return asked;
}

bool client::waits_for(const channel& c, request what) {
  return std::any_of(c.asked.begin(), c.asked.end(),
                     [&](const auto& one) { return one.what == what; });
}

bool client::needs_queue(request what) {
  return what == request::consume || what == request::get || what == request::look ||
         what == request::bind || what == request::purge;
}

/// Whether the node may answer this question with 404.
bool client::may_fail(const question& asked) const {
  return needs_queue(asked.what) && !model_.is_sure_since(asked.queue, asked.since);
}

bool client::may_fail(const channel& c) const {
  return std::any_of(c.asked.begin(), c.asked.end(),
                     [this](const auto& one) { return may_fail(one); });
}

bool client::may_have_failed(model::channel_id which) const {
  return std::any_of(channels_.begin(), channels_.end(), [&](const auto& c) {
    return (which == 0 || c->id == which) && (where_.node_stops || may_fail(*c));
  });
}

/// Whether the books can tell what follows if this channel ends now.
bool client::may_lose(const channel& c) const {
  if (waits_for(c, request::remove) || waits_for(c, request::purge)) return false;
  if (where_.may_lose) return true;
  return std::none_of(c.consumers.begin(), c.consumers.end(),
                      [](const auto& one) { return one.no_ack; }) &&
         std::none_of(c.asked.begin(), c.asked.end(), [](const auto& one) { return one.no_ack; });
}

// ---- ends

/// What is under way to this channel is lost.
void client::lose(channel& c) {
  for (const auto& one : c.consumers)
    if (one.no_ack) model_.may_lose(one.queue);
  for (const auto& one : c.asked)
    if (one.no_ack) model_.may_lose(one.queue);
}

/// What this channel has not committed will not be.
void client::withdraw(channel& c) {
  for (auto id : c.in_transaction) model_.withdraw(id);
  c.in_transaction.clear();
}

/// Everything that this channel holds goes back, and what is under way to it.
void client::give_up_deliveries(channel& c, model::when then) {
  for (const auto& copy : c.held)
    model_.give_back(copy.message, copy.queue, copy.since, c.id, then);
  for (const auto& [copy, requeue] : c.aside)
    model_.give_back(copy.message, copy.queue, copy.since, c.id, then);
  c.held.clear();
  c.aside.clear();
  for (const auto& one : c.consumers) model_.may_redeliver(one.queue);
  for (const auto& one : c.asked)
    if (one.what == request::get) model_.may_redeliver(one.queue);
}

/// The node may have missed anything that this channel has said.
void client::doubt(channel& c) {
  for (auto id : c.published) model_.doubt_publish(id);
  for (const auto& s : c.settled) model_.doubt_settlement(s.message, s.queue, c.id);
}

/// The channel is gone without a word, and with it whatever was under way.
void client::give_up(channel& c) {
  lose(c);
  withdraw(c);
  give_up_deliveries(c);
  doubt(c);
  for (const auto& one : c.asked)
    if (one.change) model_.give_up(*one.change);
}

/// The node has read everything that this channel has sent.
void client::prove(channel& c) {
  if (model_.must_have_failed(c.id))
    broken("channel " + std::to_string(c.number) + " has lost what it held to others");
  for (const auto& s : c.settled) model_.note_read(s.message, s.queue, c.id);
  c.settled.clear();
  for (auto id : c.published) model_.take(id);
}

void client::channel_closed(std::uint16_t number, std::uint16_t code, std::string_view text) {
  auto& c = find(number);
  note("channel ", number, " is closed: ", code, " ", text);
  if (code == 200 && c.closing) {
    prove(c);
  } else {
    // Answers that were under way to a channel that its client has closed have been dropped.
    if (code != not_found ||
        !(c.closing ? may_fail(c) : !c.asked.empty() && may_fail(c.asked.front())))
      broken("channel " + std::to_string(number) + " was closed: " + std::to_string(code) + " " +
             std::string{text});
    // Everything before the error has taken effect, and nothing after it.
    lose(c);
    withdraw(c);
    give_up_deliveries(c, model::when::at_some_time);
    doubt(c);
    for (const auto& one : c.asked)
      if (one.change) model_.give_up(*one.change);
  }
  std::erase_if(channels_, [&](const auto& one) { return one.get() == &c; });
  if (drains_ && !closing_) open_channel();
}

// ---- deliveries

void client::settle(channel& c, const held_copy& copy, bool requeue) {
  if (c.kind == channel_kind::transactional)
    c.aside.push_back({copy, requeue});
  else
    done_with(c, copy, requeue);
}

void client::done_with(channel& c, const held_copy& copy, bool requeue) {
  if (requeue) {
    // If the node has closed this channel already, it has taken the copy back long since.
    const auto then = may_fail(c) ? model::when::at_some_time : model::when::now;
    model_.give_back(copy.message, copy.queue, copy.since, c.id, then);
  } else {
    model_.settle(copy.message, copy.queue, c.id);
    c.settled.push_back({copy.message, copy.queue});
  }
  for (auto& one : c.consumers)
    if (one.name == copy.consumer) --one.held;
}

std::optional<model::message_id> client::read_body(const amqp091::message_view& content) {
  const auto wrong = [&](const char* what) {
    broken(std::string{"a message that came "} + what);
    return std::nullopt;
  };
  if (content.body.size() < 8) return wrong("is too short");
  const auto id = amqp091::load<std::uint64_t>(content.body.data());
  if (id >= model_.messages()) return wrong("was never published");
  if (model_[id].size != content.body.size()) return wrong("has not the length of its publish");
  for (std::size_t i = 8; i < content.body.size(); ++i)
    if (content.body[i] != filler(id, i)) return wrong("has not the bytes of its publish");
  check_names(id, content);
  return id;
}

void client::take(channel& c, consumer& by, std::uint64_t tag, bool redelivered, bool no_ack,
                  const amqp091::message_view& content) {
  const auto id = read_body(content);
  if (!id) return;
  note("channel ", c.number, " gets message ", *id, " of ", queue_name(by.queue), " by ",
       by.name == 0 ? "get" : tag_of(by.name), ", tag ", tag, redelivered ? ", redelivered" : "");
  if (tag != ++c.last_tag)
    broken("delivery tag " + std::to_string(tag) + " instead of " + std::to_string(c.last_tag));
  check_order(by, *id, redelivered);
  const auto how = no_ack                           ? model::delivery::no_ack
                   : waits_for(c, request::recover) ? model::delivery::overtaken
                                                    : model::delivery::held;
  if (!model_.deliver(*id, by.queue, redelivered, how, by.since, c.id)) return;
  c.held.push_back({tag, *id, by.queue, by.name, by.since});
  ++by.held;
  if (by.name != 0) check_windows(c, by);
  if (settling_) accept_all(c);
}

void client::check_names(model::message_id id, const amqp091::message_view& content) {
  const auto& m = model_[id];
  const bool to_one = m.to < model_.queues();
  const auto exchange = to_one            ? std::string{}
                        : m.exchange == 0 ? std::string{fanout}
                                          : exchange_name(m.exchange);
  if (content.exchange != exchange ||
      content.routing_key != (to_one ? queue_name(m.to) : std::string{fanout_key}))
    broken("message " + std::to_string(id) + " came with the wrong names");
}

void client::check_order(consumer& by, model::message_id id, bool redelivered) {
  if (redelivered && !model_.is_untouched(id, by.queue)) return;
  const auto life = model_[id].life;
  if (by.last_life > life)
    broken("message " + std::to_string(id) + " came after others that are younger than its node");
  by.last_life = life;
  const auto from = model_[id].publisher;
  auto known = std::find_if(by.last.begin(), by.last.end(),
                            [&](const auto& one) { return one.first == from; });
  if (known == by.last.end()) known = by.last.insert(known, {from, id});
  if (known->second > id)
    broken("message " + std::to_string(id) + " came after " + std::to_string(known->second) +
           " of the same publisher");
  known->second = id;
}

void client::check_windows(const channel& c, const consumer& by) {
  if (by.window > 0 && by.held > by.window)
    broken(tag_of(by.name) + " holds " + std::to_string(by.held) + " with a window of " +
           std::to_string(by.window));
  auto by_consumers =
      std::count_if(c.held.begin(), c.held.end(), [](const auto& h) { return h.consumer != 0; }) +
      std::count_if(c.aside.begin(), c.aside.end(),
                    [](const auto& s) { return s.of.consumer != 0; });
  const auto window = widest_window(c);
  if (window > 0 && by_consumers > static_cast<std::ptrdiff_t>(window))
    broken("channel " + std::to_string(c.number) + " holds " + std::to_string(by_consumers) +
           " with a shared window of " + std::to_string(window));
}

/// The widest that the shared window can be, 0 for none, with what has been asked for on its way.
std::uint32_t client::widest_window(const channel& c) {
  auto widest = c.shared_window;
  for (const auto& asked : c.asked)
    if (asked.shared_window)
      widest =
          widest == 0 || *asked.shared_window == 0 ? 0 : std::max(widest, *asked.shared_window);
  return widest;
}

}  // namespace baton::simulation
