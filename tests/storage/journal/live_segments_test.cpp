#include "storage/journal/live_segments.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "tests/catch.hpp"

using namespace baton;
using namespace baton::journal;

TEST_CASE("a segment is needed until the last reference to it has been dropped") {
  live_segments segments;
  segments.add(1, 7, 2, 100);
  segments.add(1, 8, 1, 50);
  CHECK(segments.oldest() == 1u);
  CHECK(segments.live_bytes() == 150);
  segments.drop({1, 7, 1, 50});
  segments.drop({1, 8, 1, 50});
  CHECK(segments.is_needed(1));
  CHECK(segments.live_bytes() == 50);
  segments.drop({1, 7, 1, 50});
  CHECK(!segments.is_needed(1));
  CHECK(segments.live_bytes() == 0);
  segments.remove(1);
  CHECK(segments.size() == 0);
  CHECK(segments.oldest() == std::nullopt);
}

TEST_CASE("who has references to a segment can be asked") {
  live_segments segments;
  segments.add(1, 7, 2, 100);
  segments.add(1, 8, 1, 50);
  segments.add(2, 9, 1, 50);
  auto queues = segments.queues_in(1);
  std::sort(queues.begin(), queues.end());
  CHECK(queues == std::vector<std::uint64_t>{7, 8});
  segments.drop({1, 7, 2, 100});
  CHECK(segments.queues_in(1) == std::vector<std::uint64_t>{8});
  CHECK(segments.queues_in(3).empty());
}

TEST_CASE("a segment is needed while it has the last value of a definition") {
  live_segments segments;
  segments.define("a", 1);
  segments.define("b", 1);
  segments.begin(2);
  CHECK(segments.is_needed_for_definitions(1));
  segments.define("a", 2);
  CHECK(segments.is_needed(1));
  segments.undefine("b");
  CHECK(!segments.is_needed(1));
  CHECK(segments.is_needed(2));
  segments.undefine("b");
  segments.undefine("unheard of");
  segments.undefine("a");
  CHECK(!segments.is_needed(2));
}

TEST_CASE("a segment with messages is not needed for definitions alone") {
  live_segments segments;
  segments.define("a", 1);
  segments.add(1, 7, 1, 10);
  CHECK(!segments.is_needed_for_definitions(1));
  segments.drop({1, 7, 1, 10});
  CHECK(segments.is_needed_for_definitions(1));
}

TEST_CASE("segments that were cut off hold up nobody, and their references can still be dropped") {
  live_segments segments;
  for (std::uint32_t s = 1; s <= 3; ++s) segments.add(s, 7, 1, 10);
  segments.begin(4);
  segments.cut_behind(1);
  CHECK(segments.size() == 1);
  segments.add(5, 7, 1, 10);
  segments.drop({1, 7, 1, 10});
  segments.remove(1);
  CHECK(segments.oldest() == 5u);
  CHECK(segments.references() == 3);
  segments.drop({3, 7, 1, 10});
  segments.drop({2, 7, 1, 10});
  CHECK(segments.references() == 1);
  CHECK(segments.oldest() == 5u);
}

TEST_CASE("live bytes are those of references that there are, whatever comes and goes") {
  std::mt19937 random{1};
  live_segments segments;
  std::vector<reference_drop> all;
  for (int i = 0; i < 5000; ++i) {
    if (random() % 2 == 0 || all.empty()) {
      const reference_drop k{static_cast<std::uint32_t>(1 + i / 100), random() % 3,
                             1 + random() % 3, 16 + random() % 100};
      segments.add(k.segment, k.queue, k.references, k.bytes);
      all.push_back(k);
    } else {
      std::swap(all[random() % all.size()], all.back());
      segments.drop(all.back());
      all.pop_back();
    }
    std::uint64_t bytes = 0;
    for (const auto& k : all) bytes += k.bytes;
    REQUIRE(segments.live_bytes() == bytes);
  }
  std::map<std::uint32_t, int> left;
  for (const auto& k : all) ++left[k.segment];
  for (std::uint32_t s = 1; s <= 50; ++s) CHECK(segments.is_needed(s) == (left.count(s) == 1));
}
