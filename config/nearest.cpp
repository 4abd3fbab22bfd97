#include "config/nearest.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace baton {
namespace {
constexpr std::size_t max_letters = 64;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, max_letters);
  b = b.substr(0, max_letters);
  // distances[j] is that of a's first i letters to b's first j; two older rows are kept for swaps.
  std::array<std::size_t, max_letters + 1> before_last{}, last{}, distances{};
  for (std::size_t j = 0; j <= b.size(); ++j) distances[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, distances);
    distances[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      distances[j] = std::min({replaced, last[j] + 1, distances[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        distances[j] = std::min(distances[j], before_last[j - 2] + 1);
    }
  }
  return distances[b.size()];
}

std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& known) {
  std::optional<std::string_view> best;
  std::size_t best_distance = 0;
  for (const auto candidate : known) {
    const auto distance = edit_distance(word, candidate);
    // A word of one or two letters is not "nearly" any other.
    const auto allowed = std::min(std::max<std::size_t>(2, candidate.size() / 3), word.size() - 1);
    if (word.empty() || distance > allowed || (best && distance >= best_distance)) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace baton
