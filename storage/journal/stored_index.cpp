#include "storage/journal/stored_index.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "config/check.hpp"
#include "storage/journal/record.hpp"
#include "storage/memory_account.hpp"

namespace baton::journal {

namespace {

static_assert(record_alignment == 8);
constexpr unsigned offset_bits = 29;  // of an offset in units of 8
constexpr std::uint64_t excess_base = std::uint64_t{1} << 32;

std::uint64_t packed(place at) noexcept {
  return std::uint64_t{at.segment} << offset_bits | at.offset / record_alignment;
}

place unpacked(std::uint64_t value) noexcept {
  constexpr auto mask = (std::uint64_t{1} << offset_bits) - 1;
  return {static_cast<std::uint32_t>(value >> offset_bits),
          static_cast<std::uint32_t>((value & mask) * record_alignment)};
}

constexpr std::uint8_t width_for(std::uint64_t difference) noexcept {
  if (difference == 0) return 0;
  const auto bits = std::bit_width(difference);
  return static_cast<std::uint8_t>(std::bit_ceil(static_cast<unsigned>(bits + 7) / 8));
}
static_assert(width_for(255) == 1 && width_for(256) == 2 && width_for(1u << 16) == 4 &&
              width_for(UINT64_MAX) == 8);

// A node of the map: three pointers and a colour before the pair.
constexpr std::size_t node_bytes =
    4 * sizeof(void*) + sizeof(std::pair<const std::uint64_t, stored_chunk>);

}  // namespace

// -- chunk

std::size_t stored_chunk::cell_bytes_for(const std::array<std::uint8_t, columns>& widths) noexcept {
  std::size_t sum = 0;
  for (auto w : widths) sum += w;
  return sum * size;
}

std::uint8_t* stored_chunk::cell(unsigned c, unsigned index) const noexcept {
  std::size_t before = 0;
  for (unsigned i = 0; i < c; ++i) before += widths_[i];
  return cells_.get() + before * size + std::size_t{index} * widths_[c];
}

std::uint64_t stored_chunk::value(unsigned c, unsigned index) const noexcept {
  const auto read = [&]<class Number>(Number difference) {
    std::memcpy(&difference, cell(c, index), sizeof difference);
    return least_[c] + difference;
  };
  switch (widths_[c]) {
    case 0:
      return least_[c];
    case 1:
      return read(std::uint8_t{});
    case 2:
      return read(std::uint16_t{});
    case 4:
      return read(std::uint32_t{});
    default:
      return read(std::uint64_t{});
  }
}

void stored_chunk::set(unsigned c, unsigned index, std::uint64_t value) noexcept {
  const auto write = [&]<class Number>(Number difference) {
    std::memcpy(cell(c, index), &difference, sizeof difference);
  };
  const auto difference = value - least_[c];
  switch (widths_[c]) {
    case 0:
      return;
    case 1:
      return write(static_cast<std::uint8_t>(difference));
    case 2:
      return write(static_cast<std::uint16_t>(difference));
    case 4:
      return write(static_cast<std::uint32_t>(difference));
    default:
      return write(difference);
  }
}

stored_entry stored_chunk::entry(unsigned index) const noexcept {
  stored_entry made;
  made.at = unpacked(value(place_column, index));
  made.body_size = body_size(index);
  made.bytes =
      static_cast<std::uint32_t>(value(excess_column, index) + made.body_size - excess_base);
  made.deadline_ms = value(deadline_column, index);
  made.returns = static_cast<std::uint16_t>(value(returns_column, index));
  made.redelivered = (redelivered_ >> index & 1) != 0;
  return made;
}

std::uint64_t stored_chunk::earliest_deadline_ms() const noexcept {
  auto earliest = queue_place::never;
  if (widths_[deadline_column] == 0) return present_ == 0 ? earliest : least_[deadline_column];
  for (auto left = present_; left != 0; left &= left - 1) {
    const auto one = value(deadline_column, static_cast<unsigned>(std::countr_zero(left)));
    if (one != queue_place::never && (earliest == queue_place::never || one < earliest))
      earliest = one;
  }
  return earliest;
}

void stored_chunk::put(unsigned index, const stored_entry& entry) {
  BATON_CHECK(entry.at.offset % record_alignment == 0);
  fields values;
  values[place_column] = packed(entry.at);
  values[excess_column] = excess_base + entry.bytes - entry.body_size;
  values[body_size_column] = entry.body_size;
  values[deadline_column] = entry.deadline_ms;
  values[returns_column] = entry.returns;
  const auto bit = std::uint64_t{1} << index;
  present_ &= ~bit;
  if (!fits(values)) widen_for(values);
  for (unsigned c = 0; c < columns; ++c) set(c, index, values[c]);
  present_ |= bit;
  redelivered_ = (redelivered_ & ~bit) | (entry.redelivered ? bit : 0);
}

bool stored_chunk::fits(const fields& values) const noexcept {
  if (present_ == 0) return false;
  for (unsigned c = 0; c < columns; ++c)
    if (values[c] < least_[c] || width_for(values[c] - least_[c]) > widths_[c]) return false;
  return true;
}

/// Encodes all that are present anew, so that these values have a place beside them.
void stored_chunk::widen_for(const fields& values) {
  stored_chunk wider{number_};
  wider.present_ = present_;
  wider.redelivered_ = redelivered_;
  for (unsigned c = 0; c < columns; ++c) {
    auto least = values[c];
    auto most = values[c];
    for (auto left = present_; left != 0; left &= left - 1) {
      const auto one = value(c, static_cast<unsigned>(std::countr_zero(left)));
      least = std::min(least, one);
      most = std::max(most, one);
    }
    wider.least_[c] = least;
    wider.widths_[c] = width_for(most - least);
  }
  if (const auto bytes = wider.cell_bytes(); bytes > 0)
    wider.cells_.reset(new std::uint8_t[bytes]);  // written before it is read, entry by entry
  for (auto left = present_; left != 0; left &= left - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(left));
    for (unsigned c = 0; c < columns; ++c) wider.set(c, index, value(c, index));
  }
  *this = std::move(wider);
}

