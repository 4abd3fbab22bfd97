#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/topology/exchange.hpp"
#include "actors/topology/mark_set.hpp"
#include "actors/topology/publication.hpp"
#include "actors/topology/route_cache.hpp"
#include "actors/topology/snapshot.hpp"

namespace baton {

/// The headers of one message, decoded when somebody asks for them for the first time.
class header_source {
public:
  virtual ~header_source() = default;
  virtual const field_table& headers() = 0;
};

/// What decides where a message goes.
struct route_request {
  vhost_id vhost;
  std::string_view exchange;  ///< "" is the default exchange: the key is a queue's name
  std::string_view key;
  std::span<const std::string_view> more_keys = {};  ///< CC and BCC
  header_source* headers = nullptr;                  ///< nullptr: the message has none
};

enum class route_status : std::uint8_t {
  found,        ///< maybe no queue: then the message is unroutable
  no_exchange,  ///< 404, see no_exchange()
  internal,     ///< 403, see publish_to_internal()
};

struct route_result {
  route_status status = route_status::found;
  /// Each queue once. Valid until the next call of route() or refresh() of the same view.
  std::span<const queue_entry* const> queues;
};

/// One loop's view of the topology: a snapshot, and the routes that were computed from it and from
/// those before. For one thread.
///
/// Between two calls of refresh() everything is found as it was at one version, and what was found
/// stays valid. A connection calls refresh() after it has read bytes and before it routes what they
/// say: one load when nothing has changed (about 1 ns).
class loop_view {
public:
  /// `publication` outlives the view.
  explicit loop_view(const topology_publication& publication);

  /// Takes the latest version. True: it is a newer one.
  bool refresh() {
    if (publication_.version() == snapshot_->version) return false;
    take_latest();
    return true;
  }

  const topology_snapshot& snapshot() const noexcept { return *snapshot_; }
  /// The virtual host in this snapshot, or nullptr: deleted. Asked for again and again, it is one
  /// comparison.
  const vhost* find_vhost(vhost_id id) const noexcept {
    if (vhost_ == nullptr || vhost_->id != id) vhost_ = snapshot_->find_vhost(id);
    return vhost_;
  }

  /// The queues that a message goes to.
  ///
  /// Names on the default exchange are looked up (about 20 ns, and 2 ns for the one that was last
  /// asked for). A key on another exchange that was
  /// routed before is found in the cache (about 15 ns, no allocation) for as long as no exchange
  /// that had a part in it was changed, whatever else changes; headers exchanges and more_keys are
  /// always worked out.
  route_result route(const route_request& asked);

private:
  /// Where the default exchange leads, as it was last asked for.
  struct default_route {
    bool known = false;
    vhost_id vhost;
    std::string key;
    const queue_entry* queue = nullptr;  // nullptr: nowhere

    std::span<const queue_entry* const> queues() const noexcept {
      return {&queue, queue == nullptr ? 0u : 1u};
    }
  };

  void take_latest();
  route_result route_by_name(const route_request& asked);
  bool still_holds(cached_route& route, const vhost& here) const noexcept;
  void work_out(const vhost& here, const exchange& first, const route_request& asked);
  void visit(const vhost& here, std::string_view name);
  void follow(const vhost& here, const destination& to);
  void add_queue(const queue_entry* queue);

  const topology_publication& publication_;
  std::shared_ptr<const topology_snapshot> snapshot_;
  mutable const vhost* vhost_ = nullptr;  // the one last asked for
  default_route last_by_name_;
  route_cache cache_;

  // Of the route that is being worked out; kept, so that the next one allocates nothing.
  std::vector<const queue_entry*> queues_;
  std::vector<const exchange*> to_visit_;
  mark_set seen_;  // destination keys
  route_matches matches_;
  std::vector<route_dependency> dependencies_;
  bool default_visited_ = false;
  bool cacheable_ = false;
};

}  // namespace baton
