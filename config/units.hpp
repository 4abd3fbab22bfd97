#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/result.hpp"

namespace baton {

/// A number of bytes. Written in a configuration as `4096`, `"64KiB"` or `"10MB"`.
struct byte_count {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(byte_count, byte_count) = default;
};

/// A part of a whole, 0 to 100. Written in a configuration as `"60%"`.
struct percent {
  std::uint32_t value = 0;

  friend constexpr auto operator<=>(percent, percent) = default;

  /// That part of `whole`, rounded down; exact for every `whole`.
  constexpr byte_count of(byte_count whole) const {
    return {whole.value / 100 * value + whole.value % 100 * value / 100};
  }
};

inline namespace unit_literals {
constexpr byte_count operator""_B(unsigned long long n) { return {n}; }
constexpr byte_count operator""_KiB(unsigned long long n) { return {n << 10}; }
constexpr byte_count operator""_MiB(unsigned long long n) { return {n << 20}; }
constexpr byte_count operator""_GiB(unsigned long long n) { return {n << 30}; }
}  // namespace unit_literals

/// Read what a person writes: `1GiB`, `64 KiB`, `10MB`, `1_000`; `100ms`, `10s`, `5min`, `2h`,
/// `1d`; `60%`. The reason of a failure says what was expected, and fits behind "found ..., ".
result<byte_count> parse_byte_count(std::string_view text);
result<std::chrono::milliseconds> parse_duration(std::string_view text);
result<percent> parse_percent(std::string_view text);

/// The shortest exact writing, which the function above reads back to the same value.
std::string to_string(byte_count size);
std::string to_string(std::chrono::milliseconds duration);
std::string to_string(percent part);

}  // namespace baton
