#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/topology/permissions.hpp"
#include "config/settings.hpp"

namespace baton {

/// Which sync policy a queue has: that of the first [[sync]] table that names it, else the
/// journal's.
class sync_rules {
public:
  /// `always`, for all.
  sync_rules() = default;
  /// Compiles the expressions, which the configuration's checks have let pass.
  explicit sync_rules(const settings& configured);

  sync_policy of(std::string_view vhost, std::string_view queue) const;

private:
  struct rule {
    std::string vhost;
    name_pattern queues;
    sync_policy sync;
  };

  std::vector<rule> rules_;
  sync_policy otherwise_ = sync_policy::always;
};

}  // namespace baton
