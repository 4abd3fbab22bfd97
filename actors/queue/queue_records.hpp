#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "actors/queue/slot_chunk.hpp"
#include "config/ids.hpp"
#include "storage/journal/entries.hpp"
#include "storage/journal/live_segments.hpp"
#include "storage/journal/record_writer.hpp"
#include "storage/journal/stored_index.hpp"

namespace baton {

/// What a queue has to tell the journal of what happened since it last did.
///
/// A message that comes and goes in between is never mentioned; so records are made when they are
/// taken, not when messages arrive. Of each message that the journal knows, the end is told exactly
/// once, and the reference to its record is dropped exactly once.
class queue_records {
public:
  explicit queue_records(queue_id of) noexcept : queue_{of.value} {}

  /// The record of a message that was just appended is made elsewhere, for several queues together.
  void joined(sequence number) { joined_.push_back(number); }

  /// Slots go: those of `mask` that are stored.
  void gone(slot_chunk& c, std::uint64_t mask);
  /// A message goes that is not in memory.
  void gone(sequence number, const journal::stored_entry& entry);
  /// A message has gone before there was a record of it, and now there is one.
  void gone_before(sequence number, std::uint32_t segment, std::uint32_t bytes) {
    add_run(number);
    drop(segment, bytes);
  }
  /// Slots have come back to their places.
  void returned(const slot_chunk& c, std::uint64_t mask);
  /// A record is not needed for this queue, though nothing has happened to its message.
  void drop(std::uint32_t segment, std::uint32_t bytes);

  /// The first message that may have no record yet; none, if it is beyond the last.
  sequence first_new() const noexcept { return first_new_; }
  bool is_joined(sequence number) const noexcept;

  /// All messages below have records, or need none.
  void recorded_until(sequence next) noexcept {
    first_new_ = next;
    joined_.clear();
  }

  bool empty() const noexcept { return runs_.empty() && returns_.empty() && drops_.empty(); }
  /// What came back and went, as records.
  journal::encoded_records take_records();
  /// The references that were dropped.
  std::vector<journal::reference_drop> take_drops() noexcept { return std::exchange(drops_, {}); }

  std::uint64_t queue() const noexcept { return queue_; }

private:
  bool is_recorded(sequence number) const noexcept {
    return number < first_new_ || is_joined(number);
  }
  void add_run(sequence number);

  const std::uint64_t queue_;
  sequence first_new_ = 0;
  std::vector<sequence> joined_;  // from first_new_ on
  std::vector<journal::queue_run> runs_;
  std::vector<journal::queue_return> returns_;
  std::vector<journal::reference_drop> drops_;
};

}  // namespace baton
