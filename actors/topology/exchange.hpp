#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "actors/topology/entities.hpp"
#include "actors/topology/headers_index.hpp"
#include "actors/topology/topic_index.hpp"

namespace baton {

/// What the bindings of one exchange say about one routing key and one set of headers.
struct route_matches {
  std::vector<const destination_set*> sets;  ///< may overlap
  std::vector<const destination*> singles;   ///< beside them
  topic_index::scratch work;

  bool empty() const noexcept { return sets.empty() && singles.empty(); }
  void clear() noexcept {
    sets.clear();
    singles.clear();
  }
};

class direct_index {
public:
  void add(const binding& of);
  void remove(const binding& of);
  void match(std::string_view key, std::vector<const destination_set*>& out) const {
    if (const destination_set* found = by_key_.find(key)) out.push_back(found);
  }

private:
  persistent_map<std::string, destination_set> by_key_;
};

/// One exchange with its bindings, arranged for its type. A value: copies are cheap and
/// independent, and a copy that was published is never changed.
class exchange {
public:
  exchange(shared<exchange_definition> definition, std::uint64_t revision);

  const exchange_definition& definition() const noexcept { return *definition_; }
  const shared<exchange_definition>& shared_definition() const noexcept { return definition_; }

  /// A number that no other exchange and no other state of this one has: what was once computed
  /// from an exchange holds for as long as the revision is the same.
  std::uint64_t revision() const noexcept { return revision_; }

  void add(const binding& of, std::uint64_t revision);
  void remove(const binding& of, std::uint64_t revision);

  /// Only the routing key decides, not the headers.
  bool routes_by_key() const noexcept { return !std::holds_alternative<headers_index>(index_); }
  /// Appends what a routing key leads to; nothing where headers decide.
  void match_key(std::string_view key, route_matches& out) const;
  /// Appends what headers lead to; nothing where the key decides.
  void match_headers(const field_table& headers, route_matches& out) const;

private:
  shared<exchange_definition> definition_;
  std::uint64_t revision_;
  std::variant<direct_index, destination_set, topic_index, headers_index> index_;  // by type
};

}  // namespace baton
