// topology_core: queues.

#include <algorithm>
#include <utility>

#include "actors/topology/names.hpp"
#include "actors/topology/topology_core.hpp"
#include "config/check.hpp"

namespace baton {

namespace {

/// Quorum queues and streams are durable, shared and stay; else the first property that is not so.
std::optional<refusal> check_type_properties(const queue_declaration& asked, queue_type type,
                                             const std::string& resource) {
  if (type == queue_type::classic) return std::nullopt;
  const char* property = asked.auto_delete ? "auto-delete"
                         : asked.exclusive ? "exclusive-owner"
                         : !asked.durable  ? "non-durable"
                                           : nullptr;
  if (property == nullptr) return std::nullopt;
  return refusal{refusal::precondition_failed,
                 std::string{"invalid property '"} + property + "' for " + resource};
}

/// A type of queue that only exists under the name its users gave it.
const std::string* type_that_needs_a_name(const field_table& arguments) {
  const field_value* type = find_field(arguments, "x-queue-type");
  const auto* name = type == nullptr ? nullptr : type->get<std::string>();
  return name != nullptr && (*name == "quorum" || *name == "stream") ? name : nullptr;
}

}  // namespace

result<queue_outcome, refusal> topology_core::declare_queue(const requester& who,
                                                            queue_declaration asked,
                                                            const make_target& make) {
  auto open = open_vhost(state_, asked.vhost);
  if (!open) return failure{std::move(open.reason())};
  const vhost& here = **open;
  asked.name = stripped(std::move(asked.name));
  if (asked.passive) return declare_passively(who, asked);

  if (asked.name.empty()) {
    if (const std::string* type = type_that_needs_a_name(asked.arguments))
      return failure{refusal{refusal::precondition_failed,
                             "Cannot declare a server-named queue for type " + *type}};
    asked.name = generated_name();
  } else if (auto refused = check_new_name("queue", asked.name)) {
    return failure{std::move(*refused)};
  }
  if (auto refused = check(who, permission::configure, resource_kind::queue, asked.name, here.name))
    return failure{std::move(*refused)};

  const shared<queue_entry>* present = here.queues.find(asked.name);
  if (present == nullptr) return create_queue(who, asked, make);
  const auto owner = asked.exclusive ? who.connection : std::nullopt;
  if (auto different = check_equivalence(**present, asked, owner))
    return failure{std::move(*different)};
  return queue_outcome{queue_status::existing, *present, {}};
}

result<queue_outcome, refusal> topology_core::declare_passively(
    const requester& who, const queue_declaration& asked) const {
  const vhost& here = *state_.find_vhost(asked.vhost);
  const shared<queue_entry>* present = here.queues.find(asked.name);
  if (present == nullptr) return failure{no_queue(asked.name, here.name)};
  if (auto locked = check_exclusive_access(**present, who.connection))
    return failure{std::move(*locked)};
  return queue_outcome{queue_status::existing, *present, {}};
}

result<queue_outcome, refusal> topology_core::create_queue(const requester& who,
                                                           queue_declaration& asked,
                                                           const make_target& make) {
  const std::string& here = vhost_name(asked.vhost);
  const std::string resource = queue_text(asked.name, here);
  if (queues_ >= limits_.queues)
    return failure{refusal{refusal::precondition_failed,
                           "cannot declare " + resource + ": the limit of " +
                               std::to_string(limits_.queues) + " queues is reached"}};
  if (asked.exclusive && !who.connection)
    return failure{refusal{refusal::precondition_failed,
                           "cannot declare " + resource + ": exclusive, but to no connection"}};
  auto dead_letters = exchange_argument(asked.arguments, "x-dead-letter-exchange", resource);
  if (!dead_letters) return failure{std::move(dead_letters.reason())};
  if (*dead_letters) {
    if (auto refused = check(who, permission::read, resource_kind::queue, asked.name, here))
      return failure{std::move(*refused)};
    if (auto refused = check(who, permission::write, resource_kind::exchange, **dead_letters, here))
      return failure{std::move(*refused)};
  }
  auto arguments = parse_queue_arguments(asked.arguments, asked.name, here);
  if (!arguments) return failure{std::move(arguments.reason())};
  if (auto refused = check_type_properties(asked, arguments->type, resource))
    return failure{std::move(*refused)};
  auto warnings = judge(unknown_arguments(asked.arguments, known_queue_arguments()), resource);
  if (!warnings) return failure{std::move(warnings.reason())};

  queue_entry made{queue_id{++last_id_},
                   asked.vhost,
                   here,
                   std::move(asked.name),
                   asked.durable,
                   asked.auto_delete,
                   asked.exclusive ? who.connection : std::nullopt,
                   std::move(asked.arguments),
                   *std::move(arguments),
                   nullptr};
  const auto entry = place_queue(std::move(made), make);
  if (is_stored(*entry)) changes_.put(encode(*entry));
  return queue_outcome{queue_status::created, entry, *std::move(warnings)};
}

shared<queue_entry> topology_core::place_queue(queue_entry made, const make_target& make) {
  if (made.survives_restart()) made.sync = sync_.of(made.vhost_name, made.name);
  made.target = make(made);
  const auto entry = shared<queue_entry>::make(std::move(made));
  books_.at(entry->vhost).queue_names.emplace(entry->id, entry->name);
  if (entry->owner) owned_[*entry->owner].emplace(entry->id, entry->vhost);
  edit_vhost(entry->vhost).queues.put(entry);
  ++queues_;
  return entry;
}

std::string topology_core::generated_name() { return generated_queue_name(random_()); }

void topology_core::add_reply_name(vhost_id vhost, std::string name,
                                   std::shared_ptr<queue_target> target) {
  const auto* here = state_.find_vhost(vhost);
  if (here == nullptr) return;
  queue_entry made;
  made.id = queue_id{++last_id_};
  made.vhost = vhost;
  made.vhost_name = here->name;
  made.name = std::move(name);
  made.durable = false;
  made.target = std::move(target);
  made.direct_reply = true;
  edit_vhost(vhost).queues.put(shared<queue_entry>::make(std::move(made)));
}

void topology_core::remove_reply_name(vhost_id vhost, std::string_view name) {
  const auto* here = state_.find_vhost(vhost);
  const auto* found = here == nullptr ? nullptr : here->find_queue(name);
  if (found != nullptr && found->direct_reply) edit_vhost(vhost).queues.erase(name);
}

shared<queue_entry> topology_core::queue_closed(vhost_id vhost, queue_id queue) {
  return drop_queue(vhost, queue);
}

std::vector<shared<queue_entry>> topology_core::connection_closed(connection_id connection) {
  std::vector<shared<queue_entry>> ended;
  const auto found = owned_.find(connection);
  if (found == owned_.end()) return ended;
  const auto queues = std::move(found->second);
  owned_.erase(found);
  for (const auto& [queue, vhost] : queues) ended.push_back(drop_queue(vhost, queue));
  std::sort(ended.begin(), ended.end(),
            [](const auto& a, const auto& b) { return a->id.value < b->id.value; });
  return ended;
}

void topology_core::disown(const queue_entry& queue) {
  if (!queue.owner) return;
  const auto owned = owned_.find(*queue.owner);
  if (owned == owned_.end()) return;
  owned->second.erase(queue.id);
  if (owned->second.empty()) owned_.erase(owned);
}

/// Empty: the queue is not known (any more).
shared<queue_entry> topology_core::drop_queue(vhost_id id, queue_id queue) {
  const auto here = books_.find(id);
  if (here == books_.end()) return {};
  const auto name = here->second.queue_names.find(queue);
  if (name == here->second.queue_names.end()) return {};
  const shared<queue_entry>* found = state_.find_vhost(id)->queues.find(name->second);
  BATON_CHECK(found != nullptr);
  shared<queue_entry> gone = *found;
  drop_bindings_to(id, destination_key(gone->id));
  drop_unused(id);
  if (is_stored(*gone)) changes_.drop(stored_key(*gone));
  edit_vhost(id).queues.erase(gone->name);
  here->second.queue_names.erase(name);
  disown(*gone);
  --queues_;
  return gone;
}

}  // namespace baton
