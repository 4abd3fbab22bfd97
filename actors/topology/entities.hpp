#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "actors/topology/persistent_map.hpp"
#include "actors/topology/queue_arguments.hpp"
#include "actors/topology/shared.hpp"
#include "config/field_value.hpp"
#include "config/ids.hpp"
#include "config/settings.hpp"

namespace baton {

/// Given once by the topology, never reused: a virtual host that is deleted and added again under
/// its name is another one.
using vhost_id = id<struct vhost_tag>;

/// What the actor layer keeps with a queue: its handle. The topology never looks inside.
class queue_target {
public:
  virtual ~queue_target() = default;

protected:
  queue_target() = default;
  queue_target(const queue_target&) = delete;
  queue_target& operator=(const queue_target&) = delete;
};

/// One queue, from its declaration to its end; nothing in it changes in between.
struct queue_entry {
  queue_id id;
  vhost_id vhost;
  std::string vhost_name;
  std::string name;
  bool durable = true;  ///< as asked for; a queue with an owner does not survive a restart
  bool auto_delete = false;
  std::optional<connection_id> owner;  ///< exclusive to this connection
  field_table declared;                ///< all arguments as they came, unknown ones included
  queue_arguments arguments;           ///< what they mean
  std::shared_ptr<queue_target> target;
  bool direct_reply = false;  ///< no queue: a name that the consumer of direct replies goes by
  sync_policy sync = sync_policy::always;  ///< of what it stores, by the configuration of the day

  bool survives_restart() const noexcept { return durable && !owner; }
  /// Whether a message in it goes to the journal and is confirmed from there. Those who declare
  /// quorum queues and streams rely on it whatever the delivery mode.
  bool stores(bool persistent) const noexcept {
    return survives_restart() && (persistent || arguments.type != queue_type::classic);
  }
};

/// What its publishers share a record of with other queues; a stream has a log of its own.
inline bool shares_records(const queue_entry& queue, bool persistent) noexcept {
  return queue.stores(persistent) && queue.arguments.type != queue_type::stream;
}

enum class exchange_type : std::uint8_t { direct, fanout, topic, headers };

std::string_view to_string(exchange_type type);
std::optional<exchange_type> parse_exchange_type(std::string_view name);

/// What was declared about one exchange; nothing in it changes until its end.
struct exchange_definition {
  exchange_id id;
  std::string name;
  exchange_type type = exchange_type::direct;
  bool durable = true;
  bool auto_delete = false;
  bool internal = false;
  field_table declared;                  ///< all arguments as they came
  std::optional<std::string> alternate;  ///< "" is the default exchange
};

/// One number for each queue and each exchange of a node, whichever it is.
constexpr std::uint64_t destination_key(queue_id of) noexcept { return of.value * 2; }
constexpr std::uint64_t destination_key(exchange_id of) noexcept { return of.value * 2 + 1; }

/// Where a binding leads: to a queue or to an exchange, of which the other holder is empty.
struct destination {
  shared<queue_entry> queue;
  shared<exchange_definition> exchange;

  std::uint64_t key() const noexcept {
    return queue ? destination_key(queue->id) : destination_key(exchange->id);
  }
  const std::string& name() const noexcept { return queue ? queue->name : exchange->name; }
};

/// Destinations, each once, with the number of bindings that lead there.
class destination_set {
public:
  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }

  void add(const destination& to) {
    if (entry* present = entries_.edit(to.key()))
      ++present->bindings;
    else
      entries_.put({to, 1});
  }
  void remove(const destination& to) {
    entry* present = entries_.edit(to.key());
    if (present != nullptr && --present->bindings == 0) entries_.erase(to.key());
  }
  /// Calls `visit(const destination&)` for each.
  template <class Visit>
  void for_each(Visit&& visit) const {
    entries_.for_each([&visit](const entry& each) { visit(each.to); });
  }

private:
  struct entry {
    destination to;
    std::uint32_t bindings;
  };
  struct by_key {
    using view = std::uint64_t;
    static view key(const entry& of) noexcept { return of.to.key(); }
    static std::uint64_t hash(view key) noexcept { return hash_number(key); }
  };
  persistent_set<entry, by_key> entries_;
};

/// From an exchange to a destination. Two are the same when all but the id are.
struct binding {
  std::uint64_t id = 0;  ///< in order of declaration
  shared<exchange_definition> source;
  destination to;
  std::string key;
  field_table arguments;
};

}  // namespace baton
