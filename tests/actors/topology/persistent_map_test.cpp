#include "actors/topology/persistent_map.hpp"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace baton {
namespace {

/// Few hash bits in few places, so that paths get long and whole hashes collide.
struct poor_hash {
  using view = std::string_view;
  static std::uint64_t hash(view key) noexcept {
    const std::uint64_t good = hash_name(key);
    return (good & 3) | (good >> 2 & 1) << 30 | (good >> 3 & 3) << 62;
  }
};

using model = std::map<std::string, int, std::less<>>;

template <class Map>
void require_same(const Map& map, const model& expected) {
  REQUIRE(map.size() == expected.size());
  std::size_t visited = 0;
  bool same = true;
  map.for_each([&](const std::string& key, int value) {
    ++visited;
    const auto found = expected.find(key);
    same = same && found != expected.end() && found->second == value;
  });
  REQUIRE(same);
  REQUIRE(visited == expected.size());
  for (const auto& [key, value] : expected) {
    const int* found = map.find(key);
    same = same && found != nullptr && *found == value;
  }
  REQUIRE(same);
}

template <class Map>
void compare_with_model(unsigned seed, int names, int steps) {
  std::mt19937 random{seed};
  Map map;
  model expected;
  std::vector<std::pair<Map, model>> versions;
  for (int step = 0; step < steps; ++step) {
    const std::string key = "key-" + std::to_string(random() % static_cast<unsigned>(names));
    switch (random() % 4) {
      case 0:
      case 1:
        REQUIRE(map.set(key, step) == expected.insert_or_assign(key, step).second);
        break;
      case 2:
        REQUIRE(map.erase(key) == (expected.erase(key) == 1));
        break;
      case 3: {
        int* value = map.edit(key);
        const auto found = expected.find(key);
        REQUIRE((value != nullptr) == (found != expected.end()));
        if (value != nullptr) *value = found->second = -step;
        break;
      }
    }
    if (random() % 64 == 0) versions.emplace_back(map, expected);
  }
  require_same(map, expected);
  for (const auto& [version, then] : versions) require_same(version, then);
  while (!expected.empty()) {
    REQUIRE(map.erase(expected.begin()->first));
    expected.erase(expected.begin());
  }
  REQUIRE(map.empty());
  for (const auto& [version, then] : versions) require_same(version, then);
}

TEST_CASE("a persistent map agrees with std::map under random changes, in all its versions") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    compare_with_model<persistent_map<std::string, int>>(seed, 40, 2000);
    compare_with_model<persistent_map<std::string, int>>(seed, 3000, 6000);
  }
}

TEST_CASE("a persistent map holds keys whose hashes are equal") {
  for (unsigned seed = 1; seed <= 5; ++seed)
    compare_with_model<persistent_map<std::string, int, poor_hash>>(seed, 200, 3000);
}

TEST_CASE("a persistent map is searched by a view, without making a key") {
  persistent_map<std::string, int> map;
  map.set("orders.created", 1);
  REQUIRE(map.find(std::string_view{"orders.created!"}.substr(0, 14)) != nullptr);
  REQUIRE(map.find("orders.create") == nullptr);
  REQUIRE(map.find("") == nullptr);
}

TEST_CASE("a value is edited in place only while nobody else holds the map") {
  persistent_map<std::uint64_t, int> map;
  for (std::uint64_t key = 0; key < 1000; ++key) map.set(key, 1);
  const int* before = map.find(500);
  *map.edit(500) = 2;
  REQUIRE(map.find(500) == before);

  const persistent_map<std::uint64_t, int> old = map;
  *map.edit(500) = 3;
  REQUIRE(*old.find(500) == 2);
  REQUIRE(*map.find(500) == 3);
  REQUIRE(map.find(501) != nullptr);
}

TEST_CASE("names that differ in one byte or in length hash differently") {
  std::map<std::uint64_t, std::string> seen;
  for (std::size_t length = 0; length <= 40; ++length)
    for (std::size_t at = 0; at < (length == 0 ? 1 : length); ++at)
      for (char with : {'a', 'b', '\0'}) {
        std::string name(length, 'x');
        if (length > 0) name[at] = with;
        const auto [place, fresh] = seen.emplace(hash_name(name), name);
        REQUIRE((fresh || place->second == name));
      }
}

}  // namespace
}  // namespace baton
