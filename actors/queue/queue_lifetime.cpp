// Time and the end: the part of queue_core that lets go.

#include <algorithm>
#include <bit>
#include <tuple>

#include "actors/queue/queue_core.hpp"

namespace baton {

queue_core::moment queue_core::next_deadline() const noexcept {
  return std::min(slots_.next_deadline(), lease_end());
}

queue_core::moment queue_core::lease_end() const noexcept {
  const auto& lease = options_.arguments.expires;
  if (!lease || closed_ || consumers_.subscribed() > 0) return never;
  return *lease > never - last_use_ ? never : last_use_ + *lease;
}

void queue_core::expire(moment now, std::size_t limit) {
  // Those that are kept leave in the order of their deadlines, across chunks too.
  struct late {
    moment deadline;
    sequence number;
    message content;
  };
  std::vector<late> kept;
  slab_releases releases;
  std::size_t expired = 0;
  while (expired < limit) {
    auto due = slots_.take_due(now);
    if (!due) break;
    auto [c, mask] = *due;
    expired += static_cast<std::size_t>(std::popcount(mask));
    for (auto rest = mask; rest != 0; rest &= rest - 1) {
      auto index = static_cast<unsigned>(std::countr_zero(rest));
      auto& s = c->slots[index];
      forget_ready(s);
      if (keep_departed_)
        kept.push_back({slots_.deadline_of(*c, index), c->at(index), std::move(s.content)});
      else
        std::move(s.content).release_through(releases);
    }
    if (mask != 0) slots_.retire(*c, mask);
  }
  totals_.expired += expired;
  std::sort(kept.begin(), kept.end(), [](const late& a, const late& b) {
    return std::tie(a.deadline, a.number) < std::tie(b.deadline, b.number);
  });
  for (auto& k : kept) departed_.push_back({std::move(k.content), departure::expired});
}

bool queue_core::deletable() const noexcept {
  return options_.auto_delete && had_consumer_ && consumers_.subscribed() == 0 && !closed_;
}

result<void, queue_refusal> queue_core::may_delete(bool if_unused, bool if_empty) const {
  if (closed_) return failure{queue_refusal::closed};
  if (if_unused && consumers_.subscribed() > 0) return failure{queue_refusal::in_use};
  if (if_empty && totals_.ready > 0) return failure{queue_refusal::not_empty};
  return {};
}

std::vector<consumer_id> queue_core::close() {
  auto told = consumers_.subscribers();
  closed_ = true;
  outbox_.clear();
  takers_.clear();
  consumers_ = consumer_table{};
  slots_.clear();
  totals_.ready = totals_.unsettled = totals_.ready_bytes = totals_.held_bytes = 0;
  return told;
}

}  // namespace baton
