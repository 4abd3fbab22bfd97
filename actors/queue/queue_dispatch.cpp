// Who gets which message: the half of queue_core that hands out.

#include <algorithm>
#include <bit>

#include "actors/queue/queue_core.hpp"
#include "config/check.hpp"

namespace baton {

result<void, queue_refusal> queue_core::add(consumer_id consumer, const consumer_options& options) {
  if (closed_) return failure{queue_refusal::closed};
  if (consumers_.has_exclusive() || (options.exclusive && consumers_.subscribed() > 0))
    return failure{queue_refusal::in_exclusive_use};
  consumers_.subscribe(consumer, options);
  had_consumer_ = true;
  return {};
}

void queue_core::remove(consumer_id consumer, moment now) {
  auto i = consumers_.find(consumer);
  if (i == consumer_table::none || !consumers_[i].subscribed) return;
  // It may have been handed something already, in publish().
  if (auto& open = consumers_[i].open; !open.empty()) outbox_.push_back(std::move(open));
  consumers_.unsubscribe(i);
  if (consumers_.subscribed() == 0) last_use_ = now;
}

void queue_core::grant(consumer_id consumer, std::uint64_t bytes) {
  auto i = consumers_.find(consumer);
  if (i == consumer_table::none) return;
  consumers_[i].balance += static_cast<std::int64_t>(bytes);
  consumers_.refresh(i);
}

void queue_core::demand(consumer_id consumer, std::uint32_t messages) {
  auto i = consumers_.find(consumer);
  if (i == consumer_table::none || consumers_[i].demand >= consumer_table::unlimited) return;
  consumers_.set_demand(i, consumers_[i].demand + messages);
}

void queue_core::set_demand(consumer_id consumer, std::optional<std::uint32_t> messages) {
  auto i = consumers_.find(consumer);
  if (i == consumer_table::none) return;
  consumers_.set_demand(i, messages ? *messages : 2 * consumer_table::unlimited);
}

std::optional<std::uint32_t> queue_core::recall_demand(consumer_id consumer) {
  auto i = consumers_.find(consumer);
  if (i == consumer_table::none || !consumers_[i].subscribed) return std::nullopt;
  auto left = static_cast<std::uint32_t>(consumers_[i].demand);
  consumers_.set_demand(i, 0);
  return left;
}

void queue_core::assign(moment now) {
  expire_if_due(now);
  if (!due(now)) hand_out();
}

void queue_core::hand_out() {
  slab_holds holds;
  while (totals_.ready > 0 && consumers_.front() != consumer_table::none) {
    auto* c = slots_.first_ready();
    if (c == nullptr) break;  // the next one is on the disk
    hand_out_of(*c, holds);
  }
}

void queue_core::hand_out_of(slot_chunk& c, slab_holds& holds) {
  // What is counted for each message stays in registers; the rest is done once for the chunk.
  std::uint64_t leased = 0;
  std::uint64_t gone = 0;
  std::uint64_t payload = 0;
  std::uint64_t let_go = 0;
  std::uint64_t again = 0;
  for (auto rest = slots_.ready_before_disk(c); rest != 0; rest &= rest - 1) {
    const auto taker = consumers_.front();
    if (taker == consumer_table::none) break;
    auto& to = consumers_[taker];
    const auto index = static_cast<unsigned>(std::countr_zero(rest));
    const auto number = c.at(index);
    auto& s = c.slots[index];
    payload += s.content.body_size();
    again += s.redelivered;
    to.balance -= s.footprint;
    --to.demand;
    if (to.open.empty()) open_batch(taker);
    if (to.no_ack) {
      gone |= rest & -rest;
      let_go += s.footprint;
      to.open.add({number, std::move(s.content), s.returns, s.redelivered}, s.footprint);
    } else {
      leased |= rest & -rest;
      lease_to(taker, s, number);
      to.open.add({number, s.content.fork_through(holds), s.returns, s.redelivered}, s.footprint);
    }
    if (to.open.full()) outbox_.push_back(std::move(to.open));
    consumers_.took(taker);
  }
  const auto leases = static_cast<std::uint64_t>(std::popcount(leased));
  const auto forgotten = static_cast<std::uint64_t>(std::popcount(gone));
  totals_.ready -= leases + forgotten;
  totals_.ready_bytes -= payload;
  totals_.held_bytes -= let_go;
  totals_.unsettled += leases;
  totals_.delivered += leases;
  totals_.delivered_no_ack += forgotten;
  totals_.redelivered += again;
  if (leased != 0) slots_.lease_out(c, leased);
  if (gone != 0) slots_.retire(c, gone);
}

void queue_core::open_batch(consumer_table::index taker) {
  auto& to = consumers_[taker];
  to.open = lease_batch{to.id};
  // Its share if all take turns; it grows where the others have no credit.
  const auto expected = totals_.ready / consumers_.subscribed() + 1;
  to.open.reserve(std::min<std::size_t>(expected, batch::max_messages));
  takers_.push_back(taker);
}

void queue_core::close_open_batches() {
  for (auto taker : takers_)
    if (auto& open = consumers_[taker].open; !open.empty()) outbox_.push_back(std::move(open));
  takers_.clear();
}

std::optional<queue_core::got> queue_core::get(consumer_id owner, bool no_ack, moment now) {
  last_use_ = now;
  while (due(now)) expire(now);
  if (totals_.ready == 0) return std::nullopt;
  auto* c = slots_.first_ready();
  if (c == nullptr) return std::nullopt;
  auto index = static_cast<unsigned>(std::countr_zero(c->ready));
  auto& s = c->slots[index];

  --totals_.ready;
  totals_.ready_bytes -= s.content.body_size();
  if (s.redelivered) ++totals_.redelivered;
  got answer;
  answer.remaining = totals_.ready;
  answer.bytes = s.footprint;
  answer.leased.number = c->at(index);
  answer.leased.returns = s.returns;
  answer.leased.redelivered = s.redelivered;
  if (no_ack) {
    ++totals_.got_no_ack;
    totals_.held_bytes -= s.footprint;
    answer.leased.content = std::move(s.content);
    slots_.retire(*c, std::uint64_t{1} << index);
  } else {
    ++totals_.got;
    ++totals_.unsettled;
    answer.leased.content = s.content.fork();
    auto holder = consumers_.owner(owner);
    lease_to(holder, s, answer.leased.number);
    consumers_.refresh(holder);
    slots_.lease_out(*c, std::uint64_t{1} << index);
  }
  return answer;
}

}  // namespace baton
