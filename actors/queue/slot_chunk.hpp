#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>

#include "config/ids.hpp"
#include "storage/journal/entries.hpp"
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

inline std::uint32_t footprint_of(const message& m) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(m.footprint(), std::numeric_limits<std::uint32_t>::max()));
}

/// 64 neighbouring slots, so that the state of all of them is two words: a slot is ready, leased,
/// or (in neither mask) gone.
struct slot_chunk {
  static constexpr std::uint32_t size = 64;

  struct deadline_block {
    std::array<std::chrono::milliseconds, size> at;
    std::chrono::milliseconds indexed;  ///< under which the chunk stands in the deadline index
  };

  /// Where the records of stored messages lie, from when they have been written.
  struct place_block {
    std::uint64_t written = 0;
    std::array<journal::place, size> at;
    std::array<std::uint32_t, size> bytes;  ///< that the reference to a record counts for

    bool has(unsigned index) const noexcept { return (written >> index & 1) != 0; }
  };

  std::uint64_t ready = 0;
  std::uint64_t leased = 0;
  std::uint64_t stored = 0;  ///< those that are in the journal, or about to be
  std::uint64_t number = 0;
  std::unique_ptr<deadline_block> deadlines;  ///< made for the first message that has one
  std::unique_ptr<place_block> places;        ///< made for the first one that was written
  std::array<slot, size> slots;

  sequence at(unsigned index) const noexcept { return number * size + index; }
  static std::uint64_t number_of(sequence s) noexcept { return s / size; }
  static unsigned index_of(sequence s) noexcept { return static_cast<unsigned>(s % size); }
};

}  // namespace baton
