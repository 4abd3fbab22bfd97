#include "actors/channel/confirm_tracker.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/catch.hpp"

using namespace baton;

namespace {

std::vector<confirmation> take(confirm_tracker& tracker) {
  std::vector<confirmation> out;
  tracker.take(out);
  return out;
}

void publish(confirm_tracker& tracker, int count) {
  for (int i = 0; i < count; ++i) tracker.publish();
}

using list = std::vector<confirmation>;

}  // namespace

TEST_CASE("publishes are numbered from 1 and a contiguous prefix is one ack") {
  confirm_tracker tracker;
  CHECK(tracker.publish() == 1);
  publish(tracker, 199);
  for (std::uint64_t first = 1; first <= 193; first += 64)
    tracker.complete(first, first == 193 ? 8 : 64);
  CHECK(take(tracker) == list{{200, true, false}});
  CHECK(tracker.open() == 0);
  CHECK(take(tracker).empty());
}

TEST_CASE("what completes behind an open publish is acked singly") {
  confirm_tracker tracker;
  publish(tracker, 5);
  tracker.complete(2, 2);
  CHECK(take(tracker) == list{{2, false, false}, {3, false, false}});
  tracker.complete(5, 1);
  tracker.complete(1, 1);
  CHECK(take(tracker) == list{{1, false, false}, {5, false, false}});
  tracker.complete(4, 1);
  CHECK(take(tracker) == list{{4, false, false}});
}

TEST_CASE("a multiple ack stops at a nacked publish") {
  confirm_tracker tracker;
  publish(tracker, 6);
  tracker.complete(1, 6, 0b001100);
  CHECK(take(tracker) == list{{2, true, false}, {4, true, true}, {6, true, false}});
}

TEST_CASE("a single refused publish is nacked alone") {
  confirm_tracker tracker;
  publish(tracker, 3);
  tracker.complete(1, 3, 0b010);
  CHECK(take(tracker) == list{{1, false, false}, {2, false, true}, {3, false, false}});
}

TEST_CASE("whatever the order of completions each publish is settled once, and rightly") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random{seed};
    confirm_tracker tracker;
    std::uint64_t published = 0;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> under_way;
    std::set<std::uint64_t> open;        // by the publisher's account: not heard of
    std::map<std::uint64_t, bool> done;  // completed, not told; true: refused

    auto hear = [&] {
      for (const auto& c : take(tracker)) {
        std::vector<std::uint64_t> covered;
        auto end = open.upper_bound(c.tag);
        covered.assign(c.multiple ? open.begin() : open.lower_bound(c.tag), end);
        REQUIRE(!covered.empty());
        REQUIRE(covered.back() == c.tag);
        bool right = true;
        for (auto tag : covered) {
          auto completed = done.find(tag);
          right = right && completed != done.end() && completed->second == c.refused;
          if (completed != done.end()) done.erase(completed);
          open.erase(tag);
        }
        REQUIRE(right);
      }
      REQUIRE(done.empty());
      REQUIRE(tracker.open() == open.size());
    };
    auto complete_one = [&] {
      std::swap(under_way[random() % std::min<std::size_t>(under_way.size(), 1 + seed % 9)],
                under_way.front());
      auto [first, count] = under_way.front();
      under_way.erase(under_way.begin());
      std::uint64_t refused =
          random() % 3 == 0 ? random() & ((std::uint64_t{random()} << 32) | random()) : 0;
      tracker.complete(first, count, refused);
      for (std::uint32_t i = 0; i < count; ++i) done.emplace(first + i, (refused >> i & 1) != 0);
    };

    for (int i = 0; i < 300; ++i) {
      auto count = static_cast<std::uint32_t>(1 + random() % 64);
      for (std::uint32_t n = 0; n < count; ++n) {
        ++published;
        if (tracker.publish() != published) FAIL("numbered wrongly");
        open.insert(published);
      }
      under_way.emplace_back(published - count + 1, count);
      while (under_way.size() > random() % 12) complete_one();
      if (random() % 2 == 0) hear();
    }
    while (!under_way.empty()) complete_one();
    hear();
    CHECK(open.empty());
  }
}
