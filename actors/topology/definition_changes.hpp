#pragma once

#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/topology/stored_definitions.hpp"

namespace baton {

/// What the store is to know from now on about one key: this value, or (none) nothing more.
struct definition_change {
  std::string key;
  std::optional<std::string> value;

  friend bool operator==(const definition_change&, const definition_change&) = default;
};

/// The difference between what is defined and what the store knows. Of each key there is one change
/// at most; what comes and goes between two takes leaves none. So as long as nobody takes them,
/// changes are no more than what exists.
class definition_changes {
public:
  /// It is there now, and was not before.
  void put(definition made) {
    const auto found = by_key_.find(made.key);
    if (found == by_key_.end()) {
      append({std::move(made.key), std::move(made.value), false});
      return;
    }
    found->second->value = std::move(made.value);  // dropped since the last take, and here again
    changes_.splice(changes_.end(), changes_, found->second);
  }

  /// It was there, and is no longer.
  void drop(std::string key) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) {
      append({std::move(key), std::nullopt, true});
      return;
    }
    const auto change = found->second;
    if (change->known) {
      change->value.reset();
      changes_.splice(changes_.end(), changes_, change);
    } else {
      by_key_.erase(found);
      changes_.erase(change);
    }
  }

  /// In the order in which they were made; from now on the store knows them.
  std::vector<definition_change> take() {
    std::vector<definition_change> taken;
    taken.reserve(changes_.size());
    by_key_ = index{};  // clear() would go through all the room that a start may have made
    for (pending& each : changes_) taken.push_back({std::move(each.key), std::move(each.value)});
    changes_.clear();
    return taken;
  }

private:
  struct pending {
    std::string key;
    std::optional<std::string> value;
    bool known;  // by the store, when this change began
  };

  using index = std::unordered_map<std::string_view, std::list<pending>::iterator>;

  void append(pending made) {
    const auto at = changes_.insert(changes_.end(), std::move(made));
    by_key_.emplace(at->key, at);
  }

  std::list<pending> changes_;
  index by_key_;  // by the keys in changes_
};

}  // namespace baton
