#include "actors/queue/queue_records.hpp"

#include <algorithm>
#include <bit>

namespace baton {

bool queue_records::is_joined(sequence number) const noexcept {
  return !joined_.empty() && std::binary_search(joined_.begin(), joined_.end(), number);
}

void queue_records::add_run(sequence number) {
  if (!runs_.empty() && runs_.back().first + runs_.back().count == number)
    ++runs_.back().count;
  else
    runs_.push_back({queue_, number, 1});
}

void queue_records::gone(slot_chunk& c, std::uint64_t mask) {
  mask &= c.stored;
  c.stored &= ~mask;
  for (; mask != 0; mask &= mask - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(mask));
    const auto number = c.at(index);
    if (!is_recorded(number)) continue;
    add_run(number);
    if (c.places && c.places->has(index)) drop(c.places->at[index].segment, c.places->bytes[index]);
  }
}

void queue_records::gone(sequence number, const journal::stored_entry& entry) {
  add_run(number);
  drop(entry.at.segment, entry.bytes);
}

void queue_records::returned(const slot_chunk& c, std::uint64_t mask) {
  for (mask &= c.stored; mask != 0; mask &= mask - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(mask));
    if (is_recorded(c.at(index))) returns_.push_back({queue_, c.at(index), c.slots[index].returns});
  }
}

void queue_records::drop(std::uint32_t segment, std::uint32_t bytes) {
  auto of = std::find_if(drops_.rbegin(), drops_.rend(),
                         [segment](const auto& d) { return d.segment == segment; });
  if (of == drops_.rend()) {
    drops_.push_back({segment, queue_, 1, bytes});
    return;
  }
  ++of->references;
  of->bytes += bytes;
}

journal::encoded_records queue_records::take_records() {
  journal::record_writer writer;
  if (!returns_.empty()) writer.add_requeue(returns_);
  if (!runs_.empty()) writer.add_settle(runs_);
  returns_.clear();
  runs_.clear();
  return writer.take();
}

}  // namespace baton