// -- index

stored_index::stored_index(stored_index&& other) noexcept
    : chunks_{std::move(other.chunks_)},
      size_{std::exchange(other.size_, 0)},
      body_bytes_{std::exchange(other.body_bytes_, 0)},
      memory_bytes_{std::exchange(other.memory_bytes_, 0)} {
  other.recent_ = other.chunks_.cend();
}

stored_index& stored_index::operator=(stored_index&& other) noexcept {
  if (this == &other) return *this;
  clear();
  chunks_.swap(other.chunks_);
  recent_ = chunks_.cend();
  other.recent_ = other.chunks_.cend();
  std::swap(size_, other.size_);
  std::swap(body_bytes_, other.body_bytes_);
  std::swap(memory_bytes_, other.memory_bytes_);
  return *this;
}

void stored_index::count_memory(std::size_t before, std::size_t now) noexcept {
  auto& account = memory_account::of_this_thread();
  if (now > before)
    account.created(now - before);
  else if (now < before)
    account.freed(before - now);
  memory_bytes_ += now - before;
}

stored_index::chunk_map::const_iterator stored_index::locate(std::uint64_t number) const noexcept {
  if (chunks_.empty()) return chunks_.cend();
  for (auto near : {recent_, std::prev(chunks_.cend()), chunks_.cbegin()})
    if (near != chunks_.cend() && near->first == number) return near;
  const auto found = chunks_.find(number);
  if (found != chunks_.cend()) recent_ = found;
  return found;
}

stored_index::chunk_map::iterator stored_index::locate(std::uint64_t number) noexcept {
  const auto found = std::as_const(*this).locate(number);
  return chunks_.erase(found, found);  // erases nothing: makes it one that may change
}

void stored_index::put(sequence number, const stored_entry& entry) {
  const auto of = stored_chunk::number_of(number);
  const auto index = stored_chunk::index_of(number);
  auto where = locate(of);
  if (where == chunks_.end()) {
    where = chunks_.emplace_hint(chunks_.end(), of, stored_chunk{of});
    count_memory(0, node_bytes);
  }
  auto& c = where->second;
  if (c.has(index)) {
    --size_;
    body_bytes_ -= c.body_size(index);
  }
  const auto before = c.cell_bytes();
  c.put(index, entry);
  count_memory(before, c.cell_bytes());
  ++size_;
  body_bytes_ += entry.body_size;
}

std::optional<stored_entry> stored_index::find(sequence number) const noexcept {
  const auto* c = chunk(stored_chunk::number_of(number));
  const auto index = stored_chunk::index_of(number);
  if (c == nullptr || !c->has(index)) return std::nullopt;
  return c->entry(index);
}

std::optional<stored_entry> stored_index::erase(sequence number) noexcept {
  const auto where = locate(stored_chunk::number_of(number));
  const auto index = stored_chunk::index_of(number);
  if (where == chunks_.end() || !where->second.has(index)) return std::nullopt;
  auto& c = where->second;
  const auto was = c.entry(index);
  c.drop(index);
  --size_;
  body_bytes_ -= was.body_size;
  if (c.present() == 0) remove(where);
  return was;
}

const stored_chunk* stored_index::at_or_after(std::uint64_t number) const noexcept {
  if (recent_ != chunks_.cend() && recent_->first == number) return &recent_->second;
  const auto found = chunks_.lower_bound(number);
  return found == chunks_.end() ? nullptr : &found->second;
}

std::optional<stored_chunk> stored_index::take_chunk(std::uint64_t number) noexcept {
  const auto where = locate(number);
  if (where == chunks_.end()) return std::nullopt;
  auto& c = where->second;
  size_ -= static_cast<unsigned>(std::popcount(c.present()));
  for (auto left = c.present(); left != 0; left &= left - 1)
    body_bytes_ -= c.body_size(static_cast<unsigned>(std::countr_zero(left)));
  count_memory(c.cell_bytes(), 0);
  std::optional<stored_chunk> taken{std::move(c)};
  c.widths_ = {};
  remove(where);
  return taken;
}

void stored_index::remove(chunk_map::iterator emptied) noexcept {
  count_memory(node_bytes + emptied->second.cell_bytes(), 0);
  if (recent_ == emptied) recent_ = chunks_.cend();
  chunks_.erase(emptied);
}

void stored_index::mark_all_redelivered() noexcept {
  for (auto& [number, c] : chunks_) c.mark_all_redelivered();
}

void stored_index::clear() noexcept {
  count_memory(memory_bytes_, 0);
  chunks_.clear();
  recent_ = chunks_.cend();
  size_ = body_bytes_ = 0;
}

}  // namespace baton::journal
