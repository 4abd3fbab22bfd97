// topology_core: exchanges and bindings.

#include <utility>

#include "actors/topology/names.hpp"
#include "actors/topology/topology_core.hpp"
#include "config/check.hpp"

namespace baton {

result<exchange_outcome, refusal> topology_core::declare_exchange(const requester& who,
                                                                  exchange_declaration asked) {
  auto open = open_vhost(state_, asked.vhost);
  if (!open) return failure{std::move(open.reason())};
  const vhost& here = **open;
  asked.name = stripped(std::move(asked.name));
  if (asked.passive) {
    if (asked.name.empty()) return failure{default_exchange_refusal()};
    if (here.find_exchange(asked.name) == nullptr)
      return failure{no_exchange(asked.name, here.name)};
    return exchange_outcome{};
  }

  const auto type = parse_exchange_type(asked.type);
  if (!type)
    return failure{
        refusal{refusal::precondition_failed, "unknown exchange type '" + asked.type + "'"}};
  if (asked.name.empty()) return failure{default_exchange_refusal()};
  if (auto refused =
          check(who, permission::configure, resource_kind::exchange, asked.name, here.name))
    return failure{std::move(*refused)};
  if (const exchange* present = here.find_exchange(asked.name)) {
    if (auto different = check_equivalence(present->definition(), asked, here.name))
      return failure{std::move(*different)};
    return exchange_outcome{};
  }

  if (auto refused = check_new_name("exchange", asked.name)) return failure{std::move(*refused)};
  const std::string resource = exchange_text(asked.name, here.name);
  auto alternate = exchange_argument(asked.arguments, "alternate-exchange", resource);
  if (!alternate) return failure{std::move(alternate.reason())};
  if (*alternate) {
    if (auto refused = check(who, permission::read, resource_kind::exchange, asked.name, here.name))
      return failure{std::move(*refused)};
    if (auto refused =
            check(who, permission::write, resource_kind::exchange, **alternate, here.name))
      return failure{std::move(*refused)};
  }
  auto warnings = judge(unknown_arguments(asked.arguments, known_exchange_arguments()), resource);
  if (!warnings) return failure{std::move(warnings.reason())};
  if (exchanges_ >= limits_.exchanges)
    return failure{refusal{refusal::precondition_failed,
                           "cannot declare " + resource + ": the limit of " +
                               std::to_string(limits_.exchanges) + " exchanges is reached"}};
  const exchange_definition& made = place_exchange(asked.vhost, {{},
                                                                 std::move(asked.name),
                                                                 *type,
                                                                 asked.durable,
                                                                 asked.auto_delete,
                                                                 asked.internal,
                                                                 std::move(asked.arguments),
                                                                 *std::move(alternate)});
  if (is_stored(made)) changes_.put(encode(vhost_name(asked.vhost), made));
  return exchange_outcome{true, *std::move(warnings)};
}

const exchange_definition& topology_core::place_exchange(vhost_id id,
                                                         exchange_definition definition) {
  definition.id = exchange_id{++last_id_};
  const auto made = shared<exchange_definition>::make(std::move(definition));
  edit_vhost(id).exchanges.put(shared<exchange>::make(exchange{made, ++last_revision_}));
  ++exchanges_;
  return *made;  // which the exchange holds
}

result<void, refusal> topology_core::delete_exchange(const requester& who, vhost_id vhost,
                                                     std::string name, bool if_unused) {
  auto open = open_vhost(state_, vhost);
  if (!open) return failure{std::move(open.reason())};
  const baton::vhost& here = **open;
  name = stripped(std::move(name));
  if (name.empty()) return failure{default_exchange_refusal()};
  const std::string resource = exchange_text(name, here.name);
  if (name.starts_with("amq."))
    return failure{
        refusal{refusal::access_refused, "deletion of system " + resource + " not allowed"}};
  if (auto refused = check(who, permission::configure, resource_kind::exchange, name, here.name))
    return failure{std::move(*refused)};
  const exchange* present = here.find_exchange(name);
  if (present == nullptr) return {};
  if (if_unused && books_.at(vhost).bindings.any_from(present->definition().id) != nullptr)
    return failure{refusal{refusal::precondition_failed, resource + " in use"}};
  drop_exchange(vhost, shared<exchange_definition>{present->shared_definition()});
  drop_unused(vhost);
  return {};
}

void topology_core::drop_exchange(vhost_id id, const shared<exchange_definition>& gone) {
  edit_vhost(id).exchanges.erase(gone->name);
  --exchanges_;
  const binding_table& bindings = books_.at(id).bindings;
  while (const binding* from = bindings.any_from(gone->id)) take_binding(id, *from);
  if (is_stored(*gone)) changes_.drop(stored_key(vhost_name(id), *gone));
  drop_bindings_to(id, destination_key(gone->id));
}

/// Auto-delete exchanges go with their last binding, which may be another one's last: a chain of
/// any length, hence no recursion.
void topology_core::drop_unused(vhost_id id) {
  while (!unused_.empty()) {
    const shared<exchange_definition> gone = std::move(unused_.back());
    unused_.pop_back();
    const exchange* present = state_.find_vhost(id)->find_exchange(gone->name);
    if (present != nullptr && present->definition().id == gone->id) drop_exchange(id, gone);
  }
}

void topology_core::drop_bindings_to(vhost_id id, std::uint64_t key) {
  const binding_table& bindings = books_.at(id).bindings;
  while (const binding* to = bindings.any_to(key)) drop_binding(id, *to);
}

/// Out of the books, not out of the exchange's index.
binding topology_core::take_binding(vhost_id id, const binding& known) {
  if (is_stored(known)) changes_.drop(stored_key(vhost_name(id), known));
  --bindings_;
  return books_.at(id).bindings.take(known);
}

void topology_core::drop_binding(vhost_id id, const binding& known) {
  const binding_table& bindings = books_.at(id).bindings;
  const binding taken = take_binding(id, known);
  edit_exchange(id, taken.source->name).remove(taken, ++last_revision_);
  if (taken.source->auto_delete && bindings.any_from(taken.source->id) == nullptr)
    unused_.push_back(taken.source);
}

std::optional<refusal> topology_core::check_ends(const requester& who, const binding_request& asked,
                                                 const vhost& here) const {
  if (auto refused = check(who, permission::write, asked.kind, asked.destination, here.name))
    return refused;
  if (asked.source.empty() || (asked.kind == resource_kind::exchange && asked.destination.empty()))
    return default_exchange_refusal();
  return check(who, permission::read, resource_kind::exchange, asked.source, here.name);
}

/// The binding that is asked for, its ends found; 404 names the source if both are missing.
result<binding, refusal> topology_core::resolve(const requester& who,
                                                binding_request& asked) const {
  auto open = open_vhost(state_, asked.vhost);
  if (!open) return failure{std::move(open.reason())};
  const vhost& here = **open;
  asked.source = stripped(std::move(asked.source));
  asked.destination = stripped(std::move(asked.destination));
  if (auto refused = check_ends(who, asked, here)) return failure{std::move(*refused)};

  const exchange* source = here.find_exchange(asked.source);
  if (source == nullptr) return failure{no_exchange(asked.source, here.name)};
  binding made{0, source->shared_definition(), {}, asked.key, asked.arguments};
  if (asked.kind == resource_kind::exchange) {
    const exchange* to = here.find_exchange(asked.destination);
    if (to == nullptr) return failure{no_exchange(asked.destination, here.name)};
    made.to.exchange = to->shared_definition();
    return made;
  }
  const shared<queue_entry>* to = here.queues.find(asked.destination);
  if (to == nullptr || (*to)->direct_reply) return failure{no_queue(asked.destination, here.name)};
  if (auto locked = check_exclusive_access(**to, who.connection))
    return failure{std::move(*locked)};
  made.to.queue = *to;
  return made;
}

/// A headers exchange has to understand them.
std::optional<refusal> topology_core::check_arguments(const binding& made) {
  if (made.source->type != exchange_type::headers) return std::nullopt;
  auto matcher = headers_matcher::compile(made.arguments);
  if (!matcher) return std::move(matcher.reason());
  return std::nullopt;
}

result<void, refusal> topology_core::bind(const requester& who, binding_request asked) {
  auto made = resolve(who, asked);
  if (!made) return failure{std::move(made.reason())};
  if (auto wrong = check_arguments(*made)) return failure{std::move(*wrong)};
  if (books_.at(asked.vhost).bindings.find(*made) != nullptr) return {};
  if (bindings_ >= limits_.bindings)
    return failure{
        refusal{refusal::precondition_failed,
                "cannot bind to " + exchange_text(asked.source, vhost_name(asked.vhost)) +
                    ": the limit of " + std::to_string(limits_.bindings) + " bindings is reached"}};
  const binding& placed = place_binding(asked.vhost, *std::move(made));
  if (is_stored(placed)) changes_.put(encode(vhost_name(asked.vhost), placed));
  return {};
}

const binding& topology_core::place_binding(vhost_id id, binding made) {
  made.id = ++last_id_;
  const binding& placed = books_.at(id).bindings.add(std::move(made));
  ++bindings_;
  edit_exchange(id, placed.source->name).add(placed, ++last_revision_);
  return placed;
}

result<void, refusal> topology_core::unbind(const requester& who, binding_request asked) {
  auto wanted = resolve(who, asked);
  if (!wanted) {
    // An end that does not exist has no bindings; all else is refused.
    if (wanted.reason().code == refusal::not_found) return {};
    return failure{std::move(wanted.reason())};
  }
  const binding* known = books_.at(asked.vhost).bindings.find(*wanted);
  if (known == nullptr) return {};
  drop_binding(asked.vhost, *known);
  drop_unused(asked.vhost);
  return {};
}

}  // namespace baton
