#include "actors/topology/sync_rules.hpp"

#include <utility>

namespace baton {

sync_rules::sync_rules(const settings& configured) : otherwise_{configured.journal.sync} {
  for (const sync_settings& each : configured.syncs)
    rules_.push_back({each.vhost, name_pattern::parse(each.queues).value(), each.sync});
}

sync_policy sync_rules::of(std::string_view vhost, std::string_view queue) const {
  for (const rule& each : rules_)
    if (each.vhost == vhost && each.queues.matches(queue)) return each.sync;
  return otherwise_;
}

}  // namespace baton
