#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "actors/connection/output.hpp"
#include "actors/connection/publish_properties.hpp"
#include "actors/interfaces.hpp"
#include "actors/publish_outbox.hpp"
#include "actors/queue/queue_allowance.hpp"
#include "actors/runtime/runtime.hpp"
#include "actors/support/blocking_worker.hpp"
#include "actors/support/login.hpp"
#include "actors/topology/publication.hpp"
#include "actors/topology/router.hpp"
#include "config/settings.hpp"
#include "storage/memory_account.hpp"
#include "transport/amqp091/server_connection.hpp"

namespace baton {

class node_storage;

/// What all publishers and consumers of one loop share.
struct loop_services {
  explicit loop_services(const topology_publication& published) : view{published} {}

  loop_view view;
  publish_outbox outbox;
  publish_properties_reader properties;
  slab_writer writer;
  buffer_pool buffers;
};

/// What the actors of one node know of it: its settings, and whom to ask. Made before the first of
/// them, outlives the last.
class node_services {
public:
  node_services(settings configured, runtime& loops)
      : configured_{std::move(configured)},
        loops_{loops},
        protocol_{protocol_of(configured_)},
        logins_{configured_.users} {
    for (std::size_t i = 0; i < loops.size(); ++i)
      per_loop_.push_back(std::make_unique<loop_services>(publication_));
  }

  const settings& configured() const noexcept { return configured_; }
  runtime& loops() noexcept { return loops_; }
  loop_services& of(const loop& which) noexcept { return *per_loop_[which.index()]; }

  const amqp091::server_settings& protocol() const noexcept { return protocol_; }
  topology_publication& publication() noexcept { return publication_; }
  login_register& logins() noexcept { return logins_; }
  blocking_worker& worker() noexcept { return worker_; }

  // Set once, before the first connection.
  topology_ref topology;
  supervisor_ref supervisor;
  store_ref store;    // empty: nothing is stored
  reader_ref reader;  // like store
  stream_reader_ref stream_reader;
  node_storage* storage = nullptr;  // like store: gives streams their logs

  connection_id next_connection() noexcept { return {++connections_}; }
  consumer_id next_consumer() noexcept { return {++consumers_}; }

  /// At the high mark publishers wait. A sum over a few counters: asked for each read, not for each
  /// message.
  bool memory_is_short() const noexcept { return memory_account::total() >= high_mark_bytes(); }
  /// Publishers go on below nine tenths of the high mark: a mark for both would let them go and
  /// stop them with every message. What waits in their reserves does not count: only letting them
  /// go on frees it.
  bool memory_is_ample() const noexcept {
    return memory_account::total() <
           high_mark_bytes() / 10 * 9 + reserved_bytes.load(std::memory_order_relaxed);
  }
  /// Publishers wait, for memory or for the disk.
  bool publishers_wait() const noexcept { return disk_is_short() || memory_is_short(); }
  bool publishers_may_go_on() const noexcept { return !disk_is_short() && memory_is_ample(); }
  /// The whole budget is in use: not even what would free memory may take more first.
  bool memory_is_full() const noexcept {
    return memory_account::total() >= configured_.node.memory.value;
  }
  /// Queues that are not consumed from come to rest below five sixths of the high mark, half of the
  /// budget unless said: before all publishers have to wait.
  queue_allowance allowance_of_a_queue() const noexcept {
    return {configured_.node.queue_share.of(configured_.node.memory).value,
            high_mark_bytes() / 6 * 5};
  }

  /// The journal, or a stream's log, takes nothing more for the moment: publishers wait.
  bool disk_is_short() const noexcept { return stores_short.load(std::memory_order_relaxed) > 0; }
  std::atomic<std::uint32_t> stores_short{0};
  /// Milliseconds since 1970 less those of the loops' clock, when the node was started.
  std::chrono::milliseconds wall_offset{0};

  /// Bytes of messages whose bodies are still arriving, of all connections.
  std::atomic<std::uint64_t> incomplete_bytes{0};
  /// Bytes of held publishes, and of what waits behind them, of all connections.
  std::atomic<std::uint64_t> reserved_bytes{0};

private:
  std::uint64_t high_mark_bytes() const noexcept {
    return configured_.node.high_mark.of(configured_.node.memory).value;
  }

  static amqp091::server_settings protocol_of(const settings& configured) {
    const auto& limits = configured.limits;
    amqp091::server_settings made;
    made.properties =
        amqp091::server_properties(configured.node.product, BATON_VERSION, configured.node.name);
    made.channel_max = limits.channel_max;
    made.frame_max = static_cast<std::uint32_t>(limits.frame_max.value);
    made.heartbeat_seconds = static_cast<std::uint16_t>(limits.heartbeat.count());
    made.max_message_size = limits.max_message_size.value;
    made.handshake_frame_max = static_cast<std::uint32_t>(limits.initial_frame_max.value);
    return made;
  }

  const settings configured_;
  runtime& loops_;
  const amqp091::server_settings protocol_;
  login_register logins_;
  topology_publication publication_;
  std::vector<std::unique_ptr<loop_services>> per_loop_;
  blocking_worker worker_;
  std::atomic<std::uint64_t> connections_{0};
  std::atomic<std::uint64_t> consumers_{0};
};

}  // namespace baton
