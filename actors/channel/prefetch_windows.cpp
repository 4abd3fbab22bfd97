#include "actors/channel/prefetch_windows.hpp"

#include <algorithm>
#include <limits>

#include "config/check.hpp"

namespace baton {

namespace {

constexpr auto any = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void prefetch_windows::set(std::uint32_t messages, bool global, changes& tell) {
  if (!global) {
    per_consumer_ = messages;
    return;
  }
  if (messages == shared_) return;
  shared_ = messages;
  for (auto& m : members_) {
    if (shared_ == 0) {
      tell.push_back({m.consumer, true, std::nullopt});
    } else if (m.no_ack) {
      m.issued = any;  // as it was until now
      adjust(m, tell);
    } else {
      m.issued = room();
      tell.push_back({m.consumer, true, m.issued});
    }
  }
}

std::optional<std::uint32_t> prefetch_windows::add(consumer_id consumer, bool no_ack) {
  member m{consumer, no_ack, no_ack && room() > 0 ? any : room()};
  members_.insert(find(consumer), m);
  if (shared_ == 0 || m.issued == any) return std::nullopt;
  return m.issued;
}

void prefetch_windows::remove(consumer_id consumer) {
  auto m = find(consumer);
  if (m != members_.end() && m->consumer == consumer) members_.erase(m);
}

std::uint32_t prefetch_windows::admit(consumer_id consumer, std::uint32_t leases, changes& tell) {
  auto m = find(consumer);
  BATON_CHECK(m != members_.end() && m->consumer == consumer);
  auto admitted = m->no_ack || shared_ == 0 ? leases : std::min(leases, room());
  if (m->no_ack) return admitted;
  unsettled_ += admitted;
  if (shared_ == 0) return admitted;
  m->issued -= std::min(m->issued, leases);
  for (auto& each : members_) adjust(each, tell);
  return admitted;
}

void prefetch_windows::settled(std::uint32_t deliveries, changes& tell) {
  BATON_CHECK(deliveries <= unsettled_);
  unsettled_ -= deliveries;
  if (shared_ == 0) return;
  for (auto& m : members_) adjust(m, tell);
}

void prefetch_windows::adjust(member& m, changes& tell) const {
  const auto left = room();
  if (m.no_ack) {
    auto wanted = left > 0 ? any : 0;
    if (m.issued == wanted) return;
    m.issued = wanted;
    tell.push_back(
        {m.consumer, true, wanted == 0 ? std::optional<std::uint32_t>{0} : std::nullopt});
  } else if (m.issued < left && m.issued <= left / 2) {
    // Not for every settled message: only when it has used half of what it could have.
    tell.push_back({m.consumer, false, left - m.issued});
    m.issued = left;
  }
}

std::vector<prefetch_windows::member>::iterator prefetch_windows::find(consumer_id consumer) {
  return std::lower_bound(members_.begin(), members_.end(), consumer,
                          [](const member& m, consumer_id wanted) { return m.consumer < wanted; });
}

}  // namespace baton
