#include "storage/files/simulated_file.hpp"

#include <algorithm>
#include <utility>

namespace baton {

namespace {

/// What a disk writes whole or not at all.
constexpr std::uint64_t sector_size = 512;

/// Decides which sectors of the unsynced writes reached the disk before the power went. A sector
/// holds what it held at one moment in time: once a write to it was lost, later ones are as well.
class sector_fate {
public:
  explicit sector_fate(simulation_random& dice)
      : dice_{dice}, mood_{static_cast<mood>(dice.below(4))}, lost_once_in_{2 + dice.below(8)} {}

  bool keeps_all() const noexcept { return mood_ == mood::all; }
  bool keeps_nothing() const noexcept { return mood_ == mood::nothing; }

  void begin_write() { loses_write_ = dice_.once_in(lost_once_in_); }

  bool keeps(std::uint64_t sector) {
    if (mood_ == mood::all) return true;
    if (mood_ == mood::nothing || sector >= lost_from_ || lost_.contains(sector)) return false;
    const bool is_lost = mood_ == mood::whole_writes ? loses_write_ : dice_.once_in(lost_once_in_);
    if (is_lost) lost_.insert(sector);
    return !is_lost;
  }

  /// What comes after a truncate that was lost builds on zeros that are not there.
  void lose_from(std::uint64_t sector) { lost_from_ = std::min(lost_from_, sector); }

private:
  enum class mood : std::uint8_t { all, nothing, whole_writes, single_sectors };

  simulation_random& dice_;
  const mood mood_;
  const std::uint64_t lost_once_in_;
  bool loses_write_ = false;
  std::uint64_t lost_from_ = UINT64_MAX;
  std::set<std::uint64_t> lost_;
};

}  // namespace

void simulated_file::preallocate(std::uint64_t offset, std::uint64_t length) {
  add({change::kind::allocate, offset, length, {}});
}

void simulated_file::write(std::uint64_t offset, byte_view bytes) {
  if (bytes.empty()) return;
  add({change::kind::write, offset, bytes.size(), {bytes.begin(), bytes.end()}});
}

void simulated_file::truncate(std::uint64_t size) { add({change::kind::truncate, size, 0, {}}); }

void simulated_file::add(change made) {
  apply(made, contents_);
  unsynced_.push_back(std::move(made));
}

void simulated_file::apply(const change& made, sparse_bytes& to) {
  switch (made.what) {
    case change::kind::allocate:
      return to.allocate(made.offset, made.length);
    case change::kind::write:
      return to.write(made.offset, made.bytes);
    case change::kind::truncate:
      return to.resize(made.offset);
  }
}

void simulated_file::sync() {
  for (const change& made : std::exchange(unsynced_, {})) apply(made, durable_);
}

void simulated_file::fail_sync(simulation_random& dice) {
  settle(dice, false);
  // Size and allocation stay dirty, so that a later sync leaves zeros where the bytes were lost.
  for (change& made : unsynced_) {
    if (made.what != change::kind::write) continue;
    made.what = change::kind::allocate;
    made.bytes = {};
  }
  is_unsure_ = true;
}

void simulated_file::drop_pages(std::uint64_t offset, std::uint64_t length) {
  if (!is_unsure_) return;  // the disk would give back the same
  const std::uint64_t end = length == 0 ? contents_.size() : offset + length;
  std::set<std::uint64_t> dirty;
  for (const change& made : unsynced_) {
    if (made.what != change::kind::write) continue;
    const std::uint64_t last = (made.offset + made.length - 1) / sparse_bytes::page_size;
    for (std::uint64_t page = made.offset / sparse_bytes::page_size; page <= last; ++page)
      dirty.insert(page);
  }
  const std::uint64_t first = (offset + sparse_bytes::page_size - 1) / sparse_bytes::page_size;
  for (std::uint64_t page = first; page * sparse_bytes::page_size < contents_.size(); ++page) {
    const std::uint64_t page_end = (page + 1) * sparse_bytes::page_size;
    if (page_end > end && end < contents_.size()) break;
    if (!dirty.contains(page)) contents_.copy_page(page, durable_);
  }
}

void simulated_file::lose_power(simulation_random& dice) {
  settle(dice, true);
  unsynced_.clear();
  contents_ = durable_;
  is_unsure_ = false;
}

void simulated_file::settle(simulation_random& dice, bool keeps_metadata) {
  sector_fate fate{dice};
  // Sizes and allocations go through the file system's own journal: kept in order, up to some
  // point.
  std::size_t known = fate.keeps_all() ? unsynced_.size() : dice.below(unsynced_.size() + 1);
  if (fate.keeps_nothing() || !keeps_metadata) known = 0;
  for (std::size_t i = 0; i < unsynced_.size(); ++i) {
    const change& made = unsynced_[i];
    if (made.what != change::kind::write) {
      if (i < known)
        apply(made, durable_);
      else if (made.what == change::kind::truncate)
        fate.lose_from(made.offset / sector_size);
      continue;
    }
    if (i < known) durable_.allocate(made.offset, made.length);
    fate.begin_write();
    const std::uint64_t end = std::min(made.offset + made.length, durable_.size());
    for (std::uint64_t at = made.offset; at < end;) {
      const std::uint64_t next = std::min(end, (at / sector_size + 1) * sector_size);
      if (fate.keeps(at / sector_size))
        durable_.write(at, byte_view{made.bytes}.subspan(at - made.offset, next - at));
      at = next;
    }
  }
}

void simulated_file::damage(std::uint64_t offset, byte_view bytes) {
  contents_.write(offset, bytes);
  durable_.write(offset, bytes);
}

}  // namespace baton
