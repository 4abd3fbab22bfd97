#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/interfaces.hpp"
#include "actors/publishes_to_store.hpp"
#include "actors/queue/queue_allowance.hpp"
#include "actors/queue_consumers.hpp"
#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/timer.hpp"
#include "actors/stream/stream_core.hpp"

namespace baton {

/// What a stream accepts: all that a queue does, for publishers and consumers know no difference,
/// and what comes back from its log.
using stream_inner_ref =
    actor_ref<publish, settle, grant, dispatch_now, chunks_safe, chunks_written, chunks_synced,
              chunks_read, stored, subscribe, unsubscribe, abandon, demand, fetch, purge_queue,
              delete_queue, touch_queue, end_queue, messages_read, relocate, finish,
              ask_queue_report, peek_queue>;

/// The actor around a `stream_core`. What arrives together becomes one chunk, is written together,
/// and is handed out once it is safe.
class stream_actor final : public actor_of<stream_actor, stream_inner_ref> {
public:
  /// What a stream has to do with the disk.
  struct disk_side {
    store_ref store;  ///< of its log, and its own
    stream_reader_ref reader;
    std::function<void()> remove;  ///< its folder; called on the store's loop
    std::chrono::milliseconds wall_offset{0};
    stream_log::segment_table found;
  };

  stream_actor(caf::actor_config& config, const queue_entry& entry, const stream_limits& limits,
               queue_allowance allowance, topology_ref topology, disk_side disk);

  void handle(publish& request);
  void handle(settle& request);
  void handle(grant& request);
  void handle(dispatch_now&);
  void handle(chunks_safe& notice);
  void handle(chunks_written& notice);
  void handle(chunks_synced& notice);
  void handle(chunks_read& answer);
  void handle(subscribe& request);
  void handle(unsubscribe& request);
  void handle(abandon& request);
  void handle(demand& request);
  void handle(fetch& request);
  void handle(purge_queue& request);
  void handle(delete_queue& request);
  void handle(touch_queue& request);
  void handle(end_queue&);
  void handle(finish& request);
  void handle(ask_queue_report& request);

  // What only queues are sent.
  void handle(stored&) {}
  void handle(messages_read&) {}
  void handle(relocate&) {}
  void handle(peek_queue& request);

protected:
  void on_start() override;
  void on_failure(const std::string& why) override;
  void on_exit() override;

private:
  std::uint64_t wall_now_ms() const;
  void want_dispatch();
  void dispatch();
  void tell_store();
  void retire();
  void end(queue_ended notice);
  void close();

  struct identity {
    queue_id id;
    vhost_id vhost;
    std::string vhost_name;
    std::string name;
    field_table declared;
    sync_policy sync;
  };

  const identity entry_;
  const bool retires_by_age_;
  const queue_allowance allowance_;
  topology_ref topology_;
  store_ref store_;
  stream_reader_ref reader_;
  std::function<void()> remove_;
  const std::chrono::milliseconds wall_offset_;
  stream_core core_;
  queue_consumers consumers_;
  std::vector<publishes_to_store> unrecorded_;  // since the store was last told
  bool dispatch_wanted_ = false;
  timer retention_timer_;
};

}  // namespace baton
