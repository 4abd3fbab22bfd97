#include "storage/stream/segment_table.hpp"

#include "tests/catch.hpp"

using namespace baton;
using namespace baton::stream_log;
using journal::place;
using journal::reference_drop;

namespace {

constexpr std::uint64_t queue = 7;

using drops = std::vector<reference_drop>;

/// A table with chunks of 10 messages and 96 bytes in each of the segments, all synced, taken at
/// 10, 20, 30, ...
segment_table table_of(std::uint32_t segments, std::uint32_t chunks) {
  segment_table made{queue};
  drops none;
  std::uint64_t n = 0;
  for (std::uint32_t s = 1; s <= segments; ++s)
    for (std::uint32_t c = 0; c < chunks; ++c, ++n)
      made.note({{s, 88 + 120 * c}, 96}, n * 10, 10, (n + 1) * 10, none);
  made.synced(n * 10);
  CHECK(none.empty());
  return made;
}

}  // namespace

TEST_CASE("a new stream has no message, and the next one gets offset 0") {
  segment_table t{queue};
  CHECK(t.empty());
  CHECK(t.first_offset() == 0);
  CHECK(t.next_offset() == 0);
  CHECK(t.last_chunk() == 0);
  CHECK(!t.find(0));
  CHECK(!t.find_time(0));
  CHECK(t.retire(0, UINT64_MAX).empty());
}

TEST_CASE("an offset is found in the segment that holds it, and before the oldest from there on") {
  auto t = table_of(3, 2);
  CHECK(t.first_offset() == 0);
  CHECK(t.next_offset() == 60);
  CHECK(t.last_chunk() == 50);
  CHECK(t.last_time_ms() == 60);
  for (std::uint64_t offset = 0; offset < 60; ++offset) {
    const auto s = t.find(offset);
    REQUIRE(s);
    CHECK(s->from == place{static_cast<std::uint32_t>(1 + offset / 20), 88});
    CHECK(s->end == 88 + 120 + 96);
    CHECK(s->next == (offset / 20 + 1) * 20);
  }
  CHECK(!t.find(60));
  t.retire(500, 0);
  CHECK(t.first_offset() == 20);
  CHECK(t.find(3)->from == place{2, 88});
}

TEST_CASE("a reader goes on where it stopped, if that is still in the log") {
  auto t = table_of(2, 3);
  CHECK(t.find(10, {1, 208})->from == place{1, 208});
  CHECK(t.find(30, {1, 424})->from == place{2, 88});   // in the next segment
  CHECK(t.find(10, {1, 5000})->from == place{1, 88});  // behind the segment's end
  CHECK(t.find(10, {9, 88})->from == place{1, 88});    // elsewhere
}

TEST_CASE("a time is found in the segment of the first chunk that is as young") {
  auto t = table_of(3, 2);
  for (std::uint64_t ms = 0; ms <= 60; ++ms) {
    const auto s = t.find_time(ms);
    REQUIRE(s);
    CHECK(s->from.segment == (ms <= 20 ? 1 : ms <= 40 ? 2 : 3));
  }
  CHECK(!t.find_time(61));
}

TEST_CASE("in a long segment a search begins near what is looked for") {
  segment_table t{queue};
  drops none;
  constexpr std::uint32_t size = 10'000;
  for (std::uint32_t n = 0; n < 200; ++n) t.note({{1, 88 + n * size}, size}, n, 1, n, none);
  for (std::uint32_t n = 0; n < 200; ++n) {
    const auto here = 88 + n * size;
    const auto found = t.find(n)->from.offset;
    CHECK((found <= here && here - found <= (256 << 10) + size));
    const auto by_time = t.find_time(n)->from.offset;
    CHECK((by_time <= here && here - by_time <= (256 << 10) + size));
  }
}

