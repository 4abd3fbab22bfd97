#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "actors/topology/access.hpp"
#include "actors/topology/arguments.hpp"
#include "actors/topology/binding_table.hpp"
#include "actors/topology/definition_changes.hpp"
#include "actors/topology/entities.hpp"
#include "actors/topology/equivalence.hpp"
#include "actors/topology/listing.hpp"
#include "actors/topology/publication.hpp"
#include "actors/topology/refusal.hpp"
#include "actors/topology/snapshot.hpp"
#include "actors/topology/sync_rules.hpp"
#include "config/result.hpp"

namespace baton {

/// What bind and unbind are about: a queue's or an exchange's place behind an exchange.
struct binding_request {
  vhost_id vhost;
  std::string source;
  resource_kind kind = resource_kind::queue;  ///< of the destination
  std::string destination;
  std::string key;
  field_table arguments = {};
};

struct exchange_outcome {
  bool created = false;  ///< else it was there, and equivalent
  std::vector<std::string> warnings;
};

enum class queue_status : std::uint8_t {
  created,
  existing,
};

struct queue_outcome {
  queue_status status = queue_status::created;
  shared<queue_entry> queue;
  std::vector<std::string> warnings;
};

struct user_definition {
  struct rights {
    std::string vhost;
    std::string configure;  ///< expressions, see name_pattern
    std::string write;
    std::string read;
  };
  std::string name;
  std::string password_hash;
  bool loopback_only = false;
  std::vector<std::string> tags;
  bool everywhere = false;  ///< all rights in every virtual host
  std::vector<rights> permissions;
};

struct topology_limits {
  std::size_t vhosts = 1'024;
  std::size_t exchanges = 250'000;  ///< these three: of all virtual hosts together
  std::size_t queues = 250'000;
  std::size_t bindings = 2'000'000;
};

/// Everything that is defined on this node, and the rules by which it changes. The topology actor
/// is the shell around it, and the only one to call it.
///
/// Operations change the working copy at once and are seen by later operations; loops see them
/// after publish(). So an actor applies all that waits in its mailbox, publishes once, and then
/// answers: an answered change is seen by every later publish on any connection.
///
/// Texts of refusals are RabbitMQ's, version 4 where versions differ; see refusal.hpp.
///
/// What is durable is told to the store: an actor that publishes takes the changes along, and
/// answers when they are safe.
class topology_core {
public:
  /// 16 random bytes, for the names of queues that clients leave to the node.
  using random_bytes = std::function<std::array<std::uint8_t, 16>()>;
  /// Makes the handle of a queue that is about to exist; called within declare_queue, at most once,
  /// after everything was checked. The entry has no target yet.
  using make_target = std::function<std::shared_ptr<queue_target>(const queue_entry&)>;

  topology_core(topology_publication& publication, topology_limits limits, bool strict_arguments,
                random_bytes random, sync_rules sync = {});
  topology_core(const topology_core&) = delete;
  topology_core& operator=(const topology_core&) = delete;

  /// The working copy: what loops will see after the next publish().
  const topology_snapshot& state() const noexcept { return state_; }
  /// Publishes what changed since the last call. False: nothing did.
  bool publish();

  // ---- what survives a restart: virtual hosts, exchanges, queues and bindings

  /// What durable definitions came, changed or went since the last call. Restored ones are none.
  std::vector<definition_change> take_changes() { return changes_.take(); }
  /// Every one there is, those of pending changes too.
  std::vector<definition> all_definitions() const;

  struct left_out {
    std::string key;
    std::string why;  ///< names the definition: "queue 'q' in vhost '/': its value is cut short"
  };
  /// Puts back what was stored, in whatever order it is given, before anything else exists. Queues
  /// have the ids that they had; no other queue will get one. Limits do not count, and what is
  /// stored in a way that cannot be is left out and returned.
  std::vector<left_out> restore(std::vector<definition> stored, const make_target& make);
  /// No queue is given an id up to this one from now on.
  void reserve_ids(std::uint64_t up_to) noexcept;

  // ---- virtual hosts and users

  /// With the exchanges that every virtual host has. An error if the name is taken or invalid.
  result<vhost_id> add_vhost(std::string name);
  /// The queues that were in it, which their actors must now end. Empty also if there was none.
  std::vector<shared<queue_entry>> remove_vhost(std::string_view name);
  /// Adds or replaces a user. An error if an expression is none.
  result<void> put_user(user_definition definition);
  /// False: there was none.
  bool remove_user(std::string_view name);

  // ---- exchanges

