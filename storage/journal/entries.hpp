#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "config/ids.hpp"
#include "storage/byte_view.hpp"

/// What records have many of, and how it lies in them: storage/journal/README.md.
namespace baton::journal {

static_assert(std::endian::native == std::endian::little,
              "records are little-endian and read as they lie");

/// A byte of the log. Segments are numbered from 1 on, and no number comes twice.
struct place {
  std::uint32_t segment = 0;
  std::uint32_t offset = 0;

  friend auto operator<=>(const place&, const place&) = default;
};

/// Where a message stands in a queue, when it expires there, and how often it has come back.
struct queue_place {
  static constexpr std::size_t size = 24;
  static constexpr std::uint64_t never = 0;
  static constexpr std::uint32_t most_returns = 32'767;

  std::uint64_t queue = 0;
  sequence number = 0;
  std::uint64_t deadline_ms : 48 = never;  ///< since 1970, by the wall clock
  std::uint64_t returns : 15 = 0;          ///< `most_returns`: so many or more
  std::uint64_t redelivered : 1 = 0;       ///< it may have been delivered without coming back

  friend bool operator==(const queue_place& a, const queue_place& b) noexcept {
    return a.queue == b.queue && a.number == b.number && a.deadline_ms == b.deadline_ms &&
           a.returns == b.returns && a.redelivered == b.redelivered;
  }
};

/// `count` adjacent messages of a queue.
struct queue_run {
  static constexpr std::size_t size = 24;

  std::uint64_t queue = 0;
  sequence first = 0;
  std::uint64_t count = 0;

  friend bool operator==(const queue_run&, const queue_run&) = default;
};

/// A message that has come back to its place `returns` times.
struct queue_return {
  static constexpr std::size_t size = 24;

  std::uint64_t queue = 0;
  sequence number = 0;
  std::uint64_t returns = 0;

  friend bool operator==(const queue_return&, const queue_return&) = default;
};

/// What a queue's index file held when it was synced.
struct index_state {
  static constexpr std::size_t size = 40;

  std::uint64_t queue = 0;
  sequence head = 0;  ///< the oldest message that it knows
  sequence tail = 0;  ///< one after the youngest
  std::uint64_t file = 0;
  std::uint64_t valid_bytes = 0;

  friend bool operator==(const index_state&, const index_state&) = default;
};

/// Entries as they lie in a record, read one by one: nothing is copied but the one that is asked
/// for.
template <class Entry>
class entries {
  static_assert(sizeof(Entry) == Entry::size && std::is_trivially_copyable_v<Entry>);

public:
  entries() = default;
  /// `bytes`: whole entries.
  explicit entries(byte_view bytes) noexcept : bytes_{bytes} {}

  std::size_t size() const noexcept { return bytes_.size() / Entry::size; }
  bool empty() const noexcept { return bytes_.empty(); }
  Entry operator[](std::size_t i) const noexcept {
    Entry made;
    std::memcpy(&made, bytes_.data() + i * Entry::size, Entry::size);
    return made;
  }

  class iterator {
  public:
    iterator(const entries& of, std::size_t at) noexcept : of_{&of}, at_{at} {}
    Entry operator*() const noexcept { return (*of_)[at_]; }
    iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    bool operator==(const iterator& other) const noexcept { return at_ == other.at_; }

  private:
    const entries* of_;
    std::size_t at_;
  };
  iterator begin() const noexcept { return {*this, 0}; }
  iterator end() const noexcept { return {*this, size()}; }

private:
  byte_view bytes_;
};

}  // namespace baton::journal
