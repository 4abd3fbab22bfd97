#include "actors/queue/queue_allowance.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace baton;

namespace {

constexpr std::uint64_t mib = 1 << 20;

// What `queues` hold that are filled side by side, a little at a time, until each is held up.
std::uint64_t filled(const queue_allowance& allowance, std::size_t queues) {
  std::vector<std::uint64_t> held(queues);
  std::uint64_t total = 0;
  for (bool grows = true; grows;) {
    grows = false;
    for (auto& one : held) {
      if (one >= allowance.bytes(total)) continue;
      one += mib / 16;
      total += mib / 16;
      grows = true;
    }
  }
  return total;
}

}  // namespace

TEST_CASE("a queue alone may hold its share, be it large or small") {
  for (std::uint64_t share : {1, 100, 256, 400}) {
    INFO(share);
    const auto total = filled({share * mib, 512 * mib}, 1);
    CHECK(total <= share * mib);
    CHECK(total + mib >= share * mib);
  }
}

TEST_CASE("queues that are filled together leave as much below the line as each of them holds") {
  const queue_allowance allowance{256 * mib, 512 * mib};
  for (std::size_t queues : {2, 3, 8, 64}) {
    INFO(queues);
    const auto total = filled(allowance, queues);
    CHECK(total <= (512 * mib - total / queues) + mib / 16 * queues);
    CHECK(total + 2 * total / queues >= 512 * mib);
  }
}

TEST_CASE("queues with large shares leave something below the line, too") {
  for (std::uint64_t share : {400, 512, 900}) {
    INFO(share);
    CHECK(filled({share * mib, 512 * mib}, 20) < 512 * mib);
  }
}

TEST_CASE("a queue that holds next to nothing is not held up, however much others hold") {
  const queue_allowance allowance{256 * mib, 512 * mib};
  CHECK(allowance.bytes(512 * mib) == queue_allowance::floor);
  CHECK(allowance.bytes(900 * mib) == queue_allowance::floor);
}

TEST_CASE("a share below the floor is the share") {
  CHECK(queue_allowance{1000, 512 * mib}.bytes(900 * mib) == 1000);
}
