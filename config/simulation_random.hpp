#pragma once

#include <cstdint>

namespace baton {

/// The dice of a simulation: the same seed gives the same numbers with every compiler and library.
class simulation_random {
public:
  explicit simulation_random(std::uint64_t seed) : state_{seed} {}

  /// SplitMix64.
  std::uint64_t next() noexcept {
    std::uint64_t mixed = state_ += 0x9e37'79b9'7f4a'7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58'476d'1ce4'e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d0'49bb'1331'11ebu;
    return mixed ^ mixed >> 31;
  }

  /// From 0 to `limit` - 1; `limit` is at least 1.
  std::uint64_t below(std::uint64_t limit) noexcept { return next() % limit; }

  /// True once in `times`.
  bool once_in(std::uint64_t times) noexcept { return below(times) == 0; }

private:
  std::uint64_t state_;
};

}  // namespace baton
