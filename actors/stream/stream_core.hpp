#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <set>
#include <vector>

#include "actors/queue/lease.hpp"
#include "actors/queue/queue_refusal.hpp"
#include "actors/stream/stream_cursors.hpp"
#include "actors/stream/stream_read.hpp"
#include "config/ids.hpp"
#include "config/result.hpp"
#include "storage/journal/log_writer.hpp"
#include "storage/journal/record_writer.hpp"
#include "storage/stream/segment_table.hpp"
#include "transport/amqp091/wire.hpp"

namespace baton {

/// What a stream may hold in memory, and what it keeps on the disk.
struct stream_limits {
  std::uint64_t tail = 4 << 20;   ///< bytes of its newest messages, for readers that keep up
  std::uint64_t cache = 8 << 20;  ///< bytes read back, for readers that do not
  std::size_t reads = 8;          ///< at most so many are under way at once
  std::optional<std::uint64_t> max_bytes;   ///< beyond that its oldest segments go
  std::optional<std::uint64_t> max_age_ms;  ///< and those with nothing younger
};

struct stream_statistics {
  std::uint64_t messages = 0;  ///< that can be read
  std::uint64_t bytes = 0;     ///< of records on the disk
  std::uint64_t readers = 0;
  std::uint64_t unsettled = 0;
  std::uint64_t published = 0;
  std::uint64_t delivered = 0;
  std::uint64_t acked = 0;
};

/// A stream: numbers messages from 0 on (their offsets), has them written in chunks, and hands out
/// what is safe to any number of readers, each at its own place. Nothing that is read goes.
///
/// Readers see a message when it is as safe as its publisher was promised: an offset that a reader
/// has seen stands for the same message after a restart. Whoever has read all of it learns that
/// from one comparison, with `end()`.
class stream_core {
public:
  /// `found`: what its log holds.
  stream_core(queue_id id, const stream_limits& limits, stream_log::segment_table found);

  // ---- in

  /// Takes messages over, at `now_ms` since 1970. Each gets the header `x-stream-offset`.
  void publish(batch messages, std::uint64_t now_ms);

  struct unwritten {
    struct chunk {
      std::uint64_t first = 0;
      std::uint64_t count = 0;
      std::uint64_t time_ms = 0;
    };
    journal::encoded_records records;
    std::vector<chunk> chunks;  ///< one for each record
  };
  /// What has come since the last call, to be written: at the end of a turn.
  unwritten take_unwritten();
  /// It lies there; said again when a failed sync had it written anew.
  void written(const unwritten::chunk& which, const journal::record_place& where);
  /// All below `end` is as safe as it has to be.
  void committed(std::uint64_t end);
  /// All below `end` is on the disk, and is not written anew.
  void synced(std::uint64_t end);

  // ---- readers

  result<void, queue_refusal> add(consumer_id reader, const consumer_options& options);
  void remove(consumer_id reader);
  void grant(consumer_id reader, std::uint64_t bytes);
  void settle(consumer_id reader, const std::vector<settlement>& runs);
  void demand(consumer_id reader, std::uint32_t messages);
  /// Absent: any number.
  void set_demand(consumer_id reader, std::optional<std::uint32_t> messages);
  /// What is left of it, which is taken back; nothing if there is no such reader.
  std::optional<std::uint32_t> recall_demand(consumer_id reader);
  std::int64_t byte_credit(consumer_id reader) const noexcept;

  /// Hands out what can be: calls `send(lease_batch&&)`. True: there is more to do at once; each
  /// reader gets a limited number of messages in one call.
  template <class Send>
  bool dispatch(Send&& send) {
    const bool more = hand_out();
    for (auto& each : outbox_) send(std::move(each));
    outbox_.clear();
    trim();
    return more;
  }
  /// Readers that lack nothing but demand, each told once until its demand changes.
  std::vector<consumer_id> take_short_of_demand();

  // ---- from the disk

  std::vector<stream_read> take_wanted();
  /// The answer to one of them.
  void loaded(const stream_read& asked, stream_found&& found);

  // ---- space

  /// Segments that were read, that all readers have left behind, and that are not written any more:
  /// each once, unless it is read again.
  std::vector<std::uint32_t> take_left_behind();

  /// What is kept no longer, by size or age, and what was written anew.
  std::vector<journal::reference_drop> take_drops(std::uint64_t now_ms);
  /// Tail and cache may hold at most so much each from now on, whatever their limits.
  void limit_memory(std::uint64_t bytes) noexcept { allowed_ = bytes; }

  // ---- looking

  /// All from `first()` to here can be read.
  std::uint64_t end() const noexcept { return committed_; }
  std::uint64_t first() const noexcept;
  std::size_t readers() const noexcept { return cursors_.size(); }
  std::uint64_t held_bytes() const noexcept { return tail_bytes_ + cached_bytes_; }
  /// 0: the log has none.
  std::uint32_t oldest_segment() const;
  stream_statistics statistics() const noexcept;

private:
  /// Chunks that were read together: all of what is readable in [from, end).
  struct window {
    std::uint64_t from = 0;
    std::uint64_t end = 0;
    journal::place stopped;  // the end, in the log
    std::uint64_t bytes = 0;
    std::vector<stream_chunk> chunks;
  };

  // How much one reader is handed before others have their turn.
  static constexpr std::size_t turn_messages = 512;

  message stamped(const message& original, std::uint64_t offset);
  bool hand_out();
  bool hand_out_to(stream_cursor& reader, slab_holds& holds);
  const stream_chunk* chunk_for(stream_cursor& reader);
  void hand_out_of(const stream_chunk& chunk, stream_cursor& reader, slab_holds& holds,
                   std::size_t& left);
  static std::optional<std::string_view> filter_value_of(const message& of);
  void want(stream_cursor& reader);
  std::optional<stream_log::stretch> where_to_read(const stream_cursor& reader) const;
  void go_on(stream_cursor& reader, const stream_read& asked, const stream_found& found);
  void stand_at_start(stream_cursor& reader, const stream_start& start);
  void stand_at_time(stream_cursor& reader, std::uint64_t time_ms);
  void trim();
  void trim_tail();
  void trim_cache();

  const queue_id id_;
  const stream_limits limits_;
  std::uint64_t allowed_ = UINT64_MAX;  // bytes, for the tail and for the cache
  stream_log::segment_table segments_;
  std::uint64_t next_;       // offset of the next message that comes
  std::uint64_t committed_;  // all below is safe
  std::uint64_t synced_;     // and all below is on the disk
  std::uint64_t last_time_;  // of a chunk

  std::deque<stream_chunk> tail_;
  std::uint64_t tail_bytes_ = 0;
  std::size_t unwritten_ = 0;  // so many chunks at the end of the tail were not taken yet
  std::list<window> windows_;  // the one used last comes first
  std::uint64_t cached_bytes_ = 0;

  stream_cursors cursors_;
  std::size_t turn_ = 0;  // whose turn it is to be served first
  std::vector<lease_batch> outbox_;
  std::vector<consumer_id> short_of_demand_;
  std::vector<stream_read> wanted_;
  std::vector<stream_read> reading_;
  std::set<std::uint32_t> read_;  // segments
  std::vector<journal::reference_drop> drops_;

  slab_writer slabs_;
  amqp091::output_buffer properties_;
  stream_statistics totals_;
};

}  // namespace baton
