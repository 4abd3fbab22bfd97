#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "config/ids.hpp"
#include "storage/journal/entries.hpp"

namespace baton::journal {

/// A message of a queue that lies in the log: all that the queue knows of it until it is read.
struct stored_entry {
  place at;                 ///< of its record
  std::uint32_t bytes = 0;  ///< what its reference counts for in `at.segment`: see live_segments
  std::uint32_t body_size = 0;  ///< a record, and so a body in it, is below 4 GiB
  std::uint64_t deadline_ms = queue_place::never;
  std::uint16_t returns = 0;
  bool redelivered = false;

  friend bool operator==(const stored_entry&, const stored_entry&) = default;
};

/// Up to 64 entries with neighbouring sequences. What they have in common is kept once: of each
/// field the least value, and for each entry the difference to it, in 0, 1, 2, 4 or 8 bytes,
/// whatever the largest one needs. So 64 messages of one size cost 2 bytes each, and a field that
/// no message has costs nothing.
class stored_chunk {
public:
  static constexpr std::uint32_t size = 64;

  static constexpr std::uint64_t number_of(sequence s) noexcept { return s / size; }
  static constexpr unsigned index_of(sequence s) noexcept {
    return static_cast<unsigned>(s % size);
  }

  explicit stored_chunk(std::uint64_t number) noexcept : number_{number} {}

  std::uint64_t number() const noexcept { return number_; }
  sequence at(unsigned index) const noexcept { return number_ * size + index; }
  /// Bit i: the message with sequence `at(i)` is here.
  std::uint64_t present() const noexcept { return present_; }
  bool has(unsigned index) const noexcept { return (present_ >> index & 1) != 0; }

  /// Of one that is present.
  stored_entry entry(unsigned index) const noexcept;
  std::uint32_t body_size(unsigned index) const noexcept {
    return static_cast<std::uint32_t>(value(body_size_column, index));
  }
  /// The earliest deadline of all that are present; `queue_place::never` where none has one.
  std::uint64_t earliest_deadline_ms() const noexcept;

  /// Calls `use(sequence, const stored_entry&)` for each, in order.
  template <class Use>
  void for_each(Use&& use) const {
    for (auto left = present_; left != 0; left &= left - 1) {
      const auto index = static_cast<unsigned>(std::countr_zero(left));
      use(at(index), entry(index));
    }
  }

private:
  friend class stored_index;

  enum column : std::uint8_t {
    place_column,   // segment and offset / 8 as one number
    excess_column,  // bytes beyond the body, which are the same for many: plus 2^32, to be positive
    body_size_column,
    deadline_column,
    returns_column,
    columns,
  };
  using fields = std::array<std::uint64_t, columns>;

  void put(unsigned index, const stored_entry& entry);
  void drop(unsigned index) noexcept { present_ &= ~(std::uint64_t{1} << index); }
  void mark_all_redelivered() noexcept { redelivered_ = present_; }
  /// Memory beside the chunk itself.
  std::size_t cell_bytes() const noexcept { return cell_bytes_for(widths_); }

  static std::size_t cell_bytes_for(const std::array<std::uint8_t, columns>& widths) noexcept;
  bool fits(const fields& values) const noexcept;
  void widen_for(const fields& values);
  std::uint8_t* cell(unsigned c, unsigned index) const noexcept;
  std::uint64_t value(unsigned c, unsigned index) const noexcept;
  void set(unsigned c, unsigned index, std::uint64_t value) noexcept;

  std::uint64_t number_;
  std::uint64_t present_ = 0;
  std::uint64_t redelivered_ = 0;
  fields least_{};
  std::array<std::uint8_t, columns> widths_{};
  std::unique_ptr<std::uint8_t[]> cells_;  // column after column, 64 values each
};

/// The messages of one queue that are on the disk and not in memory, by sequence. A recovery makes
/// one for each queue; a running queue puts in what it lets go of, and takes out whole chunks to
/// read them.
///
/// 5 bytes a message where sizes are the same, 8 where they are not; all of it is in a
/// `memory_account`. Putting in and taking out are cheap at both ends and wherever the last one
/// was, O(log n) elsewhere.
class stored_index {
public:
  stored_index() = default;
  stored_index(stored_index&& other) noexcept;
  stored_index& operator=(stored_index&& other) noexcept;
  ~stored_index() { clear(); }

  bool empty() const noexcept { return size_ == 0; }
  std::uint64_t size() const noexcept { return size_; }
  /// Payload of all messages.
  std::uint64_t body_bytes() const noexcept { return body_bytes_; }
  /// What the index itself takes.
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }

  /// Enters a message, or what is new about one that is here.
  void put(sequence number, const stored_entry& entry);

  std::optional<stored_entry> find(sequence number) const noexcept;
  /// Takes a message out; nothing if it is not here.
  std::optional<stored_entry> erase(sequence number) noexcept;

  /// The chunk of that number, or nullptr.
  const stored_chunk* chunk(std::uint64_t number) const noexcept {
    const auto found = locate(number);
    return found == chunks_.end() ? nullptr : &found->second;
  }
  /// The first chunk with a number of at least `number`, or nullptr; none is empty.
  const stored_chunk* at_or_after(std::uint64_t number) const noexcept;
  const stored_chunk* first() const noexcept {
    return chunks_.empty() ? nullptr : &chunks_.begin()->second;
  }
  const stored_chunk* last() const noexcept {
    return chunks_.empty() ? nullptr : &chunks_.rbegin()->second;
  }

  /// Takes out the messages of a whole chunk, for whoever loads them; nothing if there are none.
  std::optional<stored_chunk> take_chunk(std::uint64_t number) noexcept;

  /// Takes out all in [first, end); calls `gone(sequence, const stored_entry&)` for each, in order.
  template <class Gone>
  void erase_range(sequence first, sequence end, Gone&& gone) {
    for (const auto* c = at_or_after(stored_chunk::number_of(first));
         c != nullptr && c->at(0) < end;) {
      const auto chunk = c->number();
      auto left = c->present();
      if (first > c->at(0)) left &= ~std::uint64_t{0} << stored_chunk::index_of(first);
      if (end - c->at(0) < stored_chunk::size)
        left &= (std::uint64_t{1} << stored_chunk::index_of(end)) - 1;
      for (; left != 0; left &= left - 1) {
        const auto number =
            chunk * stored_chunk::size + static_cast<unsigned>(std::countr_zero(left));
        gone(number, *erase(number));
      }
      c = at_or_after(chunk + 1);
    }
  }
  template <class Gone>
  void erase_below(sequence end, Gone&& gone) {
    erase_range(0, end, gone);
  }

  /// After an unclean stop nobody knows which messages had been delivered.
  void mark_all_redelivered() noexcept;

  /// Calls `use(sequence, const stored_entry&)` for each message, in order.
  template <class Use>
  void for_each(Use&& use) const {
    for (const auto& [number, c] : chunks_) c.for_each(use);
  }

  void clear() noexcept;

private:
  using chunk_map = std::map<std::uint64_t, stored_chunk>;

  chunk_map::const_iterator locate(std::uint64_t number) const noexcept;
  chunk_map::iterator locate(std::uint64_t number) noexcept;
  void remove(chunk_map::iterator emptied) noexcept;
  void count_memory(std::size_t before, std::size_t now) noexcept;

  chunk_map chunks_;
  mutable chunk_map::const_iterator recent_ = chunks_.cend();  // where the last one was
  std::uint64_t size_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace baton::journal
