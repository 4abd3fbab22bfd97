#include "actors/queue/chunk_directory.hpp"

#include <map>
#include <memory>
#include <random>

#include "tests/catch.hpp"

using namespace baton;

namespace {

struct numbered_chunk {
  std::uint64_t number;
};

}  // namespace

TEST_CASE("a chunk directory finds what a map of numbers would find") {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random{seed};
    chunk_directory<numbered_chunk> directory;
    std::map<std::uint64_t, std::unique_ptr<numbered_chunk>> model;
    std::uint64_t next = random() % 100;
    const auto stays_one_in = 2 + random() % 200;
    for (int i = 0; i < 3000; ++i) {
      auto c = std::make_unique<numbered_chunk>(numbered_chunk{next});
      directory.insert(c.get());
      model.emplace(next, std::move(c));
      // The last one may go and come again.
      if (random() % 10 == 0) {
        directory.erase(next);
        model.erase(next);
        if (random() % 2 == 0) continue;
      }
      next += random() % 50 == 0 ? 1 + random() % 500 : 1;
      // Most go soon, some stay.
      while (model.size() > 8 && random() % 4 != 0) {
        auto old = model.begin();
        std::advance(old, random() % 8);
        if (random() % stays_one_in == 0) break;
        directory.erase(old->first);
        model.erase(old);
      }
      for (int j = 0; j < 5; ++j) {
        auto wanted = random() % (next + 2);
        auto known = model.find(wanted);
        REQUIRE(directory.find(wanted) == (known == model.end() ? nullptr : known->second.get()));
        auto from = model.lower_bound(wanted);
        REQUIRE(directory.at_or_after(wanted) ==
                (from == model.end() ? nullptr : from->second.get()));
      }
      REQUIRE(directory.empty() == model.empty());
    }
  }
}
