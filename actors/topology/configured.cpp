#include "actors/topology/configured.hpp"

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace baton {

namespace {

/// The handle of a queue that nobody is going to make.
struct no_target final : queue_target {};

/// Declares one configuration, and remembers where everything was said and what was refused.
class declaration {
public:
  declaration(topology_core& core, const settings& wanted, const topology_core::make_target& make)
      : core_{core}, wanted_{wanted}, make_{make} {}

  configured_outcome run() {
    add_vhost(default_vhost, {});
    for (const auto& each : wanted_.vhosts) add_vhost(each.name, each.where);
    for (const auto& each : wanted_.users) add_user(each);
    for (const auto& each : wanted_.exchanges) declare(each);
    for (const auto& each : wanted_.queues) declare(each);
    for (const auto& each : wanted_.bindings) bind(each);
    return std::move(outcome_);
  }

private:
  /// Where an exchange or queue is declared that is there; no place for one that was refused.
  using identity = std::tuple<resource_kind, std::string, std::string>;  // kind, vhost, name
  using places = std::map<identity, std::optional<place>>;

  void refuse(const place& where, std::string why) {
    outcome_.refused.push_back({where, std::move(why)});
  }

  void add_vhost(const std::string& name, const place& where) {
    if (core_.state().vhost_names.find(name) != nullptr) return;
    if (auto added = core_.add_vhost(name); !added) refuse(where, added.reason().text);
  }

  const vhost_id* find_vhost(const std::string& name, const place& where) {
    const auto* found = core_.state().vhost_names.find(name);
    if (found == nullptr) refuse(where, "no vhost '" + name + "'");
    return found;
  }

  void add_user(const user_settings& each) {
    user_definition definition{each.name, each.password_hash,       each.loopback_only,
                               each.tags, each.permissions.empty(), {}};
    for (const auto& p : each.permissions)
      definition.permissions.push_back({p.vhost, p.configure, p.write, p.read});
    if (auto put = core_.put_user(std::move(definition)); !put)
      refuse(each.where, put.reason().text);
  }

  void declare(const exchange_settings& each) {
    const auto* vhost = find_vhost(each.vhost, each.where);
    if (vhost == nullptr) return;
    const bool exists = core_.state().find_vhost(*vhost)->find_exchange(each.name) != nullptr;
    conclude({resource_kind::exchange, each.vhost, each.name}, each.where, exists,
             core_.declare_exchange(node_, {*vhost, each.name, each.type, false, each.durable,
                                            each.auto_delete, each.internal, each.arguments}));
  }

  void declare(const queue_settings& each) {
    const auto* vhost = find_vhost(each.vhost, each.where);
    if (vhost == nullptr) return;
    const bool exists = core_.state().find_vhost(*vhost)->find_queue(each.name) != nullptr;
    conclude({resource_kind::queue, each.vhost, each.name}, each.where, exists,
             core_.declare_queue(
                 node_,
                 {*vhost, each.name, false, each.durable, false, each.auto_delete, each.arguments},
                 make_));
  }

  template <class Outcome>
  void conclude(identity what, const place& where, bool exists,
                const result<Outcome, refusal>& outcome) {
    const auto [known, fresh] = places_.try_emplace(std::move(what));
    if (outcome) {
      if (fresh) known->second = where;
      for (const auto& warning : outcome->warnings) outcome_.warnings.push_back({where, warning});
      return;
    }
    auto why = outcome.reason().text;
    if (exists) why += ", which is " + where_it_is(known->first, known->second);
    refuse(where, std::move(why));
    if (exists && fresh) places_.erase(known);  // it is there all the same
  }

  /// Where the other side of a conflict was said.
  std::string where_it_is(const identity& what, const std::optional<place>& declared) const {
    if (declared) return "declared at " + to_string(*declared);
    return is_in_journal(what) ? "in the journal" : "on this node";
  }

  bool is_in_journal(const identity& what) const {
    const auto& [kind, vhost, name] = what;
    const auto* here = core_.state().find_vhost(vhost);
    if (kind == resource_kind::queue) return is_stored(*here->find_queue(name));
    return is_stored(here->find_exchange(name)->definition());
  }

  void bind(const binding_settings& each) {
    const auto* vhost = find_vhost(each.vhost, each.where);
    if (vhost == nullptr) return;
    const bool to_queue = each.to_exchange.empty();
    const auto kind = to_queue ? resource_kind::queue : resource_kind::exchange;
    const auto& destination = to_queue ? each.queue : each.to_exchange;
    if (was_refused({resource_kind::exchange, each.vhost, each.exchange}) ||
        was_refused({kind, each.vhost, destination}))
      return;
    binding_request asked{*vhost, each.exchange, kind, destination, each.key, each.arguments};
    if (auto bound = core_.bind(node_, std::move(asked)); !bound)
      refuse(each.where, bound.reason().text);
  }

  bool was_refused(const identity& what) const {
    const auto known = places_.find(what);
    return known != places_.end() && !known->second;
  }

  topology_core& core_;
  const settings& wanted_;
  const topology_core::make_target& make_;
  const requester node_{};
  places places_;
  configured_outcome outcome_;
};

}  // namespace

configured_outcome declare_configured(topology_core& core, const settings& wanted,
                                      const topology_core::make_target& make) {
  return declaration{core, wanted, make}.run();
}

configured_outcome check_configured(const settings& wanted) {
  topology_publication nobody_reads;
  // No queue is left to the node to name: nothing is drawn.
  topology_core core{nobody_reads, limits_of(wanted.limits), wanted.node.strict_arguments,
                     [] { return std::array<std::uint8_t, 16>{}; }};
  return declare_configured(core, wanted,
                            [](const queue_entry&) { return std::make_shared<no_target>(); });
}

topology_limits limits_of(const limit_settings& limits) {
  return {limits.max_vhosts, limits.max_exchanges, limits.max_queues, limits.max_bindings};
}

}  // namespace baton
