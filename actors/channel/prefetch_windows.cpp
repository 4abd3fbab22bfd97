#include "actors/channel/prefetch_windows.hpp"

#include <algorithm>
#include <utility>

#include "config/check.hpp"

namespace baton {

namespace {

using kind = demand_change::kind;

// A queue never holds more of a wide window than this, so that there is always some left to deal.
constexpr std::uint32_t widest_portion = 4096;

constexpr auto id_before = [](const auto& m, consumer_id wanted) { return m.consumer < wanted; };

}  // namespace

void prefetch_windows::set(std::uint32_t messages, bool global, changes& tell) {
  if (!global) {
    per_consumer_ = messages;
    return;
  }
  shared_ = messages == 0 ? limit_ : std::min(messages, limit_);
  if (unsettled_ + issued_ > shared_)
    for (auto& m : members_) recall(m, tell);
  deal(tell);
  hold_or_release_no_ack(tell);
}

std::optional<std::uint32_t> prefetch_windows::add(consumer_id consumer, bool no_ack) {
  if (no_ack) {
    no_ack_.push_back(consumer);
    no_ack_held_ = unsettled_ >= shared_;
    return no_ack_held_ ? std::optional<std::uint32_t>{0} : std::nullopt;
  }
  auto at = std::lower_bound(members_.begin(), members_.end(), consumer, id_before);
  auto& m = *members_.insert(at, {consumer});
  // Whoever waits comes first.
  m.issued = waiting_.empty() ? std::min(portion(), room()) : 0;
  issued_ += m.issued;
  return m.issued;
}

void prefetch_windows::remove(consumer_id consumer, changes& tell) {
  auto* m = find(consumer);
  if (m == nullptr) {
    std::erase(no_ack_, consumer);
    return;
  }
  take_back(*m, m->issued);
  if (m->answering) --offers_;
  if (m->waiting) std::erase(waiting_, consumer);
  members_.erase(members_.begin() + (m - members_.data()));
  deal(tell);
}

void prefetch_windows::took(consumer_id consumer, std::uint32_t leases, changes& tell) {
  auto* m = find(consumer);
  if (m == nullptr) return;
  BATON_CHECK(leases <= m->issued);
  take_back(*m, leases);
  unsettled_ += leases;
  last_ = consumer;
  if (waiting_.empty()) top_up(*m, tell);
  if (!no_ack_.empty()) hold_or_release_no_ack(tell);
}

void prefetch_windows::settled(std::uint32_t deliveries, changes& tell) {
  BATON_CHECK(deliveries <= unsettled_);
  const bool was_full = room() == 0;
  unsettled_ -= deliveries;
  if (!waiting_.empty())
    deal(tell);
  else if (auto* m = was_full ? find(last_) : nullptr)
    top_up(*m, tell);
  if (!no_ack_.empty()) hold_or_release_no_ack(tell);
}

void prefetch_windows::short_of_demand(consumer_id consumer, changes& tell) {
  auto* m = find(consumer);
  // What it has been given since is on its way to it; what its queue wants behind an answer, it
  // will say behind the answer.
  if (m == nullptr || m->waiting || m->answering || m->issued > 0) return;
  m->waiting = true;
  waiting_.push_back(consumer);
  deal(tell);
}

void prefetch_windows::given_back(consumer_id consumer, std::uint32_t unused, changes& tell) {
  auto* m = find(consumer);
  if (m == nullptr || !m->answering) return;
  BATON_CHECK(unused == m->issued);  // its leases came ahead of the answer
  m->answering = false;
  --offers_;
  take_back(*m, unused);
  deal(tell);
}

std::uint32_t prefetch_windows::portion() const noexcept {
  const auto each = shared_ / static_cast<std::uint32_t>(std::max<std::size_t>(members_.size(), 1));
  return std::clamp<std::uint32_t>(each, 1, widest_portion);
}

prefetch_windows::member* prefetch_windows::find(consumer_id consumer) noexcept {
  auto at = std::lower_bound(members_.begin(), members_.end(), consumer, id_before);
  return at != members_.end() && at->consumer == consumer ? &*at : nullptr;
}

void prefetch_windows::top_up(member& m, changes& tell) {
  const auto wanted = portion();
  // Not for every message: only when half of it has been used.
  if (m.answering || m.issued >= wanted || m.issued > wanted / 2) return;
  give(m, std::min(wanted - m.issued, room()), tell);
}

void prefetch_windows::give(member& m, std::uint32_t messages, changes& tell) {
  if (messages == 0) return;
  m.issued += messages;
  issued_ += messages;
  tell.push_back({m.consumer, kind::more, messages});
}

void prefetch_windows::take_back(member& m, std::uint32_t messages) {
  m.issued -= messages;
  issued_ -= messages;
}

void prefetch_windows::offer(member& m, std::uint32_t messages, changes& tell) {
  m.issued += messages;
  issued_ += messages;
  m.answering = true;
  ++offers_;
  tell.push_back({m.consumer, kind::offer, messages});
}

void prefetch_windows::recall(member& m, changes& tell) {
  if (!m.answering && m.issued > 0) offer(m, 0, tell);
}

void prefetch_windows::deal(changes& tell) {
  while (!waiting_.empty() && room() > 0) {
    auto& m = *find(waiting_.front());
    const auto fair = room() / static_cast<std::uint32_t>(waiting_.size());
    const auto messages = std::clamp<std::uint32_t>(fair, 1, portion());
    waiting_.pop_front();
    m.waiting = false;
    // Its messages may be gone by now. While others wait for a place, none may lie about.
    if (waiting_.empty())
      give(m, messages, tell);
    else
      offer(m, messages, tell);
  }
  if (!waiting_.empty()) recall_from_the_idle(tell);
}

void prefetch_windows::recall_from_the_idle(changes& tell) {
  if (offers_ > 0 || issued_ == 0) return;
  auto most = std::max_element(members_.begin(), members_.end(),
                               [](const auto& x, const auto& y) { return x.issued < y.issued; });
  recall(*most, tell);
}

void prefetch_windows::hold_or_release_no_ack(changes& tell) {
  const bool full = unsettled_ >= shared_;
  if (std::exchange(no_ack_held_, full) == full) return;
  for (auto consumer : no_ack_) tell.push_back({consumer, full ? kind::none : kind::any, 0});
}

}  // namespace baton
