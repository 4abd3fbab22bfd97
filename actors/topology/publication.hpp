#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/topology/snapshot.hpp"

namespace baton {

/// Where the topology's writer puts each new version, and where all loops find it.
///
/// The version counter is raised after the snapshot is in place, and before the writer answers
/// whoever asked for the change. So a loop that compares versions after the answer was sent sees
/// the change; a 64-bit counter never wraps, so equal versions are proof.
class topology_publication {
public:
  topology_publication();

  /// For the writer. `next.version` is one more than the one before.
  void publish(topology_snapshot next);

  /// One load of a cache line that is hardly ever written.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  /// At least as new as what version() last returned to this thread. Takes a lock: for when the
  /// version has changed.
  std::shared_ptr<const topology_snapshot> latest() const;

private:
  alignas(64) std::atomic<std::uint64_t> version_{0};
  alignas(64) mutable std::mutex lock_;
  std::shared_ptr<const topology_snapshot> latest_;
  /// Versions that were replaced while a loop may still have held them. The writer lets them go, at
  /// a later publish, so that no loop ever spends its turn on freeing a large part of one.
  std::vector<std::shared_ptr<const topology_snapshot>> retired_;
};

}  // namespace baton
