#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "actors/queue/consumer_options.hpp"
#include "actors/queue/lease.hpp"
#include "config/ids.hpp"

namespace baton {

/// The consumers of a queue with their credit, and whose turn it is.
///
/// Whoever can take a message stands in the ring of its priority; whoever runs out of credit leaves
/// it until a settle, a grant or a demand brings it back. So nobody is asked in vain.
class consumer_table {
public:
  using index = std::uint32_t;
  static constexpr index none = std::numeric_limits<index>::max();

  /// Whether its lack of demand, and nothing else, keeps it from taking messages.
  enum class want : std::uint8_t {
    nothing,
    demand,          ///< it does, as far as anybody has looked
    demand_and_told  ///< and `take_short_of_demand` has said so
  };

  struct entry {
    consumer_id id;
    std::int64_t balance = 0;  ///< bytes that it may still be handed
    std::int64_t demand = 0;   ///< messages that it may still be handed; from `unlimited` on: any
    std::uint32_t unsettled = 0;
    std::uint32_t prefetch = 0;  ///< `none`: unlimited
    std::int32_t priority = 0;
    index next = none;  ///< in its ring; `none` while it stands in none
    index previous = none;
    sequence oldest = 0;  ///< no lease of it is older; meaningful while it has some
    bool no_ack = false;
    bool exclusive = false;
    bool subscribed = false;  ///< else: it only gets, or it left and has unsettled leases
    want wanting = want::nothing;
    lease_batch open;  ///< what it has been handed since the last dispatch

    bool in_ring() const noexcept { return next != none; }
    bool may_take() const noexcept { return lacks_only_demand() && demand > 0; }
    bool lacks_only_demand() const noexcept {
      return subscribed && balance > 0 && unsettled < prefetch;
    }
  };
  /// So much that nobody lives to see it used up.
  static constexpr std::int64_t unlimited = std::int64_t{1} << 61;

  std::size_t subscribed() const noexcept { return subscribed_; }
  bool has_exclusive() const noexcept { return exclusive_; }

  /// The entry of `id`, or `none`.
  index find(consumer_id id) const noexcept;
  entry& operator[](index i) noexcept { return entries_[i]; }
  const entry& operator[](index i) const noexcept { return entries_[i]; }

  /// Makes `id` a subscriber. It must not be one already.
  index subscribe(consumer_id id, const consumer_options& options);
  /// Ends the subscription; the entry stays as long as it has unsettled leases.
  void unsubscribe(index i);
  /// An entry for one that only gets, made if need be.
  index owner(consumer_id id);

  /// After its credit or its leases have changed: puts it into its ring or takes it out, and
  /// forgets it when it neither subscribes nor owns anything.
  void refresh(index i);

  /// Whose turn it is: among those that can take a message, of the highest priority; or `none`.
  index front() const noexcept { return levels_.empty() ? none : levels_.front().head; }
  /// `i`, which was in front, has taken a message: it goes to the end of its ring or leaves it.
  void took(index i) {
    if (entries_[i].may_take()) {
      levels_.front().head = entries_[i].next;
    } else {
      leave_ring(i);
      note_want(i);
    }
  }

  /// What `i` may still be handed changes, by an answer to its want or otherwise.
  void set_demand(index i, std::int64_t messages);
  /// Whether any subscriber may be short of demand and has not been told of.
  bool any_short_of_demand() const noexcept { return !short_of_demand_.empty(); }
  /// Those that could take a message if they had demand; each once until its demand changes.
  std::vector<consumer_id> take_short_of_demand();

  /// Whether a subscriber has used up its byte credit.
  bool any_without_bytes() const noexcept {
    for (const auto& [id, i] : by_id_)
      if (entries_[i].subscribed && entries_[i].balance <= 0) return true;
    return false;
  }

  /// Whether a subscriber has used up its window, and nothing else.
  bool any_without_window() const noexcept {
    for (const auto& [id, i] : by_id_)
      if (entries_[i].subscribed && entries_[i].unsettled >= entries_[i].prefetch) return true;
    return false;
  }

  /// All subscribers, in the order of their ids.
  std::vector<consumer_id> subscribers() const;

private:
  struct level {
    std::int32_t priority;
    index head;
  };

  void note_want(index i) {
    auto& e = entries_[i];
    if (e.demand > 0 || e.wanting != want::nothing || !e.lacks_only_demand()) return;
    e.wanting = want::demand;
    short_of_demand_.push_back(i);
  }
  void enter_ring(index i);
  void leave_ring(index i) noexcept;
  index make(consumer_id id);
  void forget(index i);

  std::vector<entry> entries_;
  std::vector<index> free_;
  std::vector<std::pair<consumer_id, index>> by_id_;  // sorted
  std::vector<level> levels_;           // highest priority first; only those with a ring
  std::vector<index> short_of_demand_;  // those that want `demand`, and some that no longer do
  std::size_t subscribed_ = 0;
  bool exclusive_ = false;
};

}  // namespace baton
