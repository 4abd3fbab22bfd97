#include <algorithm>
#include <array>

#include "tests/simulation/client_notes.hpp"

// A client's socket, and what it does next.
namespace baton::simulation {

namespace {

constexpr std::size_t most_channels = 3;
constexpr std::uint32_t most_connections = 4;  // one after the other, in a life of the node

}  // namespace

client::client(surroundings& where, std::string name)
    : where_{where}, dice_{where.dice}, model_{where.queues}, name_{std::move(name)} {}

client::~client() = default;

// ---- the socket

void client::connect() {
  auto opened = where_.sockets->connect({"127.0.0.1", 5672});
  if (!opened) return broken("cannot connect: " + opened.reason().text);
  ++connections_;
  note("connects");
  amqp091::client_settings settings;
  settings.connection_name = connection_name();
  settings.frame_max = 4096;
  settings.heartbeat_seconds = 0;
  paused_ = closing_ = blocked_ = has_published_ = may_overdraw_ = false;
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
    if (!where_.node_stops)
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
    if (!where_.node_stops) broken("cannot write: " + stream_->failure());
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
    if (connections_ - connections_before_ < most_connections && !settling_) connect();
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
  if (c.kind == channel_kind::transactional && dice_.once_in(4))
    return end_transaction(c, !dice_.once_in(4));
  if (where_.may_remove && dice_.once_in(16)) return change_something(c);
  if (where_.may_bind_exchanges && dice_.once_in(12)) return change_exchange(c);
  switch (dice_.below(16)) {
    case 0:
    case 1: {
      // One throw of the dice after the other: the order of arguments is the compiler's.
      const auto queue = dice_.below(model_.queues());
      return consume(c, queue, dice_.once_in(4));
    }
    case 2:
      return get(c);
    case 3: {
      if (dice_.once_in(2)) return cancel(c);
      const auto queue = dice_.below(model_.queues());
      return dice_.once_in(2) ? look(c, queue) : change(c, model::change::declare, queue);
    }
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
  c.id = ++where_.next_name;
  note("opens channel ", c.number);
  machine_->open_channel(number);
}

void client::close_channel(channel& c) {
  if (!may_lose(c)) return;
  note("closes channel ", c.number);
  lose(c);
  withdraw(c);
  give_up_deliveries(c);
  c.closing = true;
  c.open = false;
  machine_->close_channel(c.number);
}

void client::close() {
  if (is_gone() || closing_) return;
  for (auto& c : channels_)
    if (!settling_ && !may_lose(*c)) return;
  note("closes its connection");
  for (auto& c : channels_) {
    if (!settling_) lose(*c);
    withdraw(*c);
    give_up_deliveries(*c);
    c->open = false;
  }
  closing_ = true;
  machine_->close();
  flush();
}

void client::break_connection() {
  for (auto& c : channels_)
    if (!may_lose(*c)) return;
  const bool reset = dice_.once_in(2);
  note(reset ? "resets its socket" : "closes its socket without a word");
  for (auto& c : channels_) give_up(*c);
  channels_.clear();
  if (reset) stream_->abort();
  stream_.reset();
  machine_.reset();
  out_.clear();
}

void client::lose_node() {
  if (!channels_.empty()) note("has lost its node");
  for (auto& c : channels_) give_up(*c);
  channels_.clear();
  stream_.reset();
  machine_.reset();
  out_.clear();
  connections_before_ = connections_;
}

void client::tell_what_was_read() {
  // What is held back, or waits for an answer, may wait in the node as well.
  if (is_gone() || machine_ == nullptr || !machine_->is_open() || paused_ || blocked_ ||
      !out_.empty())
    return;
  for (auto& c : channels_) {
    if (!c->open || !c->asked.empty()) continue;
    for (auto id : c->published)
      if (std::find(c->in_transaction.begin(), c->in_transaction.end(), id) ==
          c->in_transaction.end())
        model_.take(id);
    for (const auto& s : c->settled) model_.note_read(s.message, s.queue, c->id);
    c->settled.clear();
  }
}

// ---- the end

void client::settle_down() {
  settling_ = true;
  if (is_gone()) return;
  if (paused_) stream_->resume_reading();
  paused_ = false;
  for (auto& c : channels_) {
    // Nothing breaks from now on, unless something that is asked for meets a deleted queue.
    if (std::none_of(c->asked.begin(), c->asked.end(),
                     [](const auto& one) { return needs_queue(one.what); }))
      for (auto id : c->published) model_.take(id);
    if (c->open) accept_all(*c);
  }
  flush();
}

void client::drain_all() {
  drains_ = settling_ = true;
  connect();
}

void client::expect_empty_queues() {
  for (auto& c : channels_)
    for (std::size_t q = 0; q < model_.queues(); ++q) look(*c, q);
  flush();
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
  if (blocked_) return no("it is blocked");
  if (drains_ && channels_.empty()) return no("it has no channel");
  for (const auto& c : channels_) {
    const auto title = "channel " + std::to_string(c->number);
    if (!c->open) return no(title + " is neither open nor closed");
    if (model_.must_have_failed(c->id)) return no(title + " has lost what it held to others");
    if (!c->asked.empty())
      return no(title + " waits for " + std::to_string(c->asked.size()) + " answers");
    if (c->unconfirmed > 0)
      return no(title + " waits for " + std::to_string(c->unconfirmed) + " confirms");
    if (!c->held.empty() || !c->aside.empty()) return no(title + " holds messages");
  }
  return true;
}

}  // namespace baton::simulation
