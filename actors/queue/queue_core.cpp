#include "actors/queue/queue_core.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "config/check.hpp"

namespace baton {

namespace {

constexpr std::uint32_t unlimited_returns = std::numeric_limits<std::uint32_t>::max();

constexpr std::uint64_t bit(unsigned i) { return std::uint64_t{1} << i; }

sequence last_of(const settlement& s) noexcept { return s.first + s.count - 1; }

/// Whether all that it settles lies in chunk `number`.
bool ends_in(std::uint64_t number, const settlement& s) noexcept {
  return s.count > 0 && slot_chunk::number_of(s.first) == number &&
         slot_chunk::number_of(last_of(s)) == number;
}

/// The slots of chunk `number` that it settles, at least one.
std::uint64_t part_of(std::uint64_t number, const settlement& s) noexcept {
  auto begin = number * slot_chunk::size;
  auto from = s.first > begin ? static_cast<unsigned>(s.first - begin) : 0;
  auto to = static_cast<unsigned>(std::min<sequence>(last_of(s) - begin, slot_chunk::size - 1));
  return (~std::uint64_t{0} << from) & (~std::uint64_t{0} >> (slot_chunk::size - 1 - to));
}

}  // namespace

queue_core::queue_core(queue_options options, moment now)
    : options_{std::move(options)}, last_use_{now} {}

std::uint64_t queue_core::publish(batch&& taken, moment now, std::uint64_t joint) {
  auto all = std::move(taken);
  BATON_CHECK(all.size() <= batch::max_messages);
  if (closed_) return 0;
  expire_if_due(now);

  // A full queue that refuses looks at each message after the one before it was handed out: what
  // consumers take at once never makes the queue full.
  const auto& rules = options_.arguments;
  const bool limited = rules.max_length.has_value() || rules.max_length_bytes.has_value();
  const bool refuses = limited && rules.overflow != overflow_policy::drop_head;
  std::uint64_t refused = 0;
  bool due_at_once = false;
  for (unsigned i = 0; i < all.size(); ++i) {
    if (refuses && would_overflow(all[i])) {
      refused |= bit(i);
      refuse(std::move(all[i]));
      continue;
    }
    auto deadline = deadline_for(all[i], now);
    due_at_once = due_at_once || deadline <= now;
    const bool joins = (joint >> i & 1) != 0;
    const auto number = append(std::move(all[i]), deadline, joins);
    if (joins) moving_->joint.push_back({i, slots_.place_in_queue(number, deadline)});
    if (refuses) hand_out();
  }
  if (limited || due_at_once) {
    // Consumers come first; then what is too much or too late goes.
    hand_out();
    drop_excess();
    if (due_at_once) expire(now);
  }
  repack_while_growing(all.size());
  return refused;
}

sequence queue_core::append(message&& m, moment deadline, bool joint) {
  auto size = footprint_of(m);
  ++totals_.published;
  ++totals_.ready;
  totals_.ready_bytes += m.body_size();
  totals_.held_bytes += size;
  const bool stored = stores(m);
  const auto number = slots_.append(std::move(m), size, deadline, stored);
  if (joint) slots_.records()->joined(number);
  return number;
}

void queue_core::refuse(message m) {
  ++totals_.refused;
  if (options_.arguments.overflow == overflow_policy::reject_publish_dlx && keep_departed_)
    departed_.push_back({std::move(m), departure::max_length});
}

bool queue_core::would_overflow(const message& one_more) const noexcept {
  const auto& rules = options_.arguments;
  return (rules.max_length && totals_.ready + 1 > *rules.max_length) ||
         (rules.max_length_bytes &&
          totals_.ready_bytes + one_more.body_size() > *rules.max_length_bytes);
}

void queue_core::drop_excess() {
  const auto& rules = options_.arguments;
  if (rules.overflow != overflow_policy::drop_head) return;
  const auto most = rules.max_length.value_or(std::numeric_limits<std::uint64_t>::max());
  const auto most_bytes =
      rules.max_length_bytes.value_or(std::numeric_limits<std::uint64_t>::max());
  slab_releases releases;
  while (totals_.ready > most || totals_.ready_bytes > most_bytes) {
    auto* oldest = slots_.first_ready();
    if (oldest == nullptr) {
      // It is read first if somebody wants it.
      if (keep_departed_) {
        moving_->read_to_drop = true;
        return;
      }
      drop_oldest_on_disk();
      continue;
    }
    depart(*oldest, oldest->ready & -oldest->ready, departure::max_length, releases);
  }
}

queue_core::moment queue_core::deadline_for(const message& m, moment now) const noexcept {
  auto ttl = never;
  if (options_.arguments.message_ttl) ttl = *options_.arguments.message_ttl;
  if (auto own = m.expiration_ms()) {
    auto longest = static_cast<std::uint64_t>(never.count());
    ttl = std::min(ttl, moment{static_cast<moment::rep>(std::min(*own, longest))});
  }
  return ttl > never - now ? never : now + ttl;
}

void queue_core::forget_ready(const slot& s) noexcept {
  --totals_.ready;
  totals_.ready_bytes -= s.content.body_size();
  totals_.held_bytes -= s.footprint;
}

std::uint64_t& queue_core::departures(departure why) noexcept {
  switch (why) {
    case departure::rejected:
      return totals_.rejected;
    case departure::expired:
      return totals_.expired;
    case departure::max_length:
      return totals_.dropped;
    case departure::delivery_limit:
      return totals_.undeliverable;
  }
  return totals_.dropped;
}

void queue_core::depart(slot_chunk& c, std::uint64_t mask, departure why, slab_releases& releases) {
  for (auto rest = mask; rest != 0; rest &= rest - 1) {
    auto& s = c.slots[std::countr_zero(rest)];
    forget_ready(s);
    ++departures(why);
    if (keep_departed_)
      departed_.push_back({std::move(s.content), why});
    else
      std::move(s.content).release_through(releases);
  }
  slots_.retire(c, mask);
}

void queue_core::settle(consumer_id consumer, std::span<const settlement> settlements, moment now) {
  auto owner = consumers_.find(consumer);
  if (owner == consumer_table::none || closed_) return;
  bool returned = false;
  slab_releases releases;
  for (std::size_t i = 0; i < settlements.size();) {
    const auto& s = settlements[i];
    returned = returned || s.how == outcome::release;
    // Consumers that take turns settle every other message: what lies in one chunk is done
    // together, unless that would change the order in which the client said it.
    const auto number = slot_chunk::number_of(s.first);
    std::uint64_t mask = 0;
    for (sequence after = 0; i < settlements.size() && ends_in(number, settlements[i]) &&
                             settlements[i].how == s.how && settlements[i].first > after;
         ++i) {
      mask |= part_of(number, settlements[i]);
      after = last_of(settlements[i]);
    }
    if (mask != 0) {
      if (auto* c = slots_.find(s.first)) settle_in_chunk(owner, *c, mask, s.how, releases);
    } else {
      settle_across(owner, s, releases);
      ++i;
    }
  }
  after_settling(owner, returned, now);
}

void queue_core::settle_across(consumer_table::index owner, const settlement& s,
                               slab_releases& releases) {
  if (s.count == 0) return;
  auto number = slot_chunk::number_of(s.first);
  while (auto* c = slots_.at_or_after(number)) {
    if (c->at(0) > last_of(s)) return;
    number = c->number + 1;
    settle_in_chunk(owner, *c, part_of(c->number, s), s.how, releases);
  }
}

void queue_core::release_all(consumer_id consumer, moment now) {
  auto owner = consumers_.find(consumer);
  if (owner == consumer_table::none || closed_) return;
  slab_releases releases;
  auto number = slot_chunk::number_of(consumers_[owner].oldest);
  while (consumers_[owner].unsettled > 0) {
    auto* c = slots_.at_or_after(number);
    BATON_CHECK(c != nullptr);
    number = c->number + 1;
    settle_in_chunk(owner, *c, ~std::uint64_t{0}, outcome::release, releases);
  }
  after_settling(owner, true, now);
}

void queue_core::after_settling(consumer_table::index owner, bool returned, moment now) {
  consumers_.refresh(owner);
  if (!returned) return;
  // What came back too late, or into a full queue, goes before anybody is handed it.
  expire_if_due(now);
  drop_excess();
}

void queue_core::settle_in_chunk(consumer_table::index owner, slot_chunk& c, std::uint64_t mask,
                                 outcome how, slab_releases& releases) {
  std::uint64_t ended = 0;
  std::uint64_t once_too_often = 0;
  const auto most_returns = options_.arguments.delivery_limit.value_or(unlimited_returns);
  for (auto rest = mask & c.leased; rest != 0; rest &= rest - 1) {
    auto i = static_cast<unsigned>(std::countr_zero(rest));
    auto& s = c.slots[i];
    if (s.owner != owner) continue;
    ended |= bit(i);
    if (how == outcome::release) {
      totals_.ready_bytes += s.content.body_size();
      s.redelivered = true;
      if (s.returns >= most_returns)
        once_too_often |= bit(i);
      else
        ++s.returns;
    } else {
      totals_.held_bytes -= s.footprint;
      if (how == outcome::reject && keep_departed_)
        departed_.push_back({std::move(s.content), departure::rejected});
      else
        std::move(s.content).release_through(releases);
    }
  }
  auto count = static_cast<std::uint32_t>(std::popcount(ended));
  if (count == 0) return;
  consumers_[owner].unsettled -= count;
  totals_.unsettled -= count;
  switch (how) {
    case outcome::accept:
      totals_.acked += count;
      break;
    case outcome::reject:
      totals_.rejected += count;
      break;
    case outcome::release:
      totals_.returned += static_cast<std::uint64_t>(std::popcount(ended & ~once_too_often));
      break;
  }
  if (how != outcome::release) return slots_.retire(c, ended);
  totals_.ready += count;
  slots_.give_back(c, ended & ~once_too_often);
  if (once_too_often != 0) depart(c, once_too_often, departure::delivery_limit, releases);
}

std::uint64_t queue_core::purge() {
  auto count = totals_.ready;
  slab_releases releases;
  drop_disk();
  while (totals_.ready > 0) {
    auto* c = slots_.first_ready();
    BATON_CHECK(c != nullptr);
    auto mask = c->ready;
    for (auto rest = mask; rest != 0; rest &= rest - 1) {
      auto& s = c->slots[std::countr_zero(rest)];
      forget_ready(s);
      std::move(s.content).release_through(releases);
    }
    slots_.retire(*c, mask);
  }
  totals_.purged += count;
  return count;
}

queue_statistics queue_core::statistics() const noexcept {
  auto all = totals_;
  all.consumers = consumers_.subscribed();
  return all;
}

std::int64_t queue_core::byte_credit(consumer_id consumer) const noexcept {
  const auto i = consumers_.find(consumer);
  return i == consumer_table::none ? 0 : consumers_[i].balance;
}

}  // namespace baton
