#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "actors/topology/entities.hpp"
#include "actors/topology/exchange.hpp"
#include "actors/topology/permissions.hpp"

namespace baton {

namespace detail {

/// For objects that are found by a name of their own.
template <class Object, std::string_view (*name_of)(const Object&)>
struct by_name {
  using view = std::string_view;
  static view key(const shared<Object>& of) noexcept { return name_of(*of); }
  static std::uint64_t hash(view key) noexcept { return hash_name(key); }
};
inline std::string_view name_of_queue(const queue_entry& of) { return of.name; }
inline std::string_view name_of_exchange(const exchange& of) { return of.definition().name; }

}  // namespace detail

/// One virtual host. The default exchange is not among the exchanges: it is the queues' names.
struct vhost {
  vhost_id id;
  std::string name;
  persistent_set<shared<exchange>, detail::by_name<exchange, detail::name_of_exchange>> exchanges;
  persistent_set<shared<queue_entry>, detail::by_name<queue_entry, detail::name_of_queue>> queues;

  const exchange* find_exchange(std::string_view called) const noexcept {
    const shared<exchange>* found = exchanges.find(called);
    return found == nullptr ? nullptr : found->get();
  }
  const queue_entry* find_queue(std::string_view called) const noexcept {
    const shared<queue_entry>* found = queues.find(called);
    return found == nullptr ? nullptr : found->get();
  }
};

/// What exists, and who may use it, at one version of the topology. The writer's working copy is
/// changed; every published copy is const, shared by the loops, and shares with the next version
/// all that did not change.
struct topology_snapshot {
  std::uint64_t version = 0;
  persistent_map<vhost_id, shared<vhost>> vhosts;
  persistent_map<std::string, vhost_id> vhost_names;
  persistent_map<std::string, shared<user>> users;

  const vhost* find_vhost(vhost_id id) const noexcept {
    const shared<vhost>* found = vhosts.find(id);
    return found == nullptr ? nullptr : found->get();
  }
  const vhost* find_vhost(std::string_view called) const noexcept {
    const vhost_id* id = vhost_names.find(called);
    return id == nullptr ? nullptr : find_vhost(*id);
  }
  const user* find_user(std::string_view called) const noexcept {
    const shared<user>* found = users.find(called);
    return found == nullptr ? nullptr : found->get();
  }
};

}  // namespace baton
