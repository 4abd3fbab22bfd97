#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>
#include <unordered_set>

#include "actors/topology/entities.hpp"

namespace baton {

/// All bindings of one virtual host, for the one writer: found by what they are, by where they come
/// from and by where they lead. Adding, finding and erasing one costs the same however many there
/// are. (Routing uses the exchanges' own indexes, in the snapshot.)
class binding_table {
public:
  binding_table() = default;
  binding_table(const binding_table&) = delete;
  binding_table& operator=(const binding_table&) = delete;

  std::size_t size() const noexcept { return known_.size(); }

  /// The one with the same source, destination, key and arguments (in any order), or nullptr.
  const binding* find(const binding& like) const;
  /// There is none like it.
  const binding& add(binding made);
  /// Forgets one that is in the table, and returns it.
  binding take(const binding& known);

  /// The oldest binding from an exchange or to a destination, or nullptr.
  const binding* any_from(exchange_id source) const;
  const binding* any_to(std::uint64_t key) const;

  /// Calls `visit(const binding&)` for each from an exchange, the oldest first.
  template <class Visit>
  void for_each_from(exchange_id source, Visit&& visit) const {
    if (const auto found = from_.find(source); found != from_.end())
      for (const record& each : found->second) visit(each.held);
  }

private:
  struct record;
  using from_list = std::list<record>;
  using to_list = std::list<const record*>;
  struct record {
    binding held;
    std::uint64_t hash;
    from_list::iterator in_from;
    to_list::iterator in_to;
  };
  struct hash_of {
    std::size_t operator()(const record* each) const noexcept { return each->hash; }
  };
  struct same {
    bool operator()(const record* a, const record* b) const;
  };

  std::unordered_set<const record*, hash_of, same> known_;
  std::unordered_map<exchange_id, from_list> from_;  // these own the records
  std::unordered_map<std::uint64_t, to_list> to_;    // by destination key
};

}  // namespace baton
