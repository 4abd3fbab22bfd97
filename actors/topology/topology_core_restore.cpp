// topology_core: what survives a restart.

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "actors/topology/topology_core.hpp"
#include "config/check.hpp"

namespace baton {

std::vector<definition> topology_core::all_definitions() const {
  std::vector<definition> all;
  state_.vhosts.for_each([&](vhost_id id, const shared<vhost>& here) {
    all.push_back(encode_vhost(here->name));
    here->exchanges.for_each([&](const shared<exchange>& each) {
      const exchange_definition& is = each->definition();
      if (is_stored(is)) all.push_back(encode(here->name, is));
      books_.at(id).bindings.for_each_from(is.id, [&](const binding& of) {
        if (is_stored(of)) all.push_back(encode(here->name, of));
      });
    });
    here->queues.for_each([&](const shared<queue_entry>& each) {
      if (is_stored(*each)) all.push_back(encode(*each));
    });
  });
  return all;
}

void topology_core::reserve_ids(std::uint64_t up_to) noexcept {
  last_id_ = std::max(last_id_, up_to);
}

/// Everything that was stored, taken apart, and put back in the order in which it depends on each
/// other.
class topology_core::restoration {
public:
  restoration(topology_core& core, const make_target& make) : core_{core}, make_{make} {}

  std::vector<left_out> run(std::vector<definition> stored) {
    for (definition& each : stored) {
      auto decoded = decode(each);
      if (decoded)
        std::visit(
            [&](auto& is) {
              list_of(is).push_back({std::move(each.key), std::move(is)});
            },
            *decoded);
      else
        left_out_.push_back({std::move(each.key), std::move(decoded.reason().text)});
    }
    sort();
    // Also those of what will be left out: the journal may know messages of them.
    if (!queues_.empty()) core_.reserve_ids(queues_.back().is.id.value);
    if (!bindings_.empty()) core_.reserve_ids(bindings_.back().is.number);
    put_back(vhosts_);
    put_back(exchanges_);
    put_back(queues_);
    put_back(bindings_);
    return std::move(left_out_);
  }

private:
  template <class Stored>
  struct keyed {
    std::string key;
    Stored is;
  };
  template <class Stored>
  using list = std::vector<keyed<Stored>>;
  using outcome = result<void, refusal>;

  list<stored_vhost>& list_of(const stored_vhost&) { return vhosts_; }
  list<stored_exchange>& list_of(const stored_exchange&) { return exchanges_; }
  list<stored_queue>& list_of(const stored_queue&) { return queues_; }
  list<stored_binding>& list_of(const stored_binding&) { return bindings_; }

  void sort() {
    const auto by_key = [](const auto& a, const auto& b) { return a.key < b.key; };
    std::sort(vhosts_.begin(), vhosts_.end(), by_key);
    std::sort(exchanges_.begin(), exchanges_.end(), by_key);
    std::sort(queues_.begin(), queues_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.is.id, a.key) < std::tie(b.is.id, b.key);
    });
    std::sort(bindings_.begin(), bindings_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.is.number, a.key) < std::tie(b.is.number, b.key);
    });
  }

  template <class Stored>
  void put_back(list<Stored>& all) {
    for (auto& [key, is] : all) {
      if (auto put = put_back(is); !put) {
        std::string why = describe_key(key) + ": " + put.reason().text;
        left_out_.push_back({std::move(key), std::move(why)});
      }
    }
    all = {};
  }

  static failure<refusal> not_so(std::string why) {
    return failure{refusal{refusal::precondition_failed, std::move(why)}};
  }
  static failure<refusal> twice() { return not_so("it is stored twice"); }

  result<const vhost*, refusal> find_vhost(const std::string& name) const {
    const vhost* found = core_.state_.find_vhost(name);
    if (found == nullptr) return not_so("no vhost '" + name + "'");
    return found;
  }

  outcome put_back(stored_vhost& is) {
    if (core_.state_.find_vhost(is.name) != nullptr) return twice();
    core_.place_vhost(std::move(is.name));
    return {};
  }

  outcome put_back(stored_exchange& is) {
    const auto here = find_vhost(is.vhost);
    if (!here) return failure{here.reason()};
    if (is.name.starts_with("amq.")) return not_so("every virtual host has its own");
    if ((*here)->find_exchange(is.name) != nullptr) return twice();
    auto alternate =
        exchange_argument(is.arguments, "alternate-exchange", exchange_text(is.name, is.vhost));
    if (!alternate) return failure{std::move(alternate.reason())};
    core_.place_exchange((*here)->id, {{},
                                       std::move(is.name),
                                       is.type,
                                       true,
                                       is.auto_delete,
                                       is.internal,
                                       std::move(is.arguments),
                                       *std::move(alternate)});
    return {};
  }

  outcome put_back(stored_queue& is) {
    const auto here = find_vhost(is.vhost);
    if (!here) return failure{here.reason()};
    if ((*here)->find_queue(is.name) != nullptr) return twice();
    if (queue_ids_.contains(is.id))
      return not_so("its id, " + std::to_string(is.id.value) + ", is another queue's");
    auto arguments = parse_queue_arguments(is.arguments, is.name, is.vhost);
    if (!arguments) return failure{std::move(arguments.reason())};
    queue_ids_.insert(is.id);
    queue_entry made;
    made.id = is.id;
    made.vhost = (*here)->id;
    made.vhost_name = std::move(is.vhost);
    made.name = std::move(is.name);
    made.auto_delete = is.auto_delete;
    made.declared = std::move(is.arguments);
    made.arguments = *std::move(arguments);
    core_.place_queue(std::move(made), make_);
    return {};
  }

  outcome put_back(stored_binding& is) {
    const auto here = find_vhost(is.vhost);
    if (!here) return failure{here.reason()};
    const vhost_id id = (*here)->id;
    binding_request asked{id,
                          std::move(is.source),
                          is.kind,
                          std::move(is.destination),
                          std::move(is.routing_key),
                          std::move(is.arguments)};
    auto made = core_.resolve(node_, asked);
    if (!made) return failure{std::move(made.reason())};
    if (auto wrong = check_arguments(*made)) return failure{std::move(*wrong)};
    if (core_.books_.at(id).bindings.find(*made) != nullptr) return twice();
    core_.place_binding(id, *std::move(made));
    return {};
  }

  topology_core& core_;
  const make_target& make_;
  const requester node_{};
  list<stored_vhost> vhosts_;
  list<stored_exchange> exchanges_;
  list<stored_queue> queues_;
  list<stored_binding> bindings_;
  std::unordered_set<queue_id> queue_ids_;
  std::vector<left_out> left_out_;
};

std::vector<topology_core::left_out> topology_core::restore(std::vector<definition> stored,
                                                            const make_target& make) {
  BATON_CHECK(state_.vhosts.empty());
  return restoration{*this, make}.run(std::move(stored));
}

}  // namespace baton