  /// exchange.declare, passive or not.
  result<exchange_outcome, refusal> declare_exchange(const requester& who,
                                                     exchange_declaration asked);
  /// exchange.delete; one that does not exist is deleted already.
  result<void, refusal> delete_exchange(const requester& who, vhost_id vhost, std::string name,
                                        bool if_unused);

  // ---- queues

  /// queue.declare, passive or not. The counts of declare-ok are the queue's to say.
  result<queue_outcome, refusal> declare_queue(const requester& who, queue_declaration asked,
                                               const make_target& make);
  /// A queue has ended: it goes, with its bindings, and the name is free. The entry, or empty if
  /// the topology had forgotten it before (its virtual host or its owner went).
  shared<queue_entry> queue_closed(vhost_id vhost, queue_id queue);
  /// A connection has ended: its exclusive queues go at once. Their actors must now end.
  std::vector<shared<queue_entry>> connection_closed(connection_id connection);

  /// A consumer of direct replies takes a name that no queue can have; messages for it are routed
  /// to `target`. It is not listed, and only a passive declare finds it.
  void add_reply_name(vhost_id vhost, std::string name, std::shared_ptr<queue_target> target);
  void remove_reply_name(vhost_id vhost, std::string_view name);

  // ---- bindings

  /// queue.bind, exchange.bind. Binding twice is the same as once.
  result<void, refusal> bind(const requester& who, binding_request asked);
  /// queue.unbind, exchange.unbind; what is not bound is unbound already.
  result<void, refusal> unbind(const requester& who, binding_request asked);

  // ---- lists, sorted by virtual host and name

  std::vector<vhost_listing> list_vhosts() const;
  std::vector<exchange_listing> list_exchanges() const;
  std::vector<queue_listing> list_queues() const;
  /// With the implicit binding of each queue to the default exchange, and in order of declaration.
  std::vector<binding_listing> list_bindings() const;

private:
  class restoration;

  /// What the writer knows about a virtual host besides what it publishes.
  struct books {
    binding_table bindings;
    std::unordered_map<queue_id, std::string> queue_names;
  };

  const std::string& vhost_name(vhost_id id) const { return state_.find_vhost(id)->name; }
  vhost& edit_vhost(vhost_id id);
  exchange& edit_exchange(vhost_id id, std::string_view name);
  std::optional<refusal> check(const requester& who, permission kind, resource_kind resource,
                               std::string_view name, std::string_view vhost) const;
  /// Of unknown arguments: warnings, or a refusal where the configuration is strict.
  result<std::vector<std::string>, refusal> judge(const std::vector<unknown_argument>& unknown,
                                                  const std::string& resource);

  // These four put what was checked into the working copy.
  vhost_id place_vhost(std::string name);
  const exchange_definition& place_exchange(vhost_id id, exchange_definition definition);
  shared<queue_entry> place_queue(queue_entry made, const make_target& make);
  const binding& place_binding(vhost_id id, binding made);
  void drop_exchange(vhost_id id, const shared<exchange_definition>& gone);
  result<queue_outcome, refusal> declare_passively(const requester& who,
                                                   const queue_declaration& asked) const;
  result<queue_outcome, refusal> create_queue(const requester& who, queue_declaration& asked,
                                              const make_target& make);
  shared<queue_entry> drop_queue(vhost_id id, queue_id queue);
  void disown(const queue_entry& queue);
  binding take_binding(vhost_id id, const binding& known);
  void drop_binding(vhost_id id, const binding& known);
  void drop_bindings_to(vhost_id id, std::uint64_t key);
  void drop_unused(vhost_id id);
  std::string generated_name();
  result<binding, refusal> resolve(const requester& who, binding_request& asked) const;
  static std::optional<refusal> check_arguments(const binding& made);
  std::optional<refusal> check_ends(const requester& who, const binding_request& asked,
                                    const vhost& here) const;

  topology_publication& publication_;
  topology_limits limits_;
  bool strict_arguments_;
  random_bytes random_;
  sync_rules sync_;

  topology_snapshot state_;
  bool changed_ = false;
  definition_changes changes_;
  std::unordered_map<vhost_id, books> books_;
  std::unordered_map<connection_id, std::unordered_map<queue_id, vhost_id>> owned_;
  std::unordered_set<std::string> warned_;  // names of unknown arguments, each reported once
  /// Of the operation under way: auto-delete exchanges whose last binding has gone.
  std::vector<shared<exchange_definition>> unused_;

  std::uint64_t last_id_ = 0;  // of virtual hosts, exchanges, queues and bindings
  std::uint64_t last_revision_ = 0;
  std::size_t exchanges_ = 0, queues_ = 0, bindings_ = 0;
};

}  // namespace baton
