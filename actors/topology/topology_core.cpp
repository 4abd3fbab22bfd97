#include "actors/topology/topology_core.hpp"

#include <utility>

#include "actors/topology/names.hpp"
#include "config/check.hpp"

namespace baton {

namespace {

constexpr std::size_t max_warned_names = 10'000;

struct predeclared {
  const char* name;
  exchange_type type;
  bool internal;
};
constexpr predeclared predeclared_exchanges[] = {
    {"amq.direct", exchange_type::direct, false},
    {"amq.fanout", exchange_type::fanout, false},
    {"amq.topic", exchange_type::topic, false},
    {"amq.headers", exchange_type::headers, false},
    {"amq.match", exchange_type::headers, false},
    {"amq.rabbitmq.trace", exchange_type::topic, true},
};

}  // namespace

topology_core::topology_core(topology_publication& publication, topology_limits limits,
                             bool strict_arguments, random_bytes random, sync_rules sync)
    : publication_{publication},
      limits_{limits},
      strict_arguments_{strict_arguments},
      random_{std::move(random)},
      sync_{std::move(sync)} {
  state_.version = publication_.version();
}

bool topology_core::publish() {
  if (!std::exchange(changed_, false)) return false;
  ++state_.version;
  publication_.publish(state_);
  return true;
}

result<vhost_id> topology_core::add_vhost(std::string name) {
  if (name.empty()) return failure{error{"a virtual host needs a name"}};
  if (state_.vhost_names.find(name) != nullptr)
    return failure{error{"virtual host '" + name + "' exists"}};
  if (state_.vhosts.size() >= limits_.vhosts)
    return failure{error{"virtual host '" + name + "': the limit of " +
                         std::to_string(limits_.vhosts) + " is reached"}};
  changes_.put(encode_vhost(name));
  return place_vhost(std::move(name));
}

vhost_id topology_core::place_vhost(std::string name) {
  const vhost_id id{++last_id_};
  state_.vhosts.set(id, shared<vhost>::make(vhost{id, name, {}, {}}));
  state_.vhost_names.set(std::move(name), id);
  books_.try_emplace(id);
  for (const predeclared& each : predeclared_exchanges)
    place_exchange(id, {{}, each.name, each.type, true, false, each.internal, {}, {}});
  changed_ = true;
  return id;
}

std::vector<shared<queue_entry>> topology_core::remove_vhost(std::string_view name) {
  std::vector<shared<queue_entry>> ended;
  const vhost_id* known = state_.vhost_names.find(name);
  if (known == nullptr) return ended;
  const vhost_id id = *known;
  const vhost& gone = *state_.find_vhost(id);
  gone.queues.for_each([&](const shared<queue_entry>& queue) {
    if (queue->direct_reply) return;
    disown(*queue);
    if (is_stored(*queue)) changes_.drop(stored_key(*queue));
    ended.push_back(queue);
  });
  const books& known_here = books_.at(id);
  gone.exchanges.for_each([&](const shared<exchange>& each) {
    known_here.bindings.for_each_from(each->definition().id, [&](const binding& from) {
      if (is_stored(from)) changes_.drop(stored_key(gone.name, from));
    });
    if (is_stored(each->definition())) changes_.drop(stored_key(gone.name, each->definition()));
  });
  changes_.drop(stored_vhost_key(gone.name));
  queues_ -= ended.size();
  exchanges_ -= gone.exchanges.size();
  bindings_ -= known_here.bindings.size();
  books_.erase(id);
  state_.vhost_names.erase(name);
  state_.vhosts.erase(id);
  changed_ = true;
  return ended;
}

result<void> topology_core::put_user(user_definition definition) {
  user made{std::move(definition.name),
            std::move(definition.password_hash),
            definition.loopback_only,
            std::move(definition.tags),
            definition.everywhere,
            {},
            ++last_revision_};
  for (user_definition::rights& rights : definition.permissions) {
    vhost_permissions here;
    const std::pair<name_pattern*, std::string*> patterns[] = {{&here.configure, &rights.configure},
                                                               {&here.write, &rights.write},
                                                               {&here.read, &rights.read}};
    for (const auto& [pattern, expression] : patterns) {
      auto parsed = name_pattern::parse(std::move(*expression));
      if (!parsed)
        return failure{error{"user '" + made.name + "', virtual host '" + rights.vhost +
                             "': " + parsed.reason().text}};
      *pattern = *std::move(parsed);
    }
    made.by_vhost.set(std::move(rights.vhost), std::move(here));
  }
  std::string name = made.name;
  state_.users.set(std::move(name), shared<user>::make(std::move(made)));
  changed_ = true;
  return {};
}

bool topology_core::remove_user(std::string_view name) {
  const bool removed = state_.users.erase(name);
  changed_ |= removed;
  return removed;
}

vhost& topology_core::edit_vhost(vhost_id id) {
  shared<vhost>* found = state_.vhosts.edit(id);
  BATON_CHECK(found != nullptr);
  changed_ = true;
  return found->edit();
}

exchange& topology_core::edit_exchange(vhost_id id, std::string_view name) {
  shared<exchange>* found = edit_vhost(id).exchanges.edit(name);
  BATON_CHECK(found != nullptr);
  return found->edit();
}

std::optional<refusal> topology_core::check(const requester& who, permission kind,
                                            resource_kind resource, std::string_view name,
                                            std::string_view vhost) const {
  return check_permission(state_, who, kind, resource, name, vhost);
}

result<std::vector<std::string>, refusal> topology_core::judge(
    const std::vector<unknown_argument>& unknown, const std::string& resource) {
  std::vector<std::string> warnings;
  for (const unknown_argument& each : unknown) {
    std::string text = "unknown argument '" + each.name + "' for " + resource;
    if (!each.nearest.empty()) text.append("; did you mean '").append(each.nearest).append("'?");
    if (strict_arguments_) return failure{refusal{refusal::precondition_failed, std::move(text)}};
    if (warned_.size() < max_warned_names && warned_.insert(each.name).second)
      warnings.push_back(std::move(text));
  }
  return warnings;
}

}  // namespace baton
