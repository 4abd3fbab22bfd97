#pragma once

#include <algorithm>
#include <iterator>
#include <map>

#include "config/ids.hpp"

namespace baton::journal {

/// A set of sequences that come in long runs: costs in proportion to the gaps between them.
class sequence_ranges {
public:
  /// Adds [first, end).
  void add(sequence first, sequence end) {
    if (first >= end) return;
    auto next = ranges_.upper_bound(first);
    if (next != ranges_.begin())
      if (const auto before = std::prev(next); before->second >= first) {
        first = before->first;
        end = std::max(end, before->second);
        ranges_.erase(before);
      }
    while (next != ranges_.end() && next->first <= end) {
      end = std::max(end, next->second);
      next = ranges_.erase(next);
    }
    ranges_.emplace_hint(next, first, end);
  }

  bool contains(sequence number) const noexcept {
    const auto next = ranges_.upper_bound(number);
    return next != ranges_.begin() && number < std::prev(next)->second;
  }

  bool empty() const noexcept { return ranges_.empty(); }

  /// Calls `use(first, end)` for each run, in order.
  template <class Use>
  void for_each(Use&& use) const {
    for (const auto& [first, end] : ranges_) use(first, end);
  }

private:
  std::map<sequence, sequence> ranges_;  // first -> end
};

}  // namespace baton::journal