TEST_CASE("of chunks that were taken at the same time the first one is found") {
  segment_table t{queue};
  drops none;
  constexpr std::uint32_t size = 100'000;
  for (std::uint32_t n = 0; n < 50; ++n) t.note({{1, 88 + n * size}, size}, n, 1, 5, none);
  CHECK(t.find_time(5)->from.offset == 88);
}

TEST_CASE("retention lets go of whole segments from the oldest on, and never of the newest") {
  SECTION("by bytes") {
    for (std::uint64_t most = 0; most < 700; most += 7) {
      auto t = table_of(3, 2);
      CHECK(t.bytes() == 3 * 192);
      const auto gone = t.retire(most, 0);
      CHECK(gone.size() == (most < 2 * 192 ? 2u : most < 3 * 192 ? 1u : 0u));
      for (std::uint32_t i = 0; i < gone.size(); ++i)
        CHECK(gone[i] == reference_drop{i + 1, queue, 2, 192});
      CHECK(t.bytes() == (3 - gone.size()) * 192);
      CHECK(t.first_offset() == gone.size() * 20);
    }
  }
  SECTION("by age") {
    for (std::uint64_t ms = 0; ms < 80; ++ms) {
      auto t = table_of(3, 2);
      CHECK(t.retire(UINT64_MAX, ms).size() == (ms <= 20 ? 0u : ms <= 40 ? 1u : 2u));
      CHECK(t.next_offset() == 60);
    }
  }
}

TEST_CASE("the newest segment that begins with what is on the disk for good is not retired") {
  auto t = table_of(2, 1);
  drops ended;
  t.note({{2, 208}, 96}, 20, 10, 30, ended);
  t.note({{3, 88}, 96}, 30, 10, 40, ended);
  t.note({{4, 88}, 96}, 40, 10, 50, ended);
  CHECK(t.retire(0, UINT64_MAX) == drops{{1, queue, 1, 96}});
  t.synced(30);
  CHECK(t.retire(0, UINT64_MAX).empty());
  t.synced(40);
  CHECK(t.retire(0, UINT64_MAX) == drops{{2, queue, 2, 192}});
  t.synced(50);
  CHECK(t.retire(0, UINT64_MAX) == drops{{3, queue, 1, 96}});
  CHECK(t.first_offset() == 40);
}

TEST_CASE("after a failed sync the places noted last count, and the others are dropped once") {
  auto t = table_of(1, 2);
  drops ended;
  t.note({{1, 328}, 100}, 20, 10, 30, ended);
  t.note({{2, 88}, 100}, 30, 10, 40, ended);
  t.note({{2, 208}, 50}, 40, 1, 50, ended);
  CHECK(ended.empty());
  // The log goes on behind what was synced.
  t.note({{3, 88}, 100}, 20, 10, 30, ended);
  CHECK(ended == drops{{2, queue, 2, 150}, {1, queue, 1, 100}});
  CHECK(t.next_offset() == 30);
  CHECK(t.find(10)->end == 88 + 120 + 96);
  CHECK(t.find(20)->from == place{3, 88});
  CHECK(!t.find(30));
  CHECK(t.bytes() == 192 + 100);
  CHECK(t.last_chunk() == 20);
  ended.clear();
  t.note({{3, 200}, 100}, 30, 10, 40, ended);
  t.note({{4, 88}, 50}, 40, 1, 50, ended);
  CHECK(ended.empty());
  t.synced(41);
  CHECK(t.retire(0, 0) == drops{{1, queue, 2, 192}, {3, queue, 2, 200}});
}

TEST_CASE("offsets of messages that were lost are not given again") {
  auto t = table_of(1, 1);
  t.skip_to(5);
  CHECK(t.next_offset() == 10);
  t.skip_to(100);
  CHECK(t.next_offset() == 100);
  CHECK(t.find(50)->next == 100);
  drops ended;
  t.note({{2, 88}, 96}, 100, 10, 30, ended);
  CHECK(t.next_offset() == 110);
}
