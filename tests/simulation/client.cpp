#include <algorithm>
#include <array>
#include <charconv>

#include "tests/simulation/client_notes.hpp"

namespace baton::simulation {

namespace {

namespace methods = amqp091::methods;

/// A client writes no more while so much of what it has written waits for its socket.
constexpr std::size_t enough_unsent = 2048;
constexpr std::size_t most_channels = 3;
constexpr std::size_t most_consumers = 3;  // of an AMQP channel
constexpr std::size_t most_gets = 2;
constexpr std::ptrdiff_t most_fetched = 4 - most_gets;  // limits.max_unacknowledged is at least 4
constexpr std::uint32_t most_connections = 4;           // one after the other

constexpr std::string_view fanout = "amq.fanout";

std::uint8_t filler(model::message_id id, std::size_t at) {
  return static_cast<std::uint8_t>(id * 31 + at);
}

}  // namespace

client::client(surroundings& where, std::string name)
    : where_{where}, dice_{where.dice}, model_{where.queues}, name_{std::move(name)} {}

client::~client() = default;

// ---- the socket

void client::connect() {
  auto opened = where_.sockets.connect({"127.0.0.1", 5672});
  if (!opened) return broken("cannot connect: " + opened.reason().text);
  ++connections_;
  note("connects");
  amqp091::client_settings settings;
  settings.frame_max = 4096;
  settings.heartbeat_seconds = 0;
  paused_ = closing_ = false;
  out_.clear();
  amqp091::client_handler& told = *this;
  machine_ = std::make_unique<amqp091::client_connection>(settings, told, out_);
  stream_ = std::move(*opened);
  stream_->set_handler(this);
  machine_->start();
  wants_room_ = true;
  stream_->notify_writable();
}

void client::on_readable() {
  std::array<std::uint8_t, 2048> scratch;
  const auto read = stream_->read(scratch);
  if (read.status == io_status::would_block) return;
  if (read.status != io_status::ok) {
    broken(read.status == io_status::closed ? "the node has closed the socket"
                                            : "the node has reset the socket");
    stream_.reset();
    return;
  }
  machine_->feed(byte_view{scratch}.first(read.bytes));
  flush();
  if (stream_ != nullptr && machine_->is_over()) {
    note("closes its socket");
    stream_.reset();
  }
}

void client::on_writable() {
  wants_room_ = false;
  flush();
}

void client::flush() {
  if (stream_ == nullptr || wants_room_ || out_.empty()) return;
  const byte_view all = out_.view();
  const auto written = stream_->write({&all, 1});
  if (written.status == io_status::failed) {
    broken("cannot write: " + stream_->failure());
    stream_.reset();
    return;
  }
  out_.drop_front(written.bytes);
  if (!out_.empty()) {
    wants_room_ = true;
    stream_->notify_writable();
  }
}

// ---- what it does

void client::act() {
  if (is_gone()) {
    if (connections_ < most_connections && !settling_) connect();
    return;
  }
  if (machine_ == nullptr || !machine_->is_open()) return;
  if (paused_) {
    if (!dice_.once_in(4)) return;
    note("reads again");
    paused_ = false;
    stream_->resume_reading();
  }
  const auto open = static_cast<std::uint64_t>(
      std::count_if(channels_.begin(), channels_.end(), [](auto& c) { return c->open; }));
  if (channels_.empty() || (channels_.size() < most_channels && dice_.once_in(12))) {
    open_channel();
  } else if (dice_.once_in(24)) {
    note("stops reading");
    paused_ = true;
    stream_->pause_reading();
  } else if (dice_.once_in(60)) {
    break_connection();
  } else if (dice_.once_in(80)) {
    close();
  } else if (open > 0) {
    auto nth = dice_.below(open);
    for (auto& c : channels_)
      if (c->open && nth-- == 0) {
        act_on(*c);
        break;
      }
  }
  flush();
}

void client::act_on(channel& c) {
  if (c.kind == channel_kind::transactional) {
    if (dice_.once_in(4)) return end_transaction(c, !dice_.once_in(4));
    if (dice_.once_in(30)) return close_channel(c);
    return publish(c);
  }
  switch (dice_.below(16)) {
    case 0:
    case 1:
      return consume(c, dice_.below(model_.queues()), dice_.once_in(4));
    case 2:
      return get(c);
    case 3:
      if (dice_.once_in(2)) return cancel(c);
      return declare(c, dice_.below(model_.queues()), dice_.once_in(2));
    case 4:
      if (dice_.once_in(3)) return close_channel(c);
      if (dice_.once_in(4)) return set_window(c, static_cast<std::uint32_t>(dice_.below(6)), true);
      return recover(c);
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
      return settle_some(c);
    default:
      return publish(c);
  }
}

void client::open_channel() {
  std::uint16_t number = 1;
  while (
      std::any_of(channels_.begin(), channels_.end(), [&](auto& c) { return c->number == number; }))
    ++number;
  auto& c = *channels_.emplace_back(std::make_unique<channel>());
  c.number = number;
  c.publisher = ++where_.next_name;
  note("opens channel ", c.number);
  machine_->open_channel(number);
}

void client::publish(channel& c) {
  for (auto count = 1 + dice_.below(6); count > 0 && out_.size() < enough_unsent; --count) {
    const bool to_all = dice_.once_in(6);
    const auto queue = dice_.below(model_.queues());
    const auto mask =
        to_all ? (std::uint64_t{1} << model_.queues()) - 1 : std::uint64_t{1} << queue;
    std::uint32_t size = 8 + static_cast<std::uint32_t>(dice_.below(100));
    if (dice_.once_in(12)) size = 8 + static_cast<std::uint32_t>(dice_.below(6000));
    const auto id = model_.publish(c.publisher, mask, size);
    std::vector<std::uint8_t> body(size);
    amqp091::store(body.data(), id);
    for (std::size_t i = 8; i < size; ++i) body[i] = filler(id, i);
    constexpr std::array<std::uint8_t, 2> no_properties{0, 0};
    constexpr std::array<std::uint8_t, 3> persistent{0x10, 0, 2};
    const auto key = to_all ? std::string{"all"} : queue_name(queue);
    note("channel ", c.number, " publishes message ", id, " with key ", key, ", ", size, " bytes");
    machine_->publish(c.number,
                      {.exchange = to_all ? fanout : std::string_view{},
                       .routing_key = key,
                       .mandatory = dice_.once_in(3)},
                      dice_.once_in(2) ? byte_view{no_properties} : byte_view{persistent}, body);
    c.published.push_back(id);
    c.confirmed.push_back(false);
    if (c.kind == channel_kind::confirm) ++c.unconfirmed;
    if (c.kind == channel_kind::transactional) c.in_transaction.push_back(id);
  }
}

void client::set_window(channel& c, std::uint32_t messages, bool shared) {
  note("channel ", c.number, " sets its ", shared ? "shared " : "", "window to ", messages);
  machine_->send(
      c.number,
      methods::basic_qos{.prefetch_count = static_cast<std::uint16_t>(messages), .global = shared});
  ++c.answers;
  c.asked_windows.push_back(shared ? std::optional{messages} : std::nullopt);
  if (!shared) c.window = messages;
}

void client::consume(channel& c, std::size_t queue, bool no_ack) {
  if (c.consumers.size() >= most_consumers) return;
  if (dice_.once_in(2)) set_window(c, static_cast<std::uint32_t>(dice_.below(8)), false);
  auto& made = c.consumers.emplace_back();
  made.name = ++where_.next_name;
  made.queue = queue;
  made.no_ack = no_ack;
  made.window = no_ack ? 0 : c.window;
  const auto tag = tag_of(made.name);
  const auto name = queue_name(queue);
  note("channel ", c.number, " consumes from ", name, " as ", tag, no_ack ? ", no-ack" : "");
  machine_->send(c.number,
                 methods::basic_consume{.queue = name, .consumer_tag = tag, .no_ack = no_ack});
  ++c.answers;
}

void client::cancel(channel& c) {
  for (auto& one : c.consumers) {
    if (one.cancelling || !one.started) continue;
    one.cancelling = true;
    const auto tag = tag_of(one.name);
    note("channel ", c.number, " cancels ", tag);
    machine_->send(c.number, methods::basic_cancel{.consumer_tag = tag});
    ++c.answers;
    return;
  }
}

void client::get(channel& c) {
  if (c.gets.size() >= most_gets) return;
  if (std::count_if(c.held.begin(), c.held.end(), [](auto& h) { return h.consumer == 0; }) >
      most_fetched)
    return;
  const auto queue = dice_.below(model_.queues());
  const bool no_ack = dice_.once_in(3);
  c.gets.emplace_back(queue, no_ack);
  const auto name = queue_name(queue);
  note("channel ", c.number, " gets from ", name, no_ack ? ", no-ack" : "");
  machine_->send(c.number, methods::basic_get{.queue = name, .no_ack = no_ack});
  ++c.answers;
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
  for (auto i = multiple ? 0 : last; i <= last; ++i) done_with(c, i, requeue);
  c.held.erase(c.held.begin() + static_cast<std::ptrdiff_t>(multiple ? 0 : last),
               c.held.begin() + static_cast<std::ptrdiff_t>(last + 1));
}

void client::accept_all(channel& c) {
  if (c.held.empty() || !c.open || c.closing) return;
  note("channel ", c.number, " acks all up to ", c.held.back().tag);
  machine_->send(c.number, methods::basic_ack{c.held.back().tag, true});
  for (std::size_t i = 0; i < c.held.size(); ++i) done_with(c, i, false);
  c.held.clear();
}

void client::done_with(channel& c, std::size_t held, bool requeue) {
  const auto& h = c.held[held];
  if (requeue) {
    model_.give_back(h.message, h.queue);
  } else {
    model_.settle(h.message, h.queue);
    c.settled.push_back({h.message, h.queue});
  }
  for (auto& one : c.consumers)
    if (one.name == h.consumer) --one.held;
}

void client::recover(channel& c) {
  note("channel ", c.number, " recovers");
  give_up_deliveries(c);
  for (auto& one : c.consumers) one.held = 0;
  machine_->send(c.number, methods::basic_recover{.requeue = true});
  ++c.answers;
  ++c.recovers;
}

void client::end_transaction(channel& c, bool commit) {
  note("channel ", c.number, commit ? " commits" : " rolls back");
  if (commit) {
    machine_->send(c.number, methods::tx_commit{});
    ++c.commits;
  } else {
    machine_->send(c.number, methods::tx_rollback{});
    for (auto id : c.in_transaction) model_.withdraw(id);
  }
  c.in_transaction.clear();
  ++c.answers;
}

void client::declare(channel& c, std::size_t queue, bool passive) {
  const auto name = queue_name(queue);
  note("channel ", c.number, " declares ", name, passive ? ", passive" : "");
  machine_->send(c.number,
                 methods::queue_declare{.queue = name, .passive = passive, .durable = true});
  ++c.answers;
}

void client::close_channel(channel& c) {
  if (has_unacknowledged(c) && !where_.may_lose) return;
  note("closes channel ", c.number);
  lose(c);
  give_up_deliveries(c);
  for (auto id : c.in_transaction) model_.withdraw(id);
  c.in_transaction.clear();
  c.closing = true;
  c.open = false;
  machine_->close_channel(c.number);
}

void client::close() {
  if (is_gone() || closing_) return;
  for (auto& c : channels_)
    if (has_unacknowledged(*c) && !where_.may_lose && !settling_) return;
  note("closes its connection");
  for (auto& c : channels_) {
    if (!settling_) lose(*c);
    give_up_deliveries(*c);
    for (auto id : c->in_transaction) model_.withdraw(id);
    c->in_transaction.clear();
    c->open = false;
  }
  closing_ = true;
  machine_->close();
  flush();
}

void client::break_connection() {
  for (auto& c : channels_)
    if (has_unacknowledged(*c) && !where_.may_lose) return;
  const bool reset = dice_.once_in(2);
  note(reset ? "resets its socket" : "closes its socket without a word");
  for (auto& c : channels_) {
    lose(*c);
    give_up_deliveries(*c);
    for (auto id : c->in_transaction) model_.withdraw(id);
    for (auto id : c->published) model_.doubt_publish(id);
    for (const auto& s : c->settled) model_.doubt_settlement(s.message, s.queue);
  }
  channels_.clear();
  if (reset) stream_->abort();
  stream_.reset();
  machine_.reset();
  out_.clear();
}

void client::settle_down() {
  settling_ = true;
  if (is_gone()) return;
  if (paused_) stream_->resume_reading();
  paused_ = false;
  for (auto& c : channels_) {
    // Nothing breaks from now on.
    for (auto id : c->published) model_.make_certain(id);
    if (!c->open) continue;
    if (!c->in_transaction.empty()) end_transaction(*c, true);
    accept_all(*c);
  }
  flush();
}

void client::drain_all() {
  drains_ = settling_ = true;
  connect();
}

void client::expect_empty_queues() {
  for (auto& c : channels_)
    for (std::size_t q = 0; q < model_.queues(); ++q) declare(*c, q, true);
  flush();
}

// ---- books

bool client::has_unacknowledged(const channel& c) const {
  return std::any_of(c.consumers.begin(), c.consumers.end(),
                     [](auto& one) { return one.no_ack; }) ||
         std::any_of(c.gets.begin(), c.gets.end(), [](auto& get) { return get.second; });
}

/// What is under way to this channel is lost.
void client::lose(channel& c) {
  for (const auto& one : c.consumers)
    if (one.no_ack) model_.may_lose(one.queue);
  for (const auto& [queue, no_ack] : c.gets)
    if (no_ack) model_.may_lose(queue);
}

/// Everything that this channel holds goes back, and what is under way to it.
void client::give_up_deliveries(channel& c) {
  for (const auto& h : c.held) model_.give_back(h.message, h.queue);
  c.held.clear();
  for (const auto& one : c.consumers) model_.may_redeliver(one.queue);
  for (const auto& get : c.gets) model_.may_redeliver(get.first);
}

/// The node has read everything that this channel has sent.
void client::prove(channel& c) {
  c.settled.clear();
  for (auto id : c.published) model_.make_certain(id);
}

client::channel& client::find(std::uint16_t number) {
  for (auto& c : channels_)
    if (c->number == number) return *c;
  BATON_CHECK(false);
  return *channels_.front();
}

void client::answered(std::uint16_t number, const char* what) {
  auto& c = find(number);
  note("channel ", number, " is answered: ", std::string_view{what});
  if (c.answers == 0) return broken(std::string{"an answer that nobody asked for: "} + what);
  --c.answers;
}

bool client::is_at_rest(std::string* why) const {
  const auto no = [&](const std::string& what) {
    if (why != nullptr) *why = name_ + ": " + what;
    return false;
  };
  if (is_gone()) return true;
  if (!out_.empty()) return no(std::to_string(out_.size()) + " bytes are not sent");
  if (closing_) return no("its connection is not closed");
  if (!machine_->is_open()) return no("its connection is not open");
  for (const auto& c : channels_) {
    const auto title = "channel " + std::to_string(c->number);
    if (!c->open) return no(title + " is neither open nor closed");
    if (c->answers > 0) return no(title + " waits for " + std::to_string(c->answers) + " answers");
    if (c->unconfirmed > 0)
      return no(title + " waits for " + std::to_string(c->unconfirmed) + " confirms");
    if (!c->held.empty()) return no(title + " holds messages");
  }
  return true;
}

std::optional<model::message_id> client::read_body(const amqp091::message_view& content) {
  const auto wrong = [&](const char* what) {
    broken(std::string{"a delivery "} + what);
    return std::nullopt;
  };
  if (content.body.size() < 8) return wrong("is too short");
  const auto id = amqp091::load<std::uint64_t>(content.body.data());
  if (id >= model_.messages()) return wrong("was never published");
  if (model_[id].size != content.body.size()) return wrong("has not the length of its publish");
  for (std::size_t i = 8; i < content.body.size(); ++i)
    if (content.body[i] != filler(id, i)) return wrong("has not the bytes of its publish");
  return id;
}

bool client::take(channel& c, consumer& by, std::uint64_t tag, bool redelivered, bool no_ack,
                  const amqp091::message_view& content) {
  const auto id = read_body(content);
  if (!id) return false;
  note("channel ", c.number, " gets message ", *id, " of ", queue_name(by.queue), " by ",
       by.name == 0 ? "get" : tag_of(by.name), ", tag ", tag, redelivered ? ", redelivered" : "");
  if (content.exchange.empty() ? content.routing_key != queue_name(by.queue)
                               : content.exchange != fanout || content.routing_key != "all")
    broken("message " + std::to_string(*id) + " came with the wrong names");
  if (tag != ++c.last_tag)
    broken("delivery tag " + std::to_string(tag) + " instead of " + std::to_string(c.last_tag));

  const auto from = model_[*id].publisher;
  if (!redelivered) {
    auto known = std::find_if(by.last.begin(), by.last.end(),
                              [&](const auto& one) { return one.first == from; });
    if (known == by.last.end()) known = by.last.insert(known, {from, *id});
    if (known->second > *id)
      broken("message " + std::to_string(*id) + " came after " + std::to_string(known->second) +
             " of the same publisher");
    known->second = *id;
  }
  const auto how = no_ack           ? model::delivery::no_ack
                   : c.recovers > 0 ? model::delivery::overtaken
                                    : model::delivery::held;
  model_.deliver(*id, by.queue, redelivered, how);
  if (how != model::delivery::held) return true;
  c.held.push_back({tag, *id, by.queue, by.name});
  ++by.held;
  if (by.name != 0) check_windows(c, by);
  if (settling_) accept_all(c);
  return true;
}

void client::check_windows(const channel& c, const consumer& by) {
  if (by.window > 0 && by.held > by.window)
    broken(tag_of(by.name) + " holds " + std::to_string(by.held) + " with a window of " +
           std::to_string(by.window));
  const auto by_consumers =
      std::count_if(c.held.begin(), c.held.end(), [](const auto& h) { return h.consumer != 0; });
  const auto window = widest_window(c);
  if (window > 0 && by_consumers > static_cast<std::ptrdiff_t>(window))
    broken("channel " + std::to_string(c.number) + " holds " + std::to_string(by_consumers) +
           " with a shared window of " + std::to_string(window));
}

/// The widest that the shared window can be, 0 for none, with what has been asked for on its way.
std::uint32_t client::widest_window(const channel& c) {
  auto widest = c.shared_window;
  for (const auto& asked : c.asked_windows) {
    if (!asked) continue;
    widest = widest == 0 || *asked == 0 ? 0 : std::max(widest, *asked);
  }
  return widest;
}

}  // namespace baton::simulation
