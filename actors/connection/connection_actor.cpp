#include "actors/connection/connection_actor.hpp"

#include "actors/connection/parting_actor.hpp"
#include "actors/receipt_mail.hpp"
#include "actors/support/log.hpp"

/// The socket, turns, credit and time of a connection.
namespace baton {

namespace {

// A connection with a full reserve goes on being read at a trickle when its client holds leases, or
// has queues of its own: an ack or a close among what it reads, or its end, may be what frees
// memory. It stands behind no more than what the client's and our kernel's buffers hold, so the
// reserve may grow to so many times its limit.
constexpr std::chrono::milliseconds trickle_interval{50};
constexpr std::uint64_t trickle_growth = 16;

// A client that asked to close also closes its socket first: some see our end of the stream before
// they have looked at our last frame, or still write, and take it for a failure. One that does not
// is waited for so long. When we asked, it waits for us, and we close at once.
constexpr std::chrono::seconds parting_timeout{1};

}  // namespace

connection_actor::connection_actor(caf::actor_config& config, node_services& node, connection_id id,
                                   unattached_stream accepted)
    : actor_of{config},
      accepted_{std::move(accepted)},
      peer_{accepted_->peer()},
      local_{accepted_->local()},
      output_{node.of(home()).buffers},
      machine_{node.protocol(), *this, output_.buffer()},
      context_{node,    home(),   id,   self(), std::make_shared<receipt_mail>(self()),
               output_, machine_, *this},
      deadline_{*this, [this] { on_deadline(); }},
      heartbeat_{*this, [this] { on_heartbeat_due(); }},
      admission_{*this, [this] { act([] {}); }},
      trickle_{*this, [this] { on_trickle(); }} {}

connection_actor::~connection_actor() = default;

void connection_actor::on_start() {
  socket_ = home().sockets().attach(*std::move(accepted_));
  output_.frames();
  accepted_.reset();
  socket_->set_handler(this);
  deadline_.arm(context_.limits().handshake_timeout);
}

void connection_actor::on_failure(const std::string& why) {
  log::error("connection failed", title() + " is closed: " + why);
  if (has_ended() || socket_ == nullptr) return;
  machine_.fail_internally();
  baton::spawn<parting_actor>(home(), std::move(socket_), std::move(output_));
}

void connection_actor::on_exit() {
  close_channels();
  closed_channels_.clear();
  context_.local.outbox.flush();
  let_go_of_exclusive_queues(false);
  context_.node.supervisor.send(connection_closed{context_.id});
  socket_.reset();
  output_.reset();
  account_reserve(0);
  // The receipts hold a handle of this actor, and this actor the receipts.
  context_.publisher.reset();
  context_.self = {};
}

// ---- input

void connection_actor::on_readable() {
  enter([this] { read(); });
}

void connection_actor::read() {
  auto scratch = home().scratch();
  auto got = socket_->read(scratch);
  switch (got.status) {
    case io_status::would_block:
      return;
    case io_status::ok: {
      const auto before = context_.published;
      act([&] {
        context_.local.writer.expect(got.bytes);
        machine_.feed(scratch.first(got.bytes));
      });
      home().count_routed(context_.published - before);
      return;
    }
    case io_status::closed:
    case io_status::failed:
      break;
  }
  if (machine_.is_running() && ending_ == amqp091::ending::none)
    give_up("connection lost", got.status == io_status::closed
                                   ? "closed by the client without connection.close"
                                   : socket_->failure());
  else
    quit();
}

void connection_actor::give_up(std::string_view kind, const std::string& why) {
  log::info(kind, peer_.text() + ": " + why);
  quit();
}

void connection_actor::end_turn() {
  look_at_credit();  // first: it may let publishes go on that were held
  for (auto* channel : context_.to_flush) channel->flush();
  context_.to_flush.clear();
  closed_channels_.clear();
  context_.local.outbox.flush();
  context_.local.writer.close();
  look_at_ending();
  if (!has_ended()) home().defer(*this);
}

// ---- back-pressure

void connection_actor::look_at_credit() {
  const auto& limits = context_.limits();
  if (std::exchange(context_.publishes, false) && !waiting_for_space_ &&
      context_.node.publishers_wait()) {
    waiting_for_space_ = true;
    context_.node.supervisor.send(memory_is_short{context_.id});
  }
  const bool spent = context_.in_flight >= limits.publish_credit.value;
  // Out of credit for a moment, and nothing but publishes to come: whoever only publishes is best
  // left in the kernel's buffers.
  const bool breather = spent && !waiting_for_space_ && runs_withheld_ <= 0 &&
                        context_.consumers.empty() && !has_unsettled() &&
                        machine_.reserve_used() == 0;
  const bool hold = waiting_for_space_ || (spent && !breather) || admission_.is_armed();
  if (hold || machine_.publishes_held()) machine_.hold_publishes(hold);

  account_reserve(machine_.reserve_used());

  const bool held_back = machine_.publishes_held() && machine_.reserve_used() > 0;
  tell_blocked(held_back && (waiting_for_space_ || runs_withheld_ > 0));

  const bool pause = breather || machine_.reserve_used() >= limits.publish_reserve.value ||
                     !machine_.wants_input() || output_.pending() >= limits.max_unsent.value;
  if (pause != reading_paused_) {
    reading_paused_ = pause;
    if (pause) {
      socket_->pause_reading();
      if (machine_.reserve_used() > 0) trickle_.arm(trickle_interval);
    } else {
      socket_->resume_reading();
      machine_.heartbeat().forgive(home().now());
    }
  }
}

void connection_actor::account_reserve(std::uint64_t bytes) {
  const auto before = std::exchange(reserve_accounted_, bytes);
  if (before == bytes) return;
  auto& counter = memory_account::of_this_thread();
  counter.created(bytes);
  counter.freed(before);
  context_.node.reserved_bytes.fetch_add(bytes - before, std::memory_order_relaxed);
}

void connection_actor::tell_blocked(bool blocked) {
  if (blocked == blocked_told_ || !machine_.client().capabilities().connection_blocked) return;
  blocked_told_ = blocked;
  if (blocked)
    machine_.send(0, amqp091::methods::connection_blocked{
                         context_.node.disk_is_short() ? "low on disk" : "low on memory"});
  else
    machine_.send(0, amqp091::methods::connection_unblocked{});
}

void connection_actor::on_trickle() {
  const auto used = machine_.reserve_used();
  if (!reading_paused_ || used == 0) return;
  trickle_.arm(trickle_interval);
  const auto& limits = context_.limits();
  if (holds_memory() && used < trickle_growth * limits.publish_reserve.value &&
      output_.pending() < limits.max_unsent.value)
    read();
}

bool connection_actor::has_unsettled() const {
  for (const auto& [number, channel] : channels_)
    if (channel->has_unsettled()) return true;
  return false;
}

void connection_actor::handle(publishers_go_on&) {
  waiting_for_space_ = false;
  act([] {});
}

// ---- output

void connection_actor::flush() {
  enter([this] {
    // Where the socket takes all at once, no `on_writable` follows that would let reading go on.
    const auto limit = context_.limits().max_unsent.value;
    const bool was_full = output_.pending() >= limit;
    write_output();
    if (was_full && !has_ended() && output_.pending() < limit) act([] {});
  });
}

void connection_actor::on_writable() {
  enter([this] {
    write_output();
    if (!has_ended()) act([] {});
  });
}

void connection_actor::write_output() {
  const auto before = output_.total_written();
  switch (output_.flush(*socket_)) {
    case io_status::ok:
      for (auto* channel : context_.unwritten) channel->output_written();
      context_.unwritten.clear();
      break;
    case io_status::would_block:
      socket_->notify_writable();
      break;
    case io_status::closed:
    case io_status::failed:
      return give_up("connection lost", "cannot write: " + socket_->failure());
  }
  machine_.heartbeat().sent(output_.total_written() - before);
}

// ---- time and the end

void connection_actor::look_at_ending() {
  const auto now = machine_.ending();
  if (now == ending_) return;
  const auto before = std::exchange(ending_, now);
  close_channels();
  closed_channels_.clear();
  const auto& limits = context_.limits();
  switch (now) {
    case amqp091::ending::none:
      break;
    case amqp091::ending::awaiting_close_ok:
      deadline_.arm(limits.close_timeout);
      break;
    case amqp091::ending::lingering:
      deadline_.arm(parting_actor::lingering_timeout);
      break;
    case amqp091::ending::over:
      if (before == amqp091::ending::awaiting_close_ok) return quit();
      deadline_.arm(parting_timeout);
      break;
  }
}

void connection_actor::on_deadline() {
  if (std::exchange(login_refused_, false)) {
    act([&] { machine_.authentication_refused(); });
    // Nothing is told to clients that would not understand it, and they have waited already.
    if (ending_ == amqp091::ending::lingering) quit();
    return;
  }
  if (ending_ == amqp091::ending::none)
    give_up("handshake timeout", "has not opened a connection in time");
  else
    quit();
}

void connection_actor::on_heartbeat_due() {
  auto& monitor = machine_.heartbeat();
  if (reading_paused_) monitor.forgive(home().now());
  auto verdict = monitor.tick(home().now());
  if (verdict.silent)
    return give_up("heartbeat missed",
                   "silent for " + std::to_string(2 * monitor.interval().count()) + " s");
  if (verdict.send) {
    amqp091::encode_heartbeat(output_.frames());
    home().defer(*this);
  }
  heartbeat_.arm(monitor.tick_interval());
}

void connection_actor::handle(end_connection& order) {
  if (!machine_.is_running()) return quit();
  act([&] {
    machine_.close_connection({amqp091::reply_code::connection_forced, order.text, 0, 0});
  });
}

// ---- what is known about it

std::string connection_actor::title() const { return peer_.text() + " -> " + local_.text(); }

void connection_actor::handle(ask_connection_report& request) {
  connection_report report;
  report.id = context_.id.value;
  report.peer = peer_.text();
  report.local = local_.text();
  report.user = context_.user;
  report.vhost = context_.vhost_name;
  report.name = machine_.client().connection_name();
  auto properties = machine_.client().properties();
  for (const char* part : {"product", "version"})
    if (const auto* value = find_field(properties, part))
      if (const auto* text = value->get<std::string>())
        report.client += (report.client.empty() ? "" : " ") + *text;
  report.state = ending_ != amqp091::ending::none             ? "closing"
                 : !machine_.is_running()                     ? "opening"
                 : blocked_told_ || machine_.publishes_held() ? "blocked"
                                                              : "running";
  report.channels = channels_.size();
  report.bytes_in = machine_.heartbeat().octets_received();
  report.bytes_out = output_.total_written();
  report.published = context_.published;
  report.delivered = context_.delivered;
  report.in_flight = context_.in_flight;
  for (const auto& [number, channel] : channels_) channel->report(title(), report.consumers);
  std::move(request.reply).keep(std::move(report));
}

}  // namespace baton
