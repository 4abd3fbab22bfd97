// Random changes to a topology, with a restart now and then: what is durable is the same before and
// after, and what the store was told is all that a new core needs.

#include <map>
#include <memory>
#include <random>
#include <set>

#include "tests/actors/topology/fixture.hpp"
#include "transport/amqp091/field_table.hpp"

namespace baton {
namespace {

using namespace topology_test;

/// One node over several lives. What it tells the store is kept; everything else is lost with it.
class lives {
public:
  explicit lives(unsigned seed) : random_{seed} { begin(); }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      change();
      if (pick(4) == 0) tell_store();
      if (pick(60) == 0) restart();
    }
    restart();
  }

private:
  struct life {
    topology_publication publication;
    topology_core core{publication, {}, false, [] { return std::array<std::uint8_t, 16>{}; }};
  };

  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }
  bool maybe(unsigned one_in) { return pick(one_in) == 0; }
  topology_core& core() { return life_->core; }
  std::string vhost_name() { return maybe(3) ? "other" : "/"; }
  std::string exchange_name() { return maybe(4) ? "amq.topic" : "e" + std::to_string(pick(5)); }
  std::string queue_name() { return "q" + std::to_string(pick(6)); }

  vhost_id a_vhost() {
    const vhost_id* found = core().state().vhost_names.find(vhost_name());
    return found != nullptr ? *found : *core().state().vhost_names.find("/");
  }
  field_table arguments() {
    field_table made;
    if (maybe(2))
      made.emplace_back("a", number(pick(2), maybe(2) ? integer_width::i32 : integer_width::i64));
    if (maybe(2)) made.emplace_back("b", text(std::string(pick(2), '\0')));
    if (maybe(3)) std::reverse(made.begin(), made.end());
    return made;
  }

  void change() {
    // Refusals are as good as anything else: they change nothing.
    switch (pick(12)) {
      case 0:
        if (maybe(10)) (void)core().add_vhost("other");
        return;
      case 1:
        if (maybe(20)) core().remove_vhost("other");
        return;
      case 2:
      case 3: {
        static const char* const types[] = {"direct", "fanout", "topic", "headers"};
        (void)core().declare_exchange(node_, {a_vhost(), exchange_name(), types[pick(4)], false,
                                              !maybe(4), maybe(4), maybe(4), arguments()});
        return;
      }
      case 4:
        if (maybe(2)) (void)core().delete_exchange(node_, a_vhost(), exchange_name(), maybe(2));
        return;
      case 5:
      case 6:
        return declare_queue();
      case 7:
        return close_queue();
      case 8:
        (void)core().unbind(node_, a_binding());
        return;
      default:
        (void)core().bind(node_, a_binding());
        return;
    }
  }
  void declare_queue() {
    const requester owner{{}, connection_id{1 + pick(2)}};
    const auto made = core().declare_queue(
        owner, {a_vhost(), queue_name(), false, !maybe(4), maybe(5), maybe(5), arguments()},
        [this](const queue_entry& queue) {
          REQUIRE(used_ids_.insert(queue.id.value).second);  // in all lives together
          return std::make_shared<test_target>(queue.id);
        });
    if (!made && maybe(4)) core().connection_closed(*owner.connection);
  }
  void close_queue() {
    const vhost_id id = a_vhost();
    const auto* queue = core().state().find_vhost(id)->find_queue(queue_name());
    if (queue != nullptr) core().queue_closed(id, queue->id);
  }
  binding_request a_binding() {
    const auto kind = maybe(3) ? resource_kind::exchange : resource_kind::queue;
    return {a_vhost(),
            exchange_name(),
            kind,
            kind == resource_kind::queue ? queue_name() : exchange_name(),
            std::string(pick(2), 'k'),
            arguments()};
  }

  /// Each change tells of something else; nothing goes that was not known.
  void tell_store() {
    std::set<std::string> seen;
    for (auto& [key, value] : core().take_changes()) {
      INFO(describe_key(key));
      REQUIRE(seen.insert(key).second);
      if (value)
        store_[key] = *std::move(value);
      else
        REQUIRE(store_.erase(key) == 1);
    }
    std::map<std::string, std::string> all;
    for (auto& [key, value] : core().all_definitions()) REQUIRE(all.emplace(key, value).second);
    // Bindings are numbered anew in each life; their keys say the rest.
    auto known = store_;
    for (auto* each : {&all, &known})
      for (auto& [key, value] : *each)
        if (std::holds_alternative<stored_binding>(*decode({key, value}))) value.clear();
    REQUIRE(all == known);
  }

  void begin() {
    life_ = std::make_unique<life>();
    std::vector<definition> stored;
    for (const auto& [key, value] : store_) stored.push_back({key, value});
    std::shuffle(stored.begin(), stored.end(), random_);
    REQUIRE(core().restore(stored, fixture::targets()).empty());
    core().reserve_ids(used_ids_.empty() ? 0 : *used_ids_.rbegin());
    REQUIRE(core().take_changes().empty());
    if (core().state().find_vhost("/") == nullptr) core().add_vhost("/").value();
  }

  void restart() {
    tell_store();
    const auto before = durable();
    begin();
    REQUIRE(durable() == before);
    REQUIRE(core().list_exchanges().size() == before[1].size());
    REQUIRE(core().list_queues().size() == before[2].size());
  }

  /// The lists of what survives, in their order: virtual hosts, exchanges, queues, bindings.
  std::vector<names> durable() {
    const auto spelled = [](const field_table& table) {
      amqp091::output_buffer out;
      amqp091::encode_table(out, table);
      return std::string{as_text(out.view())};
    };
    std::vector<names> all(4);
    std::set<std::pair<std::string, std::string>> exchanges, queues;
    for (const auto& each : core().list_vhosts()) all[0].push_back(each.name);
    for (const auto& each : core().list_exchanges()) {
      if (!each.durable) continue;
      exchanges.insert({each.vhost, each.name});
      all[1].push_back(each.vhost + " " + each.name + " " + std::string{to_string(each.type)} +
                       (each.auto_delete ? " auto-delete" : "") +
                       (each.internal ? " internal" : "") + spelled(each.arguments));
    }
    for (const auto& each : core().list_queues()) {
      const queue_entry& is = *each.queue;
      if (!is.survives_restart()) continue;
      queues.insert({each.vhost, is.name});
      all[2].push_back(each.vhost + " " + is.name + " " + std::to_string(is.id.value) +
                       (is.auto_delete ? " auto-delete" : "") + spelled(is.declared));
    }
    for (const auto& each : core().list_bindings()) {
      const bool to_queue = each.kind == resource_kind::queue;
      if (exchanges.contains({each.vhost, each.source}) &&
          (to_queue ? queues : exchanges).contains({each.vhost, each.destination}))
        all[3].push_back(each.vhost + " " + each.source + (to_queue ? " q " : " e ") +
                         each.destination + " " + each.key + spelled(each.arguments));
    }
    return all;
  }

  std::mt19937 random_;
  std::unique_ptr<life> life_;
  std::map<std::string, std::string> store_;
  std::set<std::uint64_t> used_ids_;
  const requester node_{};
};

TEST_CASE("a restart brings back what is durable, after any changes, and no other thing") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    lives{seed}.run(600);
  }
}

}  // namespace
}  // namespace baton
