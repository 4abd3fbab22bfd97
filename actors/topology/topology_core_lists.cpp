#include "actors/topology/listing.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "actors/topology/topology_core.hpp"

namespace baton {

std::vector<vhost_listing> topology_core::list_vhosts() const {
  std::vector<vhost_listing> list;
  state_.vhosts.for_each([&](vhost_id id, const shared<vhost>& each) {
    list.push_back({each->name, each->exchanges.size() + 1, each->queues.size(),
                    books_.at(id).bindings.size()});
  });
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return list;
}

std::vector<exchange_listing> topology_core::list_exchanges() const {
  std::vector<exchange_listing> list;
  state_.vhosts.for_each([&](vhost_id, const shared<vhost>& here) {
    list.push_back({here->name, "", exchange_type::direct, true, false, false, {}});
    here->exchanges.for_each([&](const shared<exchange>& each) {
      const exchange_definition& is = each->definition();
      list.push_back(
          {here->name, is.name, is.type, is.durable, is.auto_delete, is.internal, is.declared});
    });
  });
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return std::tie(a.vhost, a.name) < std::tie(b.vhost, b.name);
  });
  return list;
}

std::vector<queue_listing> topology_core::list_queues() const {
  std::vector<queue_listing> list;
  state_.vhosts.for_each([&](vhost_id, const shared<vhost>& here) {
    here->queues.for_each([&](const shared<queue_entry>& each) {
      if (!each->direct_reply) list.push_back({here->name, each});
    });
  });
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return std::tie(a.vhost, a.queue->name) < std::tie(b.vhost, b.queue->name);
  });
  return list;
}

std::vector<binding_listing> topology_core::list_bindings() const {
  std::vector<binding_listing> list;
  for (const queue_listing& each : list_queues())
    list.push_back({each.vhost, "", resource_kind::queue, each.queue->name, each.queue->name, {}});
  std::vector<std::pair<std::string, const binding*>> made;
  state_.vhosts.for_each([&](vhost_id id, const shared<vhost>& here) {
    here->exchanges.for_each([&](const shared<exchange>& each) {
      books_.at(id).bindings.for_each_from(
          each->definition().id, [&](const binding& of) { made.emplace_back(here->name, &of); });
    });
  });
  std::sort(made.begin(), made.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second->id) < std::tie(b.first, b.second->id);
  });
  for (const auto& [vhost, of] : made)
    list.push_back({vhost, of->source->name,
                    of->to.queue ? resource_kind::queue : resource_kind::exchange, of->to.name(),
                    of->key, of->arguments});
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.vhost < b.vhost; });
  return list;
}

}  // namespace baton
