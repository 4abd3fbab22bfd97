#include "actors/topology/access.hpp"

namespace baton {

std::optional<refusal> check_permission(const topology_snapshot& in, const requester& who,
                                        permission needed, resource_kind resource,
                                        std::string_view name, std::string_view vhost) {
  if (!who.user) return std::nullopt;
  return check_permission(in.find_user(*who.user), *who.user, needed, resource, name, vhost);
}

result<const vhost*, refusal> open_vhost(const topology_snapshot& in, vhost_id id) {
  if (const vhost* here = in.find_vhost(id)) return here;
  return failure{refusal{refusal::not_found, "the virtual host has been deleted"}};
}

}  // namespace baton
