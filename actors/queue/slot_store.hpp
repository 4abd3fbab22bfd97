#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "actors/queue/chunk_directory.hpp"
#include "actors/queue/queue_records.hpp"
#include "actors/queue/slot_chunk.hpp"
#include "config/ids.hpp"
#include "storage/journal/stored_index.hpp"
#include "storage/message.hpp"

namespace baton {

/// The slots of a queue by sequence, and which of them comes next.
///
/// Everything is done to a whole mask of a chunk's slots at a time. Chunks are made when they are
/// needed and go when all their slots are gone, so an empty store holds next to no memory.
///
/// Of a chunk whose messages are all ready and in the journal these may be put on the disk: then
/// only their index is here, until they are loaded again. A message is on the disk or in memory,
/// never both; of a chunk some may be here and some there, where not all could be read.
class slot_store {
public:
  using moment = std::chrono::milliseconds;
  static constexpr moment never = moment::max();

  slot_store() = default;
  ~slot_store() { clear(); }
  slot_store(const slot_store&) = delete;
  slot_store& operator=(const slot_store&) = delete;

  /// The sequence that the next message gets; the first is 1.
  sequence next() const noexcept { return next_; }

  /// Puts a message behind all others, ready, and numbers it.
  /// `stored`: it is to be in the journal.
  sequence append(message&& content, std::uint32_t footprint, moment deadline = never,
                  bool stored = false) {
    if (side_) keep_chunks_small(footprint);
    auto number = next_++;
    auto index = slot_chunk::index_of(number);
    if (tail_ == nullptr || index == 0) open_tail(slot_chunk::number_of(number));
    auto& s = tail_->slots[index];
    s.content = std::move(content);
    s.footprint = footprint;
    s.returns = 0;
    s.redelivered = false;
    tail_->ready |= std::uint64_t{1} << index;
    if (stored) tail_->stored |= std::uint64_t{1} << index;
    if (deadline != never) set_deadline(*tail_, index, deadline);
    return number;
  }

  /// The chunk of a sequence, or nullptr when all of it is gone.
  slot_chunk* find(sequence s) const noexcept { return chunks_.find(slot_chunk::number_of(s)); }

  /// The chunk with the oldest ready slot, or nullptr: the lowest bit of its `ready` comes next.
  /// Amortised O(1), O(log n) while released messages are waiting. Also nullptr while what comes
  /// next is on the disk.
  slot_chunk* first_ready() noexcept;
  /// Those of the chunk's ready slots that come before all that is on the disk.
  std::uint64_t ready_before_disk(const slot_chunk& c) const noexcept {
    const auto first = first_on_disk();
    if (first >= c.at(0) + slot_chunk::size) return c.ready;
    return first <= c.at(0) ? 0 : c.ready & ((std::uint64_t{1} << (first - c.at(0))) - 1);
  }

  /// The first chunk with a number of at least `number`, or nullptr.
  slot_chunk* at_or_after(std::uint64_t number) const noexcept {
    return chunks_.at_or_after(number);
  }

  /// Ready slots become leased.
  void lease_out(slot_chunk& c, std::uint64_t mask) noexcept;
  /// Leased slots become ready; they come back to their place.
  void give_back(slot_chunk& c, std::uint64_t mask);
  /// Slots go, whatever they were; their messages are gone already. Frees the chunk with the last.
  void retire(slot_chunk& c, std::uint64_t mask) noexcept;

  /// Lets go of all messages.
  void clear() noexcept;

  /// The time at which a ready message may be due: never later than the earliest deadline, and
  /// earlier only while one that had the earliest has just left.
  moment next_deadline() const noexcept {
    const auto here = due_.empty() ? never : due_.begin()->first;
    return side_ && !side_->due.empty() ? std::min(here, side_->due.begin()->first) : here;
  }
  moment deadline_of(const slot_chunk& c, unsigned index) const noexcept {
    return c.deadlines ? c.deadlines->at[index] : never;
  }
  /// The chunk with the earliest deadline, with the mask of its ready slots that are due, which the
  /// caller retires; the chunk then stands in the index under what remains. The mask may be empty.
  /// Absent when nothing is due. What is due on the disk is asked for (`take_overdue`).
  std::optional<std::pair<slot_chunk*, std::uint64_t>> take_due(moment now);

  // -- The journal and the disk: slot_store_disk.cpp

  /// From now on what becomes of stored messages is recorded, of the queue with this id. A moment
  /// is `wall_offset` less than the milliseconds since 1970.
  void record(queue_id of, moment wall_offset);
  /// Or nullptr: nothing is stored.
  queue_records* records() const noexcept { return side_ ? &side_->records : nullptr; }
  /// Messages from before the node's start; what is appended comes behind `next`.
  void recover(journal::stored_index found, sequence next);

  /// As records name the place of a message that was just appended.
  journal::queue_place place_in_queue(sequence number, moment deadline) const noexcept;
  /// Encodes the messages of which there is no record yet, and names them.
  void encode_new(journal::record_writer& writer, std::vector<sequence>& which) const;

  /// The same, as relocations, for about `limit` messages whose records lie in `segment`.
  void encode_anew(std::uint32_t segment, std::size_t limit, journal::record_writer& writer,
                   std::vector<sequence>& which) const;
  /// The same for one that was read from `at`. False: it does not lie there any more.
  bool encode_anew(sequence number, journal::place at, const message& content,
                   journal::record_writer& writer) const;

