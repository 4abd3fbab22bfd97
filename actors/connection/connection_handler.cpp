#include "actors/connection/connection_actor.hpp"
#include "actors/support/log.hpp"

/// What the protocol machine calls: the connection's own business, and the way to its channels.
namespace baton {

namespace {

using amqp091::protocol_error;
using amqp091::reply_code;

// How soon a body that found no room, or a close that may pass, is asked for anew.
constexpr std::chrono::milliseconds admission_interval{20};

}  // namespace

// ---- login and opening

void connection_actor::authenticate(std::string_view, std::string_view user,
                                    std::string_view password) {
  context_.user = user;
  auto& logins = context_.node.logins();
  switch (logins.check(user, password, peer_.is_loopback())) {
    case login_register::verdict::accepted:
      return machine_.authenticated();
    case login_register::verdict::refused:
      break;
    case login_register::verdict::unknown: {
      auto job = [&logins, self = self(), name = std::string{user}, secret = std::string{password},
                  local = peer_.is_loopback()] {
        self.send(login_checked{logins.check_slowly(name, secret, local) ==
                                login_register::verdict::accepted});
      };
      if (context_.node.worker().run(std::move(job))) return;
      break;  // too many wait already: as good as refused
    }
  }
  refuse_login();
}

void connection_actor::handle(login_checked& verdict) {
  act([&] {
    if (verdict.accepted) return machine_.authenticated();
    refuse_login();
  });
}

void connection_actor::refuse_login() {
  log::warning("login refused", peer_.text() + ": user '" + context_.user + "' is refused");
  // Whoever guesses passwords waits for each verdict, and keeps nobody else waiting.
  login_refused_ = true;
  deadline_.arm(context_.limits().login_failure_delay);
}

void connection_actor::open_requested(std::string_view virtual_host) {
  using open = amqp091::methods::connection_open;
  const auto name = std::string{virtual_host};
  const auto* found = context_.local.view.snapshot().find_vhost(virtual_host);
  if (found == nullptr)
    return machine_.close_connection(
        amqp091::error_in<open>(reply_code::not_allowed, "vhost " + name + " not found"));
  const auto* user = context_.user_now();
  if (user == nullptr || !user->may_enter(virtual_host))
    return machine_.close_connection(amqp091::error_in<open>(
        reply_code::not_allowed, vhost_refused_text(virtual_host, context_.user)));
  context_.vhost = found->id;
  context_.vhost_name = name;
  machine_.open_accepted();
  deadline_.cancel();
  if (auto interval = machine_.heartbeat().tick_interval(); interval.count() > 0) {
    machine_.heartbeat().tick(home().now());
    heartbeat_.arm(interval);
  }
}

// ---- the end

void connection_actor::close_requested(std::uint16_t, std::string_view) {
  close_channels();
  // What was exclusive to this connection is gone before the client hears close-ok.
  let_go_of_exclusive_queues(true);
}

void connection_actor::connection_failed(const protocol_error& error) {
  log::warning("protocol error", peer_.text() + ": " + amqp091::reply_text(error));
  close_channels();
}

void connection_actor::close_channels() {
  last_channel_ = nullptr;
  for (auto& [number, channel] : channels_) {
    channel->close();
    closed_channels_.push_back(std::move(channel));
  }
  channels_.clear();
}

void connection_actor::let_go_of_exclusive_queues(bool with_answer) {
  // Ticket 0: no channel has that number.
  context_.node.topology.send(connection_ended{
      context_.id, with_answer ? promise<defined>{context_.self, 0} : promise<defined>{}});
}

// ---- AMQP channels

void connection_actor::channel_opened(amqp091::channel_number number) {
  // The number may be that of a channel that we closed and whose close-ok has come.
  if (auto at = channels_.find(number); at != channels_.end()) {
    at->second->close();
    closed_channels_.push_back(std::move(at->second));
    channels_.erase(at);
    last_channel_ = nullptr;
  }
  channels_.emplace(number, std::make_unique<amqp_channel>(context_, number, ++incarnations_));
}

void connection_actor::channel_close_requested(amqp091::channel_number number) {
  channel(number).close();
  machine_.finish_channel_close(number);
  if (auto at = channels_.find(number); at != channels_.end()) {
    closed_channels_.push_back(std::move(at->second));
    channels_.erase(at);
    last_channel_ = nullptr;
  }
}

void connection_actor::channel_failed(amqp091::channel_number number, const protocol_error& error) {
  log::warning("channel error", peer_.text() + " channel " + std::to_string(number) + ": " +
                                    amqp091::reply_text(error));
  channel(number).close();
}

amqp_channel& connection_actor::channel(amqp091::channel_number number) {
  if (last_channel_ != nullptr && last_channel_->number() == number) return *last_channel_;
  auto at = channels_.find(number);
  BATON_CHECK(at != channels_.end());
  last_channel_ = at->second.get();
  return *last_channel_;
}

amqp_channel* connection_actor::channel_of(std::uint64_t ticket) {
  auto at = channels_.find(static_cast<amqp091::channel_number>(ticket));
  if (at == channels_.end() || at->second->incarnation() != ticket >> 16) return nullptr;
  return at->second.get();
}

amqp_channel* connection_actor::channel_of(consumer_id which) {
  if (last_channel_ != nullptr && last_channel_->knows(which)) return last_channel_;
  const auto at = context_.consumers.find(which);
  return at == context_.consumers.end() ? nullptr : at->second;
}

void connection_actor::publish(amqp091::channel_number number,
                               const amqp091::publish_view& publish) {
  channel(number).publish(publish);
  hold_if_overdrawn();
}

void connection_actor::hold_if_overdrawn() {
  // A read may overdraw its credit; what was held and goes on all at once must not.
  if (context_.in_flight >= 2 * context_.limits().publish_credit.value &&
      !machine_.publishes_held())
    machine_.hold_publishes(true);
}

amqp091::admission connection_actor::content_begin(amqp091::channel_number number,
                                                   const amqp091::publish_view& publish,
                                                   std::uint64_t body_size, bool may_wait) {
  const auto answer = channel(number).content_begin(publish, body_size, may_wait);
  if (answer == amqp091::admission::wait && !admission_.is_armed())
    admission_.arm(admission_interval);
  return answer;
}

bool connection_actor::gives_back(amqp091::channel_number number) {
  if (!(number == 0 ? holds_memory() : channel(number).has_unsettled())) return false;
  if (!context_.node.memory_is_full()) return true;
  if (!admission_.is_armed()) admission_.arm(admission_interval);
  return false;
}

void connection_actor::content_piece(amqp091::channel_number number, byte_view bytes) {
  channel(number).content_piece(bytes);
}

void connection_actor::content_end(amqp091::channel_number number) {
  channel(number).content_end();
  hold_if_overdrawn();
}

// ---- answers of actors

void connection_actor::handle(published& notice) {
  act([&] {
    if (notice.credit == credit_state::returned) context_.in_flight -= notice.run.bytes;
    if (notice.credit == credit_state::withheld) ++runs_withheld_;
    if (auto* c = channel_of(std::uint64_t{notice.run.incarnation} << 16 | notice.run.channel))
      c->completed(notice.run);
  });
}

void connection_actor::handle(publishes_refused& notice) {
  if (auto* c = channel_of(std::uint64_t{notice.incarnation} << 16 | notice.channel))
    c->refused(notice.sequences);
}

void connection_actor::handle(credit_paid& notice) {
  act([&] {
    context_.in_flight -= notice.bytes;
    if (notice.credit == credit_state::withheld) --runs_withheld_;
  });
}

void connection_actor::handle(answer<defined>& got) {
  act([&] {
    if (got.ticket == 0)
      machine_.finish_close();
    else if (auto* c = channel_of(got.ticket))
      c->answered(got);
  });
}

void connection_actor::handle(answer<queue_counts>& got) {
  act([&] {
    if (auto* c = channel_of(got.ticket)) c->answered(got);
  });
}

void connection_actor::handle(answer<fetched>& got) {
  act([&] {
    if (auto* c = channel_of(got.ticket)) c->answered(got);
  });
}

// ---- what consumers call

void connection_actor::on_deliver(consumer_id to, lease_batch leases) {
  enter([&] {
    if (auto* c = channel_of(to)) c->deliver(to, std::move(leases));
    if (machine_.publishes_held()) return act([] {});  // a close may have more to give back
    home().defer(*this);
  });
}

void connection_actor::on_reply(consumer_id to, batch messages) {
  enter([&] {
    if (auto* c = channel_of(to)) c->deliver_reply(to, std::move(messages));
    home().defer(*this);
  });
}

void connection_actor::on_subscribed(consumer_id which, std::optional<refusal> refused) {
  enter([&] {
    act([&] {
      if (auto* c = channel_of(which)) c->subscribed(which, std::move(refused));
    });
  });
}

void connection_actor::on_unsubscribed(consumer_id which) {
  enter([&] {
    act([&] {
      if (auto* c = channel_of(which)) c->unsubscribed(which);
    });
  });
}

void connection_actor::on_queue_gone(consumer_id which) {
  enter([&] {
    act([&] {
      if (auto* c = channel_of(which)) c->queue_gone(which);
    });
  });
}

void connection_actor::on_short_of_demand(consumer_id which) {
  enter([&] {
    act([&] {
      if (auto* c = channel_of(which)) c->short_of_demand(which);
    });
  });
}

void connection_actor::on_demand_given_back(consumer_id which, std::uint32_t unused) {
  enter([&] {
    act([&] {
      if (auto* c = channel_of(which)) c->demand_given_back(which, unused);
    });
  });
}

}  // namespace baton
