#include "actors/topology/access.hpp"

#include <utility>

namespace baton {

std::optional<refusal> check_permission(const topology_snapshot& in, const requester& who,
                                        permission needed, resource_kind resource,
                                        std::string_view name, std::string_view vhost) {
  if (!who.user) return std::nullopt;
  return check_permission(in.find_user(*who.user), *who.user, needed, resource, name, vhost);
}

result<shared<queue_entry>, refusal> find_queue(const topology_snapshot& in, const requester& who,
                                                permission needed, vhost_id vhost,
                                                std::string_view name) {
  auto open = open_vhost(in, vhost);
  if (!open) return failure{std::move(open.reason())};
  const baton::vhost& here = **open;
  if (auto refused = check_permission(in, who, needed, resource_kind::queue, name, here.name))
    return failure{std::move(*refused)};
  const shared<queue_entry>* present = here.queues.find(name);
  if (present == nullptr) return failure{no_queue(name, here.name)};
  if (auto locked = check_exclusive_access(**present, who.connection))
    return failure{std::move(*locked)};
  return *present;
}

result<const vhost*, refusal> open_vhost(const topology_snapshot& in, vhost_id id) {
  if (const vhost* here = in.find_vhost(id)) return here;
  return failure{refusal{refusal::not_found, "the virtual host has been deleted"}};
}

}  // namespace baton
