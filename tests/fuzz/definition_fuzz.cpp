// Any bytes as what the journal has stored of a topology: lengths and bytes of keys and values, in
// turns. Whatever can be put back is stored as it came, and comes back a second time whole.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "actors/topology/topology_core.hpp"
#include "storage/byte_view.hpp"

using namespace baton;

namespace {

struct no_target final : queue_target {};

struct node {
  std::vector<topology_core::left_out> restore(std::vector<definition> stored) {
    return core.restore(std::move(stored),
                        [](const queue_entry&) { return std::make_shared<no_target>(); });
  }

  topology_publication publication;
  topology_core core{publication, {}, false, [] { return std::array<std::uint8_t, 16>{}; }};
};

std::string take_text(byte_view& left) {
  if (left.empty()) return {};
  const std::size_t size = std::min<std::size_t>(left[0], left.size() - 1);
  std::string text{as_text(left.subspan(1, size))};
  left = left.subspan(1 + size);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<definition> stored;
  for (byte_view left{data, size}; !left.empty();) {
    auto key = take_text(left);
    stored.push_back({std::move(key), take_text(left)});
  }
  node first;
  for (const auto& each : first.restore(stored))
    if (each.why.empty()) std::abort();
  if (!first.core.take_changes().empty()) std::abort();
  const auto all = first.core.all_definitions();
  if (all.size() > stored.size()) std::abort();

  node second;
  if (!second.restore(all).empty()) std::abort();
  if (second.core.all_definitions().size() != all.size()) std::abort();
  for (const auto& each : second.core.list_queues())
    second.core.queue_closed(each.queue->vhost, each.queue->id);
  for (const auto& each : second.core.list_vhosts()) second.core.remove_vhost(each.name);
  std::size_t gone = 0;
  for (const auto& each : second.core.take_changes()) gone += each.value ? 0 : 1;
  if (gone != all.size()) std::abort();
  return 0;
}
