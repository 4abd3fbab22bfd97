// What a queue has in the journal: what it tells it, and what it keeps there instead of in memory.

#include <algorithm>
#include <bit>
#include <utility>

#include "actors/queue/queue_core.hpp"
#include "config/check.hpp"

namespace baton {

namespace {

// How many messages are written anew before something else has its turn.
constexpr std::size_t relocated_at_once = 1024;

}  // namespace

void queue_core::store(queue_id id, bool all, moment wall_offset) {
  store_all_ = all;
  moving_ = std::make_unique<moving>();
  slots_.record(id, wall_offset);
}

void queue_core::recover(journal::stored_index found, sequence next) {
  BATON_CHECK(stores() && totals_.published == 0);
  totals_.ready = found.size();
  totals_.ready_bytes = found.body_bytes();
  slots_.recover(std::move(found), next);
  drop_excess();  // the log may lack the end of what had to go for a younger one
}

queue_core::news queue_core::take_news() {
  news all;
  auto* records = slots_.records();
  if (records == nullptr) return all;
  if (slots_.next() != records->first_new()) {
    journal::record_writer writer;
    slots_.encode_new(writer, all.sequences);
    all.messages = writer.take();
    records->recorded_until(slots_.next());
  }
  if (!records->empty()) {
    all.changes = records->take_records();
    all.drops = records->take_drops();
  }
  return all;
}

void queue_core::evict(std::uint64_t most) {
  if (!stores() || totals_.held_bytes <= most) return;
  // What comes next stays; behind it the oldest go first, as they have been written.
  const auto bytes_kept = std::min(most / 2, bytes_ahead);
  moving_->evict_at = std::max(moving_->evict_at, slots_.end_of_head(messages_ahead, bytes_kept));
  std::uint64_t freed = 0;
  while (totals_.held_bytes - freed > most) {
    auto* c = slots_.evictable_at_or_after(moving_->evict_at);
    if (c == nullptr) {
      moving_->evict_at = 0;  // some may have become evictable since
      break;
    }
    const auto number = c->number;
    if (slots_.evict(*c, freed) == slot_store::eviction::unwritten) break;
    moving_->evict_at = number + 1;
  }
  totals_.held_bytes -= freed;
}

std::vector<queue_core::wanted_message> queue_core::take_wanted(bool for_get, std::uint64_t most) {
  std::vector<wanted_message> wanted;
  if (slots_.on_disk() == 0) return wanted;
  const auto want = [&](const journal::stored_chunk& c) {
    moving_->loading.push_back(c.number());
    c.for_each([&](sequence number, const auto& entry) {
      ++moving_->loading_messages;
      wanted.push_back({number, entry.at});
    });
  };
  const auto is_loading = [&](std::uint64_t number) {
    return std::find(moving_->loading.begin(), moving_->loading.end(), number) !=
           moving_->loading.end();
  };
  for (auto number : slots_.take_overdue())
    if (const auto* c = slots_.disk().chunk(number); c != nullptr && !is_loading(number)) want(*c);
  const bool to_drop = std::exchange(moving_->read_to_drop, false);
  if (!for_get && !to_drop && consumers_.front() == consumer_table::none) return wanted;

  auto ahead = slots_.ready_ahead_of_disk(messages_ahead) + moving_->loading_messages;
  std::uint64_t bytes = 0;
  // In halves: a request for every chunk that was handed out would read in small pieces.
  if (ahead > messages_ahead / 2) return wanted;
  for (const auto* c = slots_.disk().first();
       c != nullptr && ahead < messages_ahead && bytes < std::min(most, bytes_ahead);
       c = slots_.disk().at_or_after(c->number() + 1)) {
    if (is_loading(c->number())) continue;
    const auto before = wanted.size();
    want(*c);
    ahead += wanted.size() - before;
    c->for_each([&](sequence, const auto& entry) { bytes += entry.body_size; });
  }
  return wanted;
}

std::size_t queue_core::loaded(std::vector<read_message>&& read) {
  std::size_t lost = 0;
  for (std::span<read_message> rest{read}; !rest.empty();) {
    const auto number = slot_chunk::number_of(rest.front().number);
    const auto end = std::find_if(rest.begin(), rest.end(), [number](const auto& each) {
      return slot_chunk::number_of(each.number) != number;
    });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    std::erase(moving_->loading, number);
    moving_->loading_messages -= count;
    if (const auto chunk = slots_.take_from_disk(number)) lost += load(*chunk, rest.first(count));
    rest = rest.subspan(count);
  }
  drop_excess();
  return lost;
}

std::size_t queue_core::load(const journal::stored_chunk& from, std::span<read_message> read) {
  std::size_t lost = 0;
  auto left = from.present();
  for (auto& [number, at, content] : read) {
    const auto index = slot_chunk::index_of(number);
    if (!from.has(index)) continue;  // it has gone meanwhile
    const auto entry = from.entry(index);
    if (!content && entry.at != at) continue;  // it was written anew meanwhile
    left &= ~(std::uint64_t{1} << index);
    if (!content) {
      --totals_.ready;
      totals_.ready_bytes -= entry.body_size;
      slots_.records()->gone(number, entry);
      ++lost;
      continue;
    }
    const auto size = footprint_of(content);
    totals_.held_bytes += size;
    slots_.fill(from, index, std::move(content), size);
  }
  // The rest is to be read again, or was not asked for: it came to the disk meanwhile.
  for (; left != 0; left &= left - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(left));
    slots_.put_on_disk(from.at(index), from.entry(index));
  }
  return lost;
}

queue_core::relocation queue_core::relocate(std::uint32_t segment) {
  relocation made;
  if (!stores()) return made;
  journal::record_writer writer;
  slots_.encode_anew(segment, relocated_at_once, writer, made.sequences);
  made.messages = writer.take();
  for (const auto* c = slots_.disk().first();
       c != nullptr && made.to_read.size() < relocated_at_once;
       c = slots_.disk().at_or_after(c->number() + 1))
    c->for_each([&](sequence number, const auto& entry) {
      if (entry.at.segment == segment) made.to_read.push_back({number, entry.at});
    });
  return made;
}

queue_core::relocation queue_core::relocate(std::span<const read_message> read) {
  relocation made;
  journal::record_writer writer;
  for (const auto& [number, at, content] : read)
    if (content && slots_.encode_anew(number, at, content, writer))
      made.sequences.push_back(number);
  made.messages = writer.take();
  return made;
}

void queue_core::drop_oldest_on_disk() {
  const auto gone = slots_.drop_oldest_on_disk();
  BATON_CHECK(gone.has_value());
  --totals_.ready;
  totals_.ready_bytes -= gone->body_size;
  ++totals_.dropped;
}

void queue_core::drop_disk() {
  if (slots_.on_disk() == 0) return;
  totals_.ready -= slots_.on_disk();
  totals_.ready_bytes -= slots_.disk().body_bytes();
  slots_.drop_disk();
}

}  // namespace baton
