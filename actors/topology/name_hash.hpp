#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace baton {

namespace detail {

/// Mixed into every hash; set once, by start-up, before the first map exists.
inline std::uint64_t name_hash_seed = 0x243f6a8885a308d3;

/// Both halves of the 128-bit product, folded: every input bit reaches every output bit.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using wide = unsigned __int128;
  const wide product = static_cast<wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

template <class Word>
std::uint64_t read(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

}  // namespace detail

/// Names come from clients: a node sets a random seed at start, so that nobody can choose names
/// that collide. Tests and simulations leave the fixed one, and with it the order of iteration.
inline void set_name_hash_seed(std::uint64_t seed) noexcept { detail::name_hash_seed = seed; }

/// 64 good bits from bytes; about 2 ns for a short name. `seed` chains several parts of one key.
inline std::uint64_t hash_name(std::string_view name, std::uint64_t seed = 0) noexcept {
  constexpr std::uint64_t odd_1 = 0x9e3779b97f4a7c15, odd_2 = 0xd1b54a32d192ed03;
  const char* at = name.data();
  std::size_t left = name.size();
  std::uint64_t state = detail::fold((seed ^ detail::name_hash_seed) + left, odd_1);
  for (; left > 16; at += 16, left -= 16)
    state = detail::fold(detail::read<std::uint64_t>(at) ^ odd_1 ^ state,
                         detail::read<std::uint64_t>(at + 8) ^ odd_2);
  // The last 0 to 16 bytes as two words that overlap where there are fewer.
  std::uint64_t low = 0, high = 0;
  if (left >= 8) {
    low = detail::read<std::uint64_t>(at);
    high = detail::read<std::uint64_t>(at + left - 8);
  } else if (left >= 4) {
    low = detail::read<std::uint32_t>(at);
    high = detail::read<std::uint32_t>(at + left - 4);
  } else if (left > 0) {
    low = static_cast<unsigned char>(at[0]);
    high = static_cast<std::uint64_t>(static_cast<unsigned char>(at[left / 2])) << 8 |
           static_cast<unsigned char>(at[left - 1]);
  }
  return detail::fold(detail::fold(low ^ odd_2, high ^ state ^ odd_1), odd_2);
}

/// The same for numbers.
inline std::uint64_t hash_number(std::uint64_t number, std::uint64_t seed = 0) noexcept {
  return detail::fold(number ^ 0xd1b54a32d192ed03,
                      seed ^ detail::name_hash_seed ^ 0x9e3779b97f4a7c15);
}

}  // namespace baton
