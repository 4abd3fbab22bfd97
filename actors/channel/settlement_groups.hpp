#pragma once

#include <cstdint>
#include <vector>

#include "actors/channel/unsettled_table.hpp"

namespace baton {

/// Sorts what a client settles by whom it has to be told: one list of settlements for each queue
/// and consumer, so that an ack of 64 deliveries is one message to each queue, not 64.
class settlement_groups {
public:
  struct group {
    std::uint32_t queue = 0;
    consumer_id consumer;
    std::uint64_t count = 0;  ///< leases that end
    std::vector<settlement> leases;
  };

  void add(const settled_run& run) {
    auto& g = group_of(run.queue, run.consumer);
    g.count += run.leases.count;
    if (!g.leases.empty()) {
      auto& last = g.leases.back();
      if (last.how == run.leases.how && last.first + last.count == run.leases.first) {
        last.count += run.leases.count;
        return;
      }
    }
    g.leases.push_back(run.leases);
  }

  bool empty() const noexcept { return groups_.empty(); }
  /// Leaves the groups to the caller; none are left here.
  std::vector<group> take() noexcept { return std::exchange(groups_, {}); }

private:
  group& group_of(std::uint32_t queue, consumer_id consumer) {
    auto is_it = [&](const group& g) { return g.queue == queue && g.consumer == consumer; };
    // Consumers take turns, so the next run mostly belongs to the group after the last one.
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (++at_ >= groups_.size()) at_ = 0;
      if (is_it(groups_[at_])) return groups_[at_];
    }
    groups_.push_back({queue, consumer, 0, {}});
    at_ = groups_.size() - 1;
    return groups_.back();
  }

  std::vector<group> groups_;
  std::size_t at_ = 0;
};

}  // namespace baton
