#include "actors/queue_actor.hpp"

#include <utility>

#include "actors/support/log.hpp"
#include "storage/memory_account.hpp"

namespace baton {

namespace {

// While consumers take messages as fast as their sockets do, publishers are paced to them: a
// backlog that outgrows the caches makes every message cost twice as much. Consumers that are slow
// for another reason, or whose sockets stand still, pace nobody: queues are there to hold what they
// do not take.
constexpr std::uint64_t pace_backlog = 4096;  // messages
constexpr std::chrono::milliseconds pace_patience{20};

// Consumers that wait for their own acks set the pace, too, while they ack so fast that the backlog
// is gone within so many times `pace_patience`.
constexpr std::uint64_t pace_longest = 10;

// How often the queue looks whether publishers whose credit it keeps back may go on.
constexpr std::chrono::milliseconds debts_interval{20};

// How many messages may arrive before they are handed out, whatever else waits in the mailbox.
constexpr std::size_t dispatch_at = 512;

}  // namespace

queue_actor::queue_actor(caf::actor_config& config, const queue_entry& entry,
                         queue_allowance allowance, topology_ref topology,
                         std::unique_ptr<journal_side> journal)
    : actor_of{config},
      entry_{entry.id,       entry.vhost,   entry.vhost_name,        entry.name,
             entry.declared, entry.durable, entry.owner.has_value(), entry.auto_delete,
             entry.sync},
      allowance_{allowance},
      topology_{std::move(topology)},
      core_{{entry.arguments, entry.auto_delete}, now()},
      timer_{*this, [this] { on_due(); }},
      debts_timer_{*this, [this] { pay_debts(); }} {
  journal_ = std::move(journal);
  if (!journal_) return;
  core_.store(entry.id, entry.stores(false), journal_->wall_offset);
  core_.recover(std::move(journal_->found), journal_->next);
}

queue_core::moment queue_actor::now() const {
  return std::chrono::duration_cast<queue_core::moment>(home().now().time_since_epoch());
}

void queue_actor::handle(publish& request) {
  home().count_routed(request.messages.size());
  const auto count = request.messages.size();
  undispatched_ += count;
  const auto joint = joint_of(request);
  const bool stores = has_to_store(request, joint);
  auto refused_mask = core_.publish(std::move(request.messages), now(), joint);
  if (joint != 0) put_joint(request);
  if (refused_mask != 0) {
    std::vector<std::uint64_t> sequences;
    for (std::size_t i = 0; i < batch::max_messages; ++i)
      if ((refused_mask >> i & 1) != 0) sequences.push_back(request.sequence_of(i));
    request.done.owner().refused(request.done.channel(), request.done.incarnation(),
                                 std::move(sequences));
  }
  if (core_.held_bytes() >= allowance_.bytes(memory_account::total()))
    debts_.push_back(request.done.owe(credit_state::withheld));
  else if (consumers_catch_up())
    paced_.push_back(request.done.owe(credit_state::paced));
  if (stores) journal_->unrecorded.emplace_back(std::move(request), count);
  // Behind a long row of publishes consumers would wait for all of them.
  if (undispatched_ >= dispatch_at)
    dispatch();
  else
    want_dispatch();
}

void queue_actor::handle(settle& request) {
  core_.settle(request.consumer, request.runs, now());
  want_dispatch();
}

void queue_actor::handle(grant& request) {
  core_.grant(request.consumer, request.bytes);
  last_grant_ = home().now();
  want_dispatch();
}

void queue_actor::want_dispatch() {
  if (std::exchange(dispatch_wanted_, true)) return;
  self().send(dispatch_now{});
}

void queue_actor::handle(dispatch_now&) {
  dispatch_wanted_ = false;
  dispatch();
}

void queue_actor::dispatch() {
  undispatched_ = 0;
  answer_fetches();
  core_.dispatch(now(), [this](lease_batch&& leases) {
    home().count_routed(leases.size());
    if (const auto* to = consumers_.find(leases.consumer())) to->send(deliver{std::move(leases)});
  });
  for (auto consumer : core_.take_short_of_demand())
    if (const auto* to = consumers_.find(consumer)) to->send(short_of_demand{});
  pay_debts();
  tell_store();
  read_ahead();
  arm_timer();
}

bool queue_actor::consumers_catch_up() {
  if (core_.ready() <= pace_backlog) return false;
  const auto now = home().now();
  if (now - last_grant_ < pace_patience && core_.waits_for_sockets()) return true;
  if (now - looked_at_ >= pace_patience) {
    const auto acked = core_.statistics().acked;
    acked_lately_ = (acked - acked_before_) * pace_patience / (now - looked_at_);
    looked_at_ = now;
    acked_before_ = acked;
  }
  return core_.ready() <= acked_lately_ * pace_longest && core_.waits_for_settlements();
}

void queue_actor::pay_debts() {
  // Three quarters: publishers that are let go one message at a time would cost more than they
  // bring.
  if (!debts_.empty() && core_.held_bytes() <= allowance_.bytes(memory_account::total()) / 4 * 3)
    debts_.clear();
  if (!consumers_catch_up()) paced_.clear();
  // Other queues may let go of memory, and consumers of their haste, without a word to this one.
  if (!(debts_.empty() && paced_.empty()) && !debts_timer_.is_armed())
    debts_timer_.arm(debts_interval);
}

void queue_actor::handle(subscribe& request) {
  auto added = core_.add(request.consumer, request.options);
  auto to = std::move(request.to).take();
  if (!added) {
    to.send(subscribed{refusal_of(added.reason(), entry_.name, entry_.vhost_name)});
    return;
  }
  to.send(subscribed{});
  consumers_.add(request.consumer, std::move(to));
  want_dispatch();
}

void queue_actor::handle(unsubscribe& request) {
  const auto* found = consumers_.find(request.consumer);
  if (found == nullptr) return;
  auto consumer = *found;
  dispatch();  // what it was handed already comes before the answer
  core_.remove(request.consumer, now());
  consumers_.remove(request.consumer);
  if (core_.deletable())
    end({entry_.vhost, entry_.id, 0, {}, std::move(consumer)}, request.consumer);
  else
    consumer.send(unsubscribed{});
  arm_timer();
}

void queue_actor::handle(abandon& request) {
  core_.remove(request.consumer, now());
  core_.release_all(request.consumer, now());
  // What waits for the disk must not be leased to somebody who has gone.
  if (journal_)
    std::erase_if(journal_->fetches,
                  [&](const fetch& one) { return one.holder == request.consumer; });
  consumers_.remove(request.consumer);
  if (core_.deletable())
    end({entry_.vhost, entry_.id, 0, {}, {}});
  else
    want_dispatch();
}

void queue_actor::handle(demand& request) {
  const auto consumer = request.change.consumer;
  if (const auto unused = apply(request.change, core_, [this] { dispatch(); }))
    if (const auto* to = consumers_.find(consumer)) to->send(demand_given_back{*unused});
  want_dispatch();
}

void queue_actor::handle(fetch& request) {
  if ((journal_ && !journal_->fetches.empty()) || !answer_fetch(request))
    journal_->fetches.push_back(std::move(request));
  pay_debts();
  want_dispatch();
}

bool queue_actor::answer_fetch(fetch& request) {
  auto got = core_.get(request.holder, request.no_ack, now());
  if (!got && core_.next_is_on_disk()) return false;
  fetched answer;
  if (got) {
    answer.message = std::move(got->leased);
    answer.remaining = got->remaining;
  }
  std::move(request.reply).keep(std::move(answer));
  return true;
}

void queue_actor::handle(purge_queue& request) {
  queue_counts answer;
  answer.messages = core_.purge();
  std::move(request.reply).keep(std::move(answer));
  pay_debts();
  want_dispatch();
}

void queue_actor::handle(delete_queue& request) {
  auto may = core_.may_delete(request.if_unused, request.if_empty);
  if (!may) {
    queue_counts answer;
    answer.refused = refusal_of(may.reason(), entry_.name, entry_.vhost_name);
    std::move(request.reply).keep(std::move(answer));
    return;
  }
  end({entry_.vhost, entry_.id, core_.ready(), std::move(request.reply), {}});
}

void queue_actor::handle(touch_queue& request) {
  core_.touch(now());
  queue_counts answer;
  answer.messages = core_.ready();
  answer.consumers = core_.consumers();
  std::move(request.reply).keep(std::move(answer));
  arm_timer();
}

void queue_actor::handle(end_queue&) { close(); }

void queue_actor::on_due() {
  armed_for_ = queue_core::never;
  if (core_.unused_since_lease(now())) return end({entry_.vhost, entry_.id, 0, {}, {}});
  core_.expire(now());
  dispatch();  // while messages were overdue, none was handed out
}

void queue_actor::handle(ask_queue_report& request) {
  auto figures = core_.statistics();
  queue_report report;
  report.vhost = entry_.vhost_name;
  report.name = entry_.name;
  report.durable = entry_.durable;
  report.exclusive = entry_.exclusive;
  report.auto_delete = entry_.auto_delete;
  report.arguments = entry_.declared;
  report.ready = figures.ready;
  report.unsettled = figures.unsettled;
  report.consumers = figures.consumers;
  report.ready_bytes = figures.ready_bytes;
  report.on_disk = core_.on_disk();
  report.published = figures.published;
  report.delivered =
      figures.delivered + figures.delivered_no_ack + figures.got + figures.got_no_ack;
  report.acknowledged = figures.acked + figures.delivered_no_ack + figures.got_no_ack;
  report.redelivered = figures.redelivered;
  report.dropped = figures.dropped;
  report.expired = figures.expired;
  report.undeliverable = figures.undeliverable;
  for (const auto& s : consumers_) report.credit.push_back({s.id.value, core_.byte_credit(s.id)});
  std::move(request.reply).keep(std::move(report));
}

void queue_actor::end(queue_ended notice, consumer_id except) {
  close(except);
  topology_.send(std::move(notice));
}

void queue_actor::close(consumer_id except) {
  core_.close();
  if (journal_) {
    // What became of its messages need not be told: the definition goes.
    if (auto gone = core_.take_news().drops; !gone.empty())
      journal_->store.send(drop_references{std::move(gone)});
    for (auto& each : journal_->unrecorded) each.safe();
  }
  consumers_.tell_gone(except);
  quit();
}

void queue_actor::on_failure(const std::string& why) {
  if (!has_ended()) {
    consumers_.tell_gone();
    topology_.send(queue_ended{entry_.vhost, entry_.id, 0, {}, {}});
  }
  log::error("queue failed",
             queue_text(entry_.name, entry_.vhost_name) + " has ended, with what it held: " + why);
}

void queue_actor::on_start() { arm_timer(); }

void queue_actor::on_exit() {
  timer_.cancel();
  consumers_.clear();
  debts_timer_.cancel();
  debts_.clear();
  paced_.clear();
  journal_.reset();
  topology_ = {};
}

void queue_actor::arm_timer() {
  auto next = core_.next_deadline();
  if (next >= armed_for_) return;  // an early wake-up looks again
  armed_for_ = next;
  timer_.arm_at(steady_time{std::chrono::duration_cast<steady_time::duration>(next)});
}

}  // namespace baton
