#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "actors/interfaces.hpp"

namespace baton {

/// Who consumes from a queue or a stream. Few, as a rule, and asked for in the order in which they
/// came: found by a walk that begins behind the last one found.
class queue_consumers {
public:
  struct one {
    consumer_id id;
    consumer_ref to;
  };

  void add(consumer_id id, consumer_ref to) { all_.push_back({id, std::move(to)}); }
  void remove(consumer_id id);
  void clear() noexcept { all_.clear(); }

  const consumer_ref* find(consumer_id id) const;
  /// Tells all but `except` that no more will come.
  void tell_gone(consumer_id except = {}) const;

  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

private:
  std::vector<one> all_;
  mutable std::size_t last_found_ = 0;
};

/// What a consumer may be handed changes. Absent, or what it gives back of an offer, after
/// `dispatch()` has handed out what it can.
template <class Core, class Dispatch>
std::optional<std::uint32_t> apply(const demand_change& change, Core& core, Dispatch&& dispatch) {
  switch (change.how) {
    case demand_change::kind::more:
      core.demand(change.consumer, change.messages);
      break;
    case demand_change::kind::any:
      core.set_demand(change.consumer, std::nullopt);
      break;
    case demand_change::kind::none:
      core.set_demand(change.consumer, 0);
      break;
    case demand_change::kind::offer:
      core.demand(change.consumer, change.messages);
      dispatch();
      return core.recall_demand(change.consumer);
  }
  return std::nullopt;
}

}  // namespace baton
