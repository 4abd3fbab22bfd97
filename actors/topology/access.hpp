#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "actors/topology/permissions.hpp"
#include "actors/topology/refusal.hpp"
#include "actors/topology/snapshot.hpp"
#include "config/result.hpp"

namespace baton {

/// Who asks for something.
struct requester {
  std::optional<std::string> user;          ///< none: the node itself, which may do everything
  std::optional<connection_id> connection;  ///< owner of the exclusive queues it declares
};

/// Nothing, or 403; see check_permission().
std::optional<refusal> check_permission(const topology_snapshot& in, const requester& who,
                                        permission needed, resource_kind resource,
                                        std::string_view name, std::string_view vhost);

/// The virtual host, or 404 when it has been deleted.
result<const vhost*, refusal> open_vhost(const topology_snapshot& in, vhost_id id);

}  // namespace baton
