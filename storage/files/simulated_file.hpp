#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "config/simulation_random.hpp"
#include "storage/files/sparse_bytes.hpp"

namespace baton {

/// A file of the simulation: what its readers see, what the disk holds for certain, and the changes
/// in between that a sync makes durable and a power cut may lose, keep, tear and reorder.
class simulated_file {
public:
  /// What is read: the page cache.
  const sparse_bytes& contents() const noexcept { return contents_; }

  /// What is left when the power goes and nothing unsynced is kept.
  const sparse_bytes& durable() const noexcept { return durable_; }

  void preallocate(std::uint64_t offset, std::uint64_t length);
  void write(std::uint64_t offset, byte_view bytes);
  void truncate(std::uint64_t size);

  /// Everything becomes durable.
  void sync();

  /// Some of what was unsynced becomes durable. The rest counts as clean as well, as on Linux: it
  /// is read until its page is dropped, and never written.
  void fail_sync(simulation_random& dice);

  /// Synced whole pages are read from the disk again.
  void drop_pages(std::uint64_t offset, std::uint64_t length);

  /// The disk keeps of the unsynced changes what the dice say; that is then what is read.
  void lose_power(simulation_random& dice);

  /// Damages the disk, and what is read of it.
  void damage(std::uint64_t offset, byte_view bytes);

private:
  struct change {
    enum class kind : std::uint8_t { allocate, write, truncate };

    kind what;
    std::uint64_t offset;  // of a truncate: the size
    std::uint64_t length;
    std::vector<std::uint8_t> bytes;
  };

  void add(change made);
  void settle(simulation_random& dice, bool keeps_metadata);
  static void apply(const change& made, sparse_bytes& to);

  sparse_bytes contents_;
  sparse_bytes durable_;
  std::vector<change> unsynced_;  // in order
  bool is_unsure_ = false;        // after a failed sync: clean pages may differ from the disk's
};

}  // namespace baton