  struct written_record {
    sequence number;
    journal::place at;
    std::uint32_t bytes;  ///< that the reference counts for
    /// Several queues share it: what has become of the message may have been written before.
    bool joint = false;
  };
  /// The journal says where records of messages lie.
  void written(std::span<const written_record> records);

  std::uint64_t on_disk() const noexcept { return side_ ? side_->disk.size() : 0; }
  /// Of one that records.
  const journal::stored_index& disk() const noexcept { return side_->disk; }
  /// What comes next is there, not in memory.
  bool next_is_on_disk() noexcept { return on_disk() > 0 && first_ready() == nullptr; }
  /// Ready messages in memory that come before all that are on the disk; stops counting at `most`.
  std::uint64_t ready_ahead_of_disk(std::uint64_t most) const noexcept;

  enum class eviction : std::uint8_t { done, unwritten, impossible };
  /// Puts a chunk on the disk; adds the footprints of its messages to `freed`.
  eviction evict(slot_chunk& c, std::uint64_t& freed);
  /// Number of the first chunk behind so many ready messages, or bytes of them, that come next.
  std::uint64_t end_of_head(std::uint64_t messages, std::uint64_t bytes) const noexcept;
  /// The first chunk that may be evicted at all: never the one that comes next, nor the last.
  slot_chunk* evictable_at_or_after(std::uint64_t number) const noexcept;

  /// Takes a chunk off the disk: now its slots are filled with what was read, or put back.
  std::optional<journal::stored_chunk> take_from_disk(std::uint64_t number);
  void put_on_disk(sequence number, const journal::stored_entry& entry);
  void fill(const journal::stored_chunk& chunk, unsigned index, message&& content,
            std::uint32_t footprint);
  /// The oldest one on the disk goes unread; it is told to the journal.
  std::optional<journal::stored_entry> drop_oldest_on_disk() noexcept;
  /// All that is on the disk goes.
  void drop_disk();

  /// A ready message, looked at where it stands.
  struct peeked_slot {
    sequence number;
    message content;    ///< empty: it is on the disk
    journal::place at;  ///< of one that is on the disk
    std::uint64_t body_size = 0;
    std::uint32_t returns = 0;
    bool redelivered = false;
    moment deadline = never;
  };
  /// The ready messages that come next, in order: `count` of them, and no more bodies than `bytes`,
  /// but for the first.
  std::vector<peeked_slot> peek(std::size_t count, std::uint64_t bytes) const;

  /// Chunks on the disk in which a message is due, each named once.
  std::vector<std::uint64_t> take_overdue() noexcept { return std::exchange(side_->overdue, {}); }

private:
  void open_tail(std::uint64_t number);
  void close(slot_chunk& c) noexcept;
  void set_deadline(slot_chunk& c, unsigned index, moment deadline);
  void index_deadline(slot_chunk& c, moment deadline);
  void unindex_deadline(slot_chunk& c) noexcept;
  /// Chunks go to the disk whole: one that holds much is the last with its number.
  void keep_chunks_small(std::uint32_t more) noexcept {
    if (slot_chunk::index_of(next_) == 0) {
      side_->tail_bytes = 0;
    } else if (side_->tail_bytes >= chunk_bytes) {
      next_ = (slot_chunk::number_of(next_) + 1) * slot_chunk::size;
      side_->tail_bytes = 0;
    }
    side_->tail_bytes += more;
  }
  void place(slot_chunk& c, unsigned index, journal::place at, std::uint32_t bytes);
  void forget_record(const written_record& record);
  /// The oldest message there, if there is one.
  sequence first_on_disk() const noexcept {
    const auto* c = side_ ? side_->disk.first() : nullptr;
    return c != nullptr ? c->at(static_cast<unsigned>(std::countr_zero(c->present())))
                        : std::numeric_limits<sequence>::max();
  }
  template <class Change>
  void change_on_disk(std::uint64_t number, Change&& change);
  moment moment_of(std::uint64_t deadline_ms) const noexcept;
  std::uint64_t deadline_ms_of(moment deadline) const noexcept;
  journal::queue_place place_in_queue(const slot_chunk& c, unsigned index) const noexcept;

  static constexpr std::uint64_t chunk_bytes = 1 << 20;

  sequence next_ = 1;
  slot_chunk* tail_ = nullptr;  // where the next message goes, if that chunk exists
  chunk_directory<slot_chunk> chunks_;

  // Below head_ only the chunks in returned_ have ready slots.
  std::uint64_t head_ = 0;
  std::set<std::uint64_t> returned_;

  /// Chunks by deadline.
  using deadline_index = std::set<std::pair<moment, std::uint64_t>>;
  deadline_index due_;  // one entry for each chunk with a ready slot that has a deadline

  /// Only queues that store anything have one: an idle queue should be small.
  struct journal_side {
    queue_records records;
    moment wall_offset;
    journal::stored_index disk{};
    deadline_index due{};                  // of the disk's chunks: what is due leaves it
    std::vector<std::uint64_t> overdue{};  // and comes here
    std::uint64_t tail_bytes = 0;
  };
  std::unique_ptr<journal_side> side_;
};

}  // namespace baton
