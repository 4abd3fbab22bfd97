#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "storage/journal/live_segments.hpp"
#include "storage/journal/log_writer.hpp"

/// Streams at rest: storage/stream/README.md.
namespace baton::stream_log {

/// Where to read on, in one segment: chunks from a record's beginning on, up to an end.
struct stretch {
  journal::place from;
  std::uint32_t end = 0;
  std::uint64_t next = 0;  ///< offset of the message that follows behind the end
};

/// What a stream knows of its segments: which offsets and times lie where. Knows no files.
///
/// Chunks are noted in the order of their offsets, and their times do not go back: whoever makes
/// one takes at least `last_time_ms()` for it.
class segment_table {
public:
  explicit segment_table(std::uint64_t queue) : queue_{queue} {}

  // -- what is in the log

  /// A chunk of `count` messages from offset `first` on lies there: for `record_owner::written`.
  ///
  /// After a failed sync chunks are noted anew. Then the earlier places of this one and of all
  /// behind it are void, and their references come in `ended`, for `journal::drop`. After a
  /// recovery from damage offsets may be missing before `first`.
  void note(const journal::record_place& where, std::uint64_t first, std::uint32_t count,
            std::uint64_t time_ms, std::vector<journal::reference_drop>& ended);

  /// Everything below this offset is on the disk and is never noted again: for the end of a
  /// `record_owner`. (Not for its `safe`, which comes before the sync where nobody waits for it.)
  void synced(std::uint64_t offset);

  /// A segment before all others noted so far of which only this is known; for a recovery, which
  /// has added `references` of so many `bytes` for it.
  struct summary {
    std::uint32_t number = 0;
    std::uint32_t begin = 0;  ///< of its first chunk
    std::uint32_t end = 0;    ///< behind its last one
    std::uint64_t first = 0;  ///< offset of its first message
    std::uint64_t first_time_ms = 0;
    std::uint64_t last_time_ms = 0;
    std::uint64_t references = 0;
    std::uint64_t bytes = 0;
  };
  void add(const summary& unread);

  /// The offsets of messages that were lost are not given again: `next_offset()` is at least this.
  void skip_to(std::uint64_t offset) noexcept { next_ = std::max(next_, offset); }

  // -- where it is

  bool empty() const noexcept { return segments_.empty(); }
  /// Of the oldest message; of the next one, if there is none.
  std::uint64_t first_offset() const noexcept;
  /// Of the next message.
  std::uint64_t next_offset() const noexcept { return next_; }
  /// Of the first message of the newest chunk; of the next message, if there is none.
  std::uint64_t last_chunk() const noexcept { return empty() ? next_ : last_chunk_; }
  std::uint64_t last_time_ms() const noexcept { return last_time_ms_; }

  /// Where to read from, for messages from `offset` on; from the oldest on, if that is retired.
  /// Nothing: it is beyond the last one. `stopped`: where a reader has stopped that has passed all
  /// before `offset`, if there is one.
  std::optional<stretch> find(std::uint64_t offset, journal::place stopped = {}) const;

  /// Where to read from, for the first chunk that was taken at that time or later; if the stretch
  /// has none, it is the first behind it. Nothing: all are older.
  std::optional<stretch> find_time(std::uint64_t ms) const;

  // -- retention

  /// Of all segments, about: what groups and padding take is not counted.
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::size_t segments() const noexcept { return segments_.size(); }

  /// Lets go of whole segments from the oldest on, while there are more than `max_bytes` and while
  /// the last chunk of the oldest was taken before `oldest_time_ms`; what was read without a scan
  /// may stay a chunk longer. The newest one stays that begins with what is on the disk for good: a
  /// power cut may take all behind it, and then it has to say which offset comes next. Gives what
  /// the journal is to drop; then `collect` frees them.
  std::vector<journal::reference_drop> retire(std::uint64_t max_bytes,
                                              std::uint64_t oldest_time_ms);

private:
  /// A chunk where a search may begin; about one in 256 KiB of log.
  struct landmark {
    std::uint64_t first = 0;
    std::uint64_t time_ms = 0;
    std::uint32_t offset = 0;
  };
  struct segment : summary {
    std::vector<landmark> marks;
  };
  /// A chunk that may be noted anew, and what its segment was before it.
  struct unsynced_chunk {
    journal::record_place where;
    std::uint64_t first = 0;
    std::uint32_t end_before = 0;
    std::uint64_t last_time_before = 0;
  };

  std::uint64_t behind(const segment& one) const noexcept;
  void forget_last(std::vector<journal::reference_drop>& ended);
  journal::reference_drop drop_of(const segment& all) const noexcept {
    return {all.number, queue_, all.references, all.bytes};
  }

  std::uint64_t queue_;
  std::deque<segment> segments_;         // from the oldest on, each with a chunk at least
  std::deque<unsynced_chunk> unsynced_;  // the last ones
  std::uint64_t next_ = 0;
  std::uint64_t last_chunk_ = 0;
  std::uint64_t last_time_ms_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace baton::stream_log
