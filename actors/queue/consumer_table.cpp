#include "actors/queue/consumer_table.hpp"

#include <algorithm>

#include "config/check.hpp"

namespace baton {

namespace {

constexpr auto id_before = [](const auto& known, consumer_id wanted) {
  return known.first < wanted;
};

}  // namespace

consumer_table::index consumer_table::find(consumer_id id) const noexcept {
  auto at = std::lower_bound(by_id_.begin(), by_id_.end(), id, id_before);
  return at != by_id_.end() && at->first == id ? at->second : none;
}

consumer_table::index consumer_table::subscribe(consumer_id id, const consumer_options& options) {
  auto i = owner(id);
  auto& e = entries_[i];
  BATON_CHECK(!e.subscribed);
  e.balance = static_cast<std::int64_t>(options.byte_credit);
  e.demand = options.demand ? *options.demand : 2 * unlimited;
  e.prefetch = options.no_ack || options.prefetch == 0 ? none : options.prefetch;
  e.priority = options.priority;
  e.no_ack = options.no_ack;
  e.exclusive = options.exclusive;
  e.subscribed = true;
  ++subscribed_;
  exclusive_ = exclusive_ || options.exclusive;
  refresh(i);
  return i;
}

void consumer_table::unsubscribe(index i) {
  auto& e = entries_[i];
  BATON_CHECK(e.subscribed);
  e.subscribed = false;
  --subscribed_;
  if (e.exclusive) exclusive_ = false;  // it was the only one
  refresh(i);
}

consumer_table::index consumer_table::owner(consumer_id id) {
  auto known = find(id);
  return known != none ? known : make(id);
}

consumer_table::index consumer_table::make(consumer_id id) {
  index i;
  if (free_.empty()) {
    i = static_cast<index>(entries_.size());
    entries_.emplace_back();
  } else {
    i = free_.back();
    free_.pop_back();
  }
  entries_[i].id = id;
  by_id_.insert(std::lower_bound(by_id_.begin(), by_id_.end(), id, id_before), {id, i});
  return i;
}

void consumer_table::forget(index i) {
  by_id_.erase(std::lower_bound(by_id_.begin(), by_id_.end(), entries_[i].id, id_before));
  entries_[i] = entry{};
  free_.push_back(i);
}

void consumer_table::refresh(index i) {
  auto& e = entries_[i];
  if (e.may_take()) {
    if (!e.in_ring()) enter_ring(i);
    return;
  }
  if (e.in_ring()) leave_ring(i);
  note_want(i);
  if (!e.subscribed && e.unsettled == 0) forget(i);
}

void consumer_table::set_demand(index i, std::int64_t messages) {
  auto& e = entries_[i];
  e.demand = messages;
  if (e.wanting == want::demand_and_told) e.wanting = want::nothing;
  refresh(i);
}

std::vector<consumer_id> consumer_table::take_short_of_demand() {
  std::vector<consumer_id> found;
  for (auto i : short_of_demand_) {
    auto& e = entries_[i];
    if (e.wanting != want::demand) continue;  // it has left, and another has its place
    e.wanting = want::nothing;
    if (e.demand > 0 || !e.lacks_only_demand()) continue;
    e.wanting = want::demand_and_told;
    found.push_back(e.id);
  }
  short_of_demand_.clear();
  return found;
}

void consumer_table::enter_ring(index i) {
  auto& e = entries_[i];
  auto at =
      std::lower_bound(levels_.begin(), levels_.end(), e.priority,
                       [](const level& l, std::int32_t wanted) { return l.priority > wanted; });
  if (at == levels_.end() || at->priority != e.priority) {
    e.next = e.previous = i;
    levels_.insert(at, {e.priority, i});
    return;
  }
  // Before the head: its turn comes last.
  auto& head = entries_[at->head];
  e.next = at->head;
  e.previous = head.previous;
  entries_[head.previous].next = i;
  head.previous = i;
}

void consumer_table::leave_ring(index i) noexcept {
  auto& e = entries_[i];
  auto at =
      std::lower_bound(levels_.begin(), levels_.end(), e.priority,
                       [](const level& l, std::int32_t wanted) { return l.priority > wanted; });
  if (e.next == i) {
    levels_.erase(at);
  } else {
    entries_[e.previous].next = e.next;
    entries_[e.next].previous = e.previous;
    if (at->head == i) at->head = e.next;
  }
  e.next = e.previous = none;
}

std::vector<consumer_id> consumer_table::subscribers() const {
  std::vector<consumer_id> all;
  all.reserve(subscribed_);
  for (const auto& [id, i] : by_id_)
    if (entries_[i].subscribed) all.push_back(id);
  return all;
}

}  // namespace baton
