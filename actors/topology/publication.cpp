#include "actors/topology/publication.hpp"

#include <algorithm>
#include <utility>

#include "config/check.hpp"

namespace baton {

topology_publication::topology_publication()
    : latest_{std::make_shared<const topology_snapshot>()} {}

void topology_publication::publish(topology_snapshot next) {
  BATON_CHECK(next.version == version_.load(std::memory_order_relaxed) + 1);
  const std::uint64_t version = next.version;
  auto fresh = std::make_shared<const topology_snapshot>(std::move(next));
  std::vector<std::shared_ptr<const topology_snapshot>> unused;
  {
    const std::lock_guard guard{lock_};
    retired_.push_back(std::exchange(latest_, std::move(fresh)));
  }
  version_.store(version, std::memory_order_release);
  // Nobody can get a retired snapshot any more, so one holder means: only this list.
  std::erase_if(retired_, [](const auto& old) { return old.use_count() == 1; });
}

std::shared_ptr<const topology_snapshot> topology_publication::latest() const {
  const std::lock_guard guard{lock_};
  return latest_;
}

}  // namespace baton
