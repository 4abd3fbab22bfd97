#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "config/ids.hpp"

namespace baton {

/// Credit that a queue has not yet returned to a publisher.
struct owed_credit {
  connection_id publisher;
  std::uint64_t bytes = 0;

  friend bool operator==(const owed_credit&, const owed_credit&) = default;
};

/// What a queue at its share of the memory budget owes to its publishers.
class publisher_debts {
public:
  void owe(connection_id publisher, std::uint64_t bytes) { debts_[publisher] += bytes; }
  /// The publisher is gone.
  void forget(connection_id publisher) { debts_.erase(publisher); }
  bool empty() const noexcept { return debts_.empty(); }

  /// All of it, one entry for each publisher; nothing is owed afterwards.
  std::vector<owed_credit> take() {
    std::vector<owed_credit> all;
    all.reserve(debts_.size());
    for (const auto& [publisher, bytes] : debts_) all.push_back({publisher, bytes});
    debts_.clear();
    return all;
  }

private:
  std::unordered_map<connection_id, std::uint64_t> debts_;
};

}  // namespace baton
