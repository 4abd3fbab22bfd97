#include <map>
#include <random>
#include <vector>

#include "storage/journal/segment.hpp"
#include "storage/journal/stored_index.hpp"
#include "storage/memory_account.hpp"
#include "tests/catch.hpp"

using namespace baton;
using namespace baton::journal;

namespace {

using model = std::map<sequence, stored_entry>;

model contents(const stored_index& index) {
  model all;
  index.for_each([&](sequence number, const stored_entry& e) { all.emplace(number, e); });
  return all;
}

void check_same(const stored_index& index, const model& expected) {
  CHECK(contents(index) == expected);
  CHECK(index.size() == expected.size());
  std::uint64_t body_bytes = 0;
  for (const auto& [number, e] : expected) body_bytes += e.body_size;
  CHECK(index.body_bytes() == body_bytes);
  CHECK(index.empty() == expected.empty());
  CHECK((index.memory_bytes() == 0) == expected.empty());
}

/// What messages have: mostly little, and sometimes all that a field can hold.
class entry_maker {
public:
  explicit entry_maker(std::uint32_t seed) : dice_{seed} {}

  std::uint64_t below(std::uint64_t limit) { return dice_() % limit; }
  stored_entry make() {
    stored_entry made;
    const bool wild = below(50) == 0;
    if (below(40) == 0) segment_ += 1 + static_cast<std::uint32_t>(below(wild ? 1u << 28 : 2));
    made.at = {segment_, static_cast<std::uint32_t>(below(wild ? 1u << 29 : 8000) * 8)};
    made.body_size = static_cast<std::uint32_t>(below(wild ? UINT32_MAX : size_limit_));
    made.bytes = wild ? static_cast<std::uint32_t>(below(UINT32_MAX)) : made.body_size + 70;
    if (below(100) == 0) size_limit_ = 1 + below(5000);
    if (below(20) == 0) made.deadline_ms = below(std::uint64_t{1} << 48);
    if (below(20) == 0) made.returns = static_cast<std::uint16_t>(below(65'536));
    made.redelivered = below(3) == 0;
    return made;
  }

private:
  std::mt19937 dice_;
  std::uint32_t segment_ = 1;
  std::uint64_t size_limit_ = 1000;
};

}  // namespace

TEST_CASE("an index of stored messages gives what a map would, whatever is done to it") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    entry_maker dice{seed};
    const auto before = memory_account::total();
    {
      stored_index index;
      model expected;
      sequence next = 1 + dice.below(200);
      const auto any = [&] { return dice.below(next + 3); };
      for (int step = 0; step < 3000; ++step) {
        const auto number = dice.below(2) == 0 ? any() : next++;
        switch (dice.below(10)) {
          case 0:
            CHECK(index.find(number) ==
                  (expected.contains(number) ? std::optional{expected[number]} : std::nullopt));
            break;
          case 1:
          case 2: {
            const auto was = index.erase(number);
            CHECK(was.has_value() == expected.contains(number));
            if (was) CHECK(*was == expected[number]);
            expected.erase(number);
            break;
          }
          case 3: {
            if (dice.below(20) != 0) break;
            const auto first = dice.below(2) == 0 ? 0 : any();
            const auto end = first + dice.below(next + 3);
            model gone;
            const auto note = [&](sequence n, const stored_entry& e) { gone.emplace(n, e); };
            if (first == 0)
              index.erase_below(end, note);
            else
              index.erase_range(first, end, note);
            const auto from = expected.lower_bound(first);
            const auto to = expected.lower_bound(end);
            CHECK(gone == model(from, to));
            expected.erase(from, to);
            break;
          }
          case 4: {
            if (dice.below(10) != 0) break;
            const auto chunk = stored_chunk::number_of(number);
            const auto first = expected.lower_bound(chunk * stored_chunk::size);
            const auto last = expected.lower_bound((chunk + 1) * stored_chunk::size);
            const auto taken = index.take_chunk(chunk);
            CHECK(taken.has_value() == (first != last));
            model got;
            if (taken)
              taken->for_each([&](sequence n, const stored_entry& e) { got.emplace(n, e); });
            CHECK(got == model(first, last));
            expected.erase(first, last);
            break;
          }
          case 5: {
            const auto chunk = stored_chunk::number_of(number);
            const auto* found = index.at_or_after(chunk);
            const auto first = expected.lower_bound(chunk * stored_chunk::size);
            CHECK((found == nullptr) == (first == expected.end()));
            if (found != nullptr) CHECK(found->number() == stored_chunk::number_of(first->first));
            CHECK((index.chunk(chunk) == found) == (found == nullptr || found->number() == chunk));
            break;
          }
          default:
            index.put(number, expected[number] = dice.make());
        }
        if (step % 500 == 0) {
          stored_index moved{std::move(index)};
          CHECK(index.empty());
          index = std::move(moved);
          check_same(index, expected);
        }
      }
      check_same(index, expected);
      index.mark_all_redelivered();
      for (auto& [number, e] : expected) e.redelivered = true;
      check_same(index, expected);
    }
    CHECK(memory_account::total() == before);
  }
}

TEST_CASE("a chunk of stored messages knows the earliest of its deadlines") {
  stored_index index;
  stored_entry e;
  index.put(1, e);
  CHECK(index.first()->earliest_deadline_ms() == queue_place::never);
  e.deadline_ms = 70;
  index.put(2, e);
  e.deadline_ms = 50;
  index.put(3, e);
  CHECK(index.first()->earliest_deadline_ms() == 50);
  index.erase(3);
  CHECK(index.first()->earliest_deadline_ms() == 70);
  index.erase(1);
  CHECK(index.first()->earliest_deadline_ms() == 70);
}

TEST_CASE("stored messages cost 5 bytes each where they have one size, and 8 where they have not") {
  const auto bytes_each = [](std::uint32_t least, std::uint32_t most) {
    entry_maker dice{1};
    stored_index index;
    place at{1, segment_header_size};
    constexpr std::uint64_t count = 100'000;
    for (sequence n = 1; n <= count; ++n) {
      stored_entry e;
      e.at = at;
      e.body_size = least + static_cast<std::uint32_t>(dice.below(most - least + 1));
      e.bytes = (e.body_size + 70 + 7) / 8 * 8;
      index.put(n, e);
      at.offset += e.bytes;
      if (at.offset > 64 << 20) at = {at.segment + 1, segment_header_size};
    }
    return static_cast<double>(index.memory_bytes()) / count;
  };
  CHECK(bytes_each(100, 100) < 5);
  CHECK(bytes_each(100, 2000) < 8);
}
