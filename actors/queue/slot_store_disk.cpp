// What slot_store knows of the journal: which messages are in it, and which are nowhere else.

#include <algorithm>
#include <bit>

#include "actors/queue/chunk_pool.hpp"
#include "actors/queue/slot_store.hpp"
#include "config/check.hpp"
#include "storage/memory_account.hpp"

namespace baton {

namespace {

constexpr std::uint64_t bit(unsigned i) { return std::uint64_t{1} << i; }

}  // namespace

slot_store::moment slot_store::moment_of(std::uint64_t deadline_ms) const noexcept {
  if (deadline_ms == journal::queue_place::never) return never;
  return moment{static_cast<moment::rep>(deadline_ms)} - side_->wall_offset;
}

std::uint64_t slot_store::deadline_ms_of(moment deadline) const noexcept {
  constexpr auto latest = moment{(moment::rep{1} << 48) - 1};  // what a record can say
  if (deadline == never || deadline > latest - side_->wall_offset)
    return journal::queue_place::never;
  return static_cast<std::uint64_t>(
      std::max((deadline + side_->wall_offset).count(), moment::rep{1}));
}

void slot_store::record(queue_id of, moment wall_offset) {
  side_.reset(new journal_side{queue_records{of}, wall_offset});
}

void slot_store::recover(journal::stored_index found, sequence next) {
  side_->disk = std::move(found);
  // A chunk of its own: none is both on the disk and in memory.
  next_ = (next + slot_chunk::size - 1) / slot_chunk::size * slot_chunk::size;
  if (next_ == 0) next_ = slot_chunk::size;
  side_->records.recorded_until(next_);
  for (const auto* c = side_->disk.first(); c != nullptr;
       c = side_->disk.at_or_after(c->number() + 1))
    if (const auto earliest = moment_of(c->earliest_deadline_ms()); earliest != never)
      side_->due.emplace(earliest, c->number());
}

/// Keeps the deadlines of a chunk on the disk in their index while that changes.
template <class Change>
void slot_store::change_on_disk(std::uint64_t number, Change&& change) {
  const auto earliest = [&] {
    const auto* c = side_->disk.chunk(number);
    return c != nullptr ? moment_of(c->earliest_deadline_ms()) : never;
  };
  const auto before = earliest();
  change();
  const auto now = earliest();
  if (now == before) return;
  if (before != never) side_->due.erase({before, number});
  if (now != never) side_->due.emplace(now, number);
}

std::optional<journal::stored_chunk> slot_store::take_from_disk(std::uint64_t number) {
  std::optional<journal::stored_chunk> taken;
  change_on_disk(number, [&] { taken = side_->disk.take_chunk(number); });
  return taken;
}

void slot_store::put_on_disk(sequence number, const journal::stored_entry& entry) {
  change_on_disk(slot_chunk::number_of(number), [&] { side_->disk.put(number, entry); });
}

void slot_store::encode_new(journal::record_writer& writer, std::vector<sequence>& which) const {
  const auto from = side_->records.first_new();
  for (auto* c = chunks_.at_or_after(slot_chunk::number_of(from)); c != nullptr;
       c = chunks_.at_or_after(c->number + 1)) {
    auto mask = (c->ready | c->leased) & c->stored;
    if (c->at(0) < from) mask &= ~std::uint64_t{0} << slot_chunk::index_of(from);
    for (; mask != 0; mask &= mask - 1) {
      const auto index = static_cast<unsigned>(std::countr_zero(mask));
      const auto number = c->at(index);
      if (side_->records.is_joined(number)) continue;
      const auto here = place_in_queue(*c, index);
      writer.add_enqueue({&here, 1}, c->slots[index].content);
      which.push_back(number);
    }
  }
}

journal::queue_place slot_store::place_in_queue(sequence number, moment deadline) const noexcept {
  journal::queue_place here{side_->records.queue(), number};
  here.deadline_ms = deadline_ms_of(deadline);
  return here;
}

journal::queue_place slot_store::place_in_queue(const slot_chunk& c,
                                                unsigned index) const noexcept {
  auto here = place_in_queue(c.at(index), deadline_of(c, index));
  here.returns = std::min(c.slots[index].returns, journal::queue_place::most_returns);
  here.redelivered = c.slots[index].redelivered ? 1 : 0;
  return here;
}

void slot_store::encode_anew(std::uint32_t segment, std::size_t limit,
                             journal::record_writer& writer, std::vector<sequence>& which) const {
  for (auto* c = chunks_.at_or_after(0); c != nullptr && which.size() < limit;
       c = chunks_.at_or_after(c->number + 1)) {
    if (!c->places) continue;
    for (auto mask = c->stored & c->places->written; mask != 0; mask &= mask - 1) {
      const auto index = static_cast<unsigned>(std::countr_zero(mask));
      if (c->places->at[index].segment != segment) continue;
      const auto here = place_in_queue(*c, index);
      writer.add_relocate({&here, 1}, c->slots[index].content);
      which.push_back(c->at(index));
    }
  }
}

bool slot_store::encode_anew(sequence number, journal::place at, const message& content,
                             journal::record_writer& writer) const {
  const auto index = slot_chunk::index_of(number);
  if (const auto* c = find(number); c != nullptr && (c->stored >> index & 1) != 0) {
    if (!c->places || !c->places->has(index) || c->places->at[index] != at) return false;
    const auto here = place_in_queue(*c, index);
    writer.add_relocate({&here, 1}, content);
    return true;
  }
  const auto entry = side_->disk.find(number);
  if (!entry || entry->at != at) return false;
  journal::queue_place here{side_->records.queue(), number};
  here.deadline_ms = entry->deadline_ms;
  here.returns = std::min<std::uint32_t>(entry->returns, journal::queue_place::most_returns);
  here.redelivered = entry->redelivered ? 1 : 0;
  writer.add_relocate({&here, 1}, content);
  return true;
}

void slot_store::place(slot_chunk& c, unsigned index, journal::place at, std::uint32_t bytes) {
  if (!c.places) {
    c.places = std::make_unique<slot_chunk::place_block>();
    memory_account::of_this_thread().created(sizeof *c.places);
  }
  c.places->written |= bit(index);
  c.places->at[index] = at;
  c.places->bytes[index] = bytes;
}

/// Of a message that has gone. Its end is told once more where it may have been written before the
/// record: of the two, the end would be freed first, and the message come back at a restart.
void slot_store::forget_record(const written_record& record) {
  if (record.joint)
    side_->records.gone_before(record.number, record.at.segment, record.bytes);
  else
    side_->records.drop(record.at.segment, record.bytes);
}

void slot_store::written(std::span<const written_record> records) {
  for (const auto& r : records) {
    const auto index = slot_chunk::index_of(r.number);
    auto* c = find(r.number);
    if (c == nullptr || (c->stored >> index & 1) == 0) {
      // On the disk, and written anew: the new place holds.
      if (auto entry = side_->disk.find(r.number)) {
        side_->records.drop(entry->at.segment, entry->bytes);
        entry->at = r.at;
        entry->bytes = r.bytes;
        side_->disk.put(r.number, *entry);
      } else {
        forget_record(r);
      }
      continue;
    }
    if (c->places && c->places->has(index))
      side_->records.drop(c->places->at[index].segment, c->places->bytes[index]);
    place(*c, index, r.at, r.bytes);
    if (r.joint && c->slots[index].returns > 0) side_->records.returned(*c, bit(index));
  }
}

std::uint64_t slot_store::ready_ahead_of_disk(std::uint64_t most) const noexcept {
  if (on_disk() == 0) return most;
  std::uint64_t ready = 0;
  for (auto* c = chunks_.at_or_after(head_);
       c != nullptr && c->at(0) < first_on_disk() && ready < most;
       c = chunks_.at_or_after(c->number + 1))
    ready += static_cast<std::uint64_t>(std::popcount(ready_before_disk(*c)));
  return std::min(ready, most);
}

std::uint64_t slot_store::end_of_head(std::uint64_t messages, std::uint64_t bytes) const noexcept {
  std::uint64_t end = head_;
  for (auto* c = chunks_.at_or_after(head_); c != nullptr && messages > 0 && bytes > 0;
       c = chunks_.at_or_after(c->number + 1)) {
    if (first_on_disk() < c->at(0)) break;
    end = c->number + 1;
    messages -= std::min<std::uint64_t>(messages, static_cast<unsigned>(std::popcount(c->ready)));
    for (auto rest = c->ready; rest != 0; rest &= rest - 1)
      bytes -= std::min<std::uint64_t>(bytes, c->slots[std::countr_zero(rest)].footprint);
  }
  return end;
}

slot_chunk* slot_store::evictable_at_or_after(std::uint64_t number) const noexcept {
  auto* c = chunks_.at_or_after(std::max(number, head_ + 1));
  return c == tail_ ? nullptr : c;
}

slot_store::eviction slot_store::evict(slot_chunk& c, std::uint64_t& freed) {
  if (c.number <= head_ || &c == tail_ || c.leased != 0 || c.ready == 0 ||
      (c.ready & ~c.stored) != 0)
    return eviction::impossible;
  if (!c.places || (c.ready & ~c.places->written) != 0) return eviction::unwritten;
  slab_releases releases;
  change_on_disk(c.number, [&] {
    for (auto rest = c.ready; rest != 0; rest &= rest - 1) {
      const auto index = static_cast<unsigned>(std::countr_zero(rest));
      auto& s = c.slots[index];
      side_->disk.put(
          c.at(index),
          {c.places->at[index], c.places->bytes[index],
           static_cast<std::uint32_t>(s.content.body_size()), deadline_ms_of(deadline_of(c, index)),
           static_cast<std::uint16_t>(std::min<std::uint32_t>(s.returns, 65'535)), s.redelivered});
      freed += s.footprint;
      std::move(s.content).release_through(releases);
    }
  });
  c.ready = 0;
  close(c);
  return eviction::done;
}

std::vector<slot_store::peeked_slot> slot_store::peek(std::size_t count,
                                                      std::uint64_t bytes) const {
  std::vector<peeked_slot> seen;
  const auto look_at = [&](const slot_chunk* memory, const journal::stored_chunk* disk,
                           unsigned index) -> peeked_slot {
    if (disk != nullptr && disk->has(index)) {
      const auto entry = disk->entry(index);
      return {disk->at(index),
              {},
              entry.at,
              entry.body_size,
              entry.returns,
              entry.redelivered,
              moment_of(entry.deadline_ms)};
    }
    const auto& s = memory->slots[index];
    return {memory->at(index), s.content.fork(),           {}, s.content.body_size(), s.returns,
            s.redelivered,     deadline_of(*memory, index)};
  };
  for (std::uint64_t number = 0;; ++number) {
    const auto* memory = chunks_.at_or_after(number);
    const auto* disk = side_ ? side_->disk.at_or_after(number) : nullptr;
    if (memory == nullptr && disk == nullptr) return seen;
    number = std::min(memory != nullptr ? memory->number : disk->number(),
                      disk != nullptr ? disk->number() : memory->number);
    if (memory != nullptr && memory->number != number) memory = nullptr;
    if (disk != nullptr && disk->number() != number) disk = nullptr;
    for (auto rest =
             (memory != nullptr ? memory->ready : 0) | (disk != nullptr ? disk->present() : 0);
         rest != 0; rest &= rest - 1) {
      auto one = look_at(memory, disk, static_cast<unsigned>(std::countr_zero(rest)));
      if (seen.size() == count || (!seen.empty() && one.body_size > bytes)) return seen;
      bytes -= std::min(bytes, one.body_size);
      seen.push_back(std::move(one));
    }
  }
}

void slot_store::fill(const journal::stored_chunk& chunk, unsigned index, message&& content,
                      std::uint32_t footprint) {
  auto* c = chunks_.find(chunk.number());
  if (c == nullptr) {
    c = chunk_pool<slot_chunk>::of_this_thread().take();
    c->number = chunk.number();
    chunks_.insert(c);
  }
  if (c->ready == 0 && c->number < head_) returned_.insert(c->number);
  const auto entry = chunk.entry(index);
  auto& s = c->slots[index];
  s.content = std::move(content);
  s.footprint = footprint;
  s.returns = entry.returns;
  s.redelivered = entry.redelivered;
  c->ready |= bit(index);
  c->stored |= bit(index);
  place(*c, index, entry.at, entry.bytes);
  if (const auto deadline = moment_of(entry.deadline_ms); deadline != never)
    set_deadline(*c, index, deadline);
}

std::optional<journal::stored_entry> slot_store::drop_oldest_on_disk() noexcept {
  if (on_disk() == 0) return std::nullopt;
  const auto number = first_on_disk();
  std::optional<journal::stored_entry> entry;
  change_on_disk(slot_chunk::number_of(number), [&] { entry = side_->disk.erase(number); });
  if (entry) side_->records.gone(number, *entry);
  return entry;
}

void slot_store::drop_disk() {
  side_->disk.for_each(
      [this](sequence number, const auto& entry) { side_->records.gone(number, entry); });
  side_->disk.clear();
  side_->due.clear();
  side_->overdue.clear();
}

}  // namespace baton
