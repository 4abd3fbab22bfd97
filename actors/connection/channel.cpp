#include "actors/connection/channel.hpp"

#include "actors/connection/channel_checks.hpp"

namespace baton {

amqp_channel::amqp_channel(connection_context& context, amqp091::channel_number number,
                           std::uint32_t incarnation)
    : context_{context},
      number_{number},
      incarnation_{incarnation},
      windows_{context.limits().max_unacknowledged} {}

amqp_channel::~amqp_channel() { close(); }

std::uint64_t amqp_channel::ticket() const noexcept {
  return std::uint64_t{incarnation_} << 16 | number_;
}

void amqp_channel::wait() {
  // Behind what it is about to ask, what was published before must already be under way.
  flush();
  context_.local.outbox.flush();
  context_.machine.hold_channel(number_);
}

void amqp_channel::go_on_unless_waiting() {
  if (!on_defined_ && !on_counts_ && !on_fetched_ && !starting_ && !narrowing_ && !committing())
    context_.machine.release_channel(number_);
}

void amqp_channel::answered(answer<defined>& got) {
  // The topology outlives connections: without a value the node is stopping.
  if (auto then = std::exchange(on_defined_, nullptr); then && got.value) then(*got.value);
  go_on_unless_waiting();
}

void amqp_channel::answered(answer<queue_counts>& got) {
  queue_counts gone;
  gone.refused = refusal{};
  if (auto then = std::exchange(on_counts_, nullptr)) then(got.value ? *got.value : gone);
  go_on_unless_waiting();
}

void amqp_channel::answered(answer<fetched>& got) {
  fetched nothing;
  if (auto then = std::exchange(on_fetched_, nullptr)) then(got.value ? *got.value : nothing);
  go_on_unless_waiting();
}

void amqp_channel::flush() {
  if (run_) {
    // The outbox holds shares of the receipt; this one only kept the run open.
    run_.release();
  }
  for (auto& group : settlements_.take()) {
    holders_[group.queue].queue.send(baton::settle{group.consumer, std::move(group.leases)});
    drop_holder_if_done(group.queue);
  }
  tell_demands();
}

void amqp_channel::close() {
  if (std::exchange(closed_, true)) return;
  flush();
  forget_arriving();
  if (!reply_to_.empty())
    context_.node.topology.send(define{
        context_.who(), reply_name{context_.vhost, std::exchange(reply_to_, {}), {}}, nullptr, {}});
  std::erase(context_.unwritten, this);  // also where the consumers have gone before
  unwritten_.clear();
  tags_.clear();
  for (auto& c : consumers_) {
    c->face().sink_gone();
    context_.consumers.erase(c->id);
  }
  consumers_.clear();
  for (auto& h : holders_)
    if (h.queue) h.queue.send(abandon{h.id});
  holders_.clear();
  free_holders_.clear();
  deleting_ = {};
  on_defined_ = nullptr;
  on_counts_ = nullptr;
  on_fetched_ = nullptr;
}

void amqp_channel::report(const std::string& connection_name,
                          std::vector<consumer_report>& into) const {
  for (const auto& c : consumers_) {
    consumer_report report;
    report.id = c->id.value;
    report.vhost = context_.vhost_name;
    report.queue = c->queue;
    report.connection = connection_name;
    report.channel = number_;
    report.tag = c->tag;
    report.no_ack = c->no_ack;
    report.exclusive = c->exclusive;
    report.prefetch = c->prefetch;
    report.priority = c->priority;
    report.unsettled = holders_[c->holder].unsettled;
    report.delivered = c->delivered;
    report.owed = c->in_output + c->face().kept_back();
    into.push_back(std::move(report));
  }
}

}  // namespace baton
