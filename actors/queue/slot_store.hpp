#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "actors/queue/chunk_directory.hpp"
#include "config/ids.hpp"
#include "storage/message.hpp"

namespace baton {

/// A message in a queue and what the queue knows about it.
struct slot {
  message content;
  std::uint32_t footprint = 0;
  std::uint32_t owner = 0;    ///< while leased: index in the consumer table
  std::uint32_t returns = 0;  ///< how often it was released
  bool redelivered = false;
};
static_assert(sizeof(slot) == 32);

/// 64 neighbouring slots, so that the state of all of them is two words: a slot is ready, leased,
/// or (in neither mask) gone.
struct slot_chunk {
  static constexpr std::uint32_t size = 64;

  struct deadline_block {
    std::array<std::chrono::milliseconds, size> at;
    std::chrono::milliseconds indexed;  ///< under which the chunk stands in the deadline index
  };

  std::uint64_t ready = 0;
  std::uint64_t leased = 0;
  std::uint64_t number = 0;
  std::unique_ptr<deadline_block> deadlines;  ///< made for the first message that has one
  std::array<slot, size> slots;

  sequence at(unsigned index) const noexcept { return number * size + index; }
  static std::uint64_t number_of(sequence s) noexcept { return s / size; }
  static unsigned index_of(sequence s) noexcept { return static_cast<unsigned>(s % size); }
};

/// The slots of a queue by sequence, and which of them comes next.
///
/// Everything is done to a whole mask of a chunk's slots at a time. Chunks are made when they are
/// needed and go when all their slots are gone, so an empty store holds next to no memory.
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
  sequence append(message&& content, std::uint32_t footprint, moment deadline = never) {
    auto number = next_++;
    auto index = slot_chunk::index_of(number);
    if (tail_ == nullptr || index == 0) open_tail(slot_chunk::number_of(number));
    auto& s = tail_->slots[index];
    s.content = std::move(content);
    s.footprint = footprint;
    s.returns = 0;
    s.redelivered = false;
    tail_->ready |= std::uint64_t{1} << index;
    if (deadline != never) set_deadline(*tail_, index, deadline);
    return number;
  }

  /// The chunk of a sequence, or nullptr when all of it is gone.
  slot_chunk* find(sequence s) const noexcept { return chunks_.find(slot_chunk::number_of(s)); }

  /// The chunk with the oldest ready slot, or nullptr: the lowest bit of its `ready` comes next.
  /// Amortised O(1), O(log n) while released messages are waiting.
  slot_chunk* first_ready() noexcept;

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
  moment next_deadline() const noexcept { return due_.empty() ? never : due_.begin()->first; }
  moment deadline_of(const slot_chunk& c, unsigned index) const noexcept {
    return c.deadlines ? c.deadlines->at[index] : never;
  }
  /// The chunk that `next_deadline` comes from, with the mask of its ready slots that are due,
  /// which the caller retires; the chunk then stands in the index under what remains. The mask may
  /// be empty. Absent when nothing is due.
  std::optional<std::pair<slot_chunk*, std::uint64_t>> take_due(moment now);

private:
  void open_tail(std::uint64_t number);
  void close(slot_chunk& c) noexcept;
  void set_deadline(slot_chunk& c, unsigned index, moment deadline);
  void index_deadline(slot_chunk& c, moment deadline);
  void unindex_deadline(slot_chunk& c) noexcept;

  sequence next_ = 1;
  slot_chunk* tail_ = nullptr;  // where the next message goes, if that chunk exists
  chunk_directory<slot_chunk> chunks_;

  // Below head_ only the chunks in returned_ have ready slots.
  std::uint64_t head_ = 0;
  std::set<std::uint64_t> returned_;

  // One entry for each chunk with a ready slot that has a deadline.
  std::set<std::pair<moment, std::uint64_t>> due_;
};

}  // namespace baton
