#include "storage/journal/live_segments.hpp"

#include <map>
#include <random>

#include "tests/catch.hpp"

using namespace baton;
using namespace baton::journal;

using numbers = std::vector<std::uint32_t>;

TEST_CASE("a segment is free when its last reference has gone and no recovery would replay it") {
  live_segments segments;
  segments.add(1, 2, 100);
  segments.add(1, 1, 50);
  segments.add(2);
  segments.checkpointed({3, 64});
  CHECK(segments.take_free() == numbers{2});  // only settlements, which the checkpoint knows
  segments.drop(1, 1, 100, false);
  segments.drop(1, 1, 50, true);
  CHECK(segments.take_free().empty());
  CHECK(segments.live_bytes() == 100);
  segments.drop(1, 1, 100, true);
  CHECK(segments.take_free() == numbers{1});
  CHECK(segments.take_free().empty());
  CHECK(segments.size() == 0);
  CHECK(segments.live_bytes() == 0);
}

TEST_CASE("a segment that a recovery would replay is kept, whatever it holds") {
  live_segments segments;
  for (std::uint32_t s = 1; s <= 4; ++s) segments.add(s);
  CHECK(segments.take_free().size() == 0);
  segments.checkpointed({3, 5000});
  CHECK(segments.take_free() == numbers{1, 2});
  segments.checkpointed({4, 64});
  CHECK(segments.take_free() == numbers{3});
}

TEST_CASE("of segments that little keeps alive, the one with the least is worth compacting") {
  live_segments segments;
  segments.add(1, 1, 600);
  segments.add(2, 3, 90);
  segments.add(3, 1, 40);
  segments.add(4, 1, 10);
  segments.add(5);
  segments.checkpointed({4, 64});
  CHECK(segments.worth_compacting(50, 1000) == 3u);  // 4 would be replayed
  segments.drop(3, 1, 40, true);
  CHECK(segments.worth_compacting(50, 1000) == 2u);
  CHECK(segments.worth_compacting(5, 1000) == std::nullopt);
  CHECK(segments.worth_compacting(100, 1000) == 2u);
}

TEST_CASE("live bytes are those of records with a reference, whatever comes and goes") {
  std::mt19937 random{1};
  live_segments segments;
  struct kept {
    std::uint32_t segment;
    std::uint64_t references, bytes;
  };
  std::vector<kept> all;
  for (int i = 0; i < 5000; ++i) {
    if (random() % 2 == 0 || all.empty()) {
      const kept k{static_cast<std::uint32_t>(1 + i / 100), 1 + random() % 3, 16 + random() % 100};
      segments.add(k.segment, k.references, k.bytes);
      all.push_back(k);
    } else {
      auto& k = all[random() % all.size()];
      --k.references;
      segments.drop(k.segment, 1, k.bytes, k.references == 0);
      std::erase_if(all, [](const kept& each) { return each.references == 0; });
    }
    std::uint64_t bytes = 0;
    for (const auto& k : all) bytes += k.bytes;
    REQUIRE(segments.live_bytes() == bytes);
  }
  segments.checkpointed({1000, 64});
  segments.take_free();
  std::map<std::uint32_t, int> left;
  for (const auto& k : all) ++left[k.segment];
  CHECK(segments.size() == left.size());
}
