#include "config/units.hpp"

#include <array>
#include <limits>
#include <optional>

namespace baton {
namespace {

struct unit {
  std::string_view name;
  std::uint64_t factor;
};

// Largest first: the first one that divides a value writes it shortest.
constexpr std::array size_units{
    unit{"TiB", 1ull << 40}, unit{"TB", 1'000'000'000'000},
    unit{"GiB", 1ull << 30}, unit{"GB", 1'000'000'000},
    unit{"MiB", 1ull << 20}, unit{"MB", 1'000'000},
    unit{"KiB", 1ull << 10}, unit{"KB", 1'000},
    unit{"kB", 1'000},       unit{"B", 1},
};
constexpr std::array duration_units{
    unit{"d", 86'400'000}, unit{"h", 3'600'000}, unit{"min", 60'000},
    unit{"s", 1'000},      unit{"ms", 1},
};

constexpr std::string_view spaces = " \t";

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes the digits, with underscores between them, off the front of `text`; nothing when there are
/// none or the number does not fit.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  constexpr auto max = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  std::size_t used = 0;
  for (; used < text.size(); ++used) {
    const char c = text[used];
    const bool between =
        used > 0 && is_digit(text[used - 1]) && used + 1 < text.size() && is_digit(text[used + 1]);
    if (c == '_' && between) continue;
    if (!is_digit(c)) break;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (number > (max - digit) / 10) return std::nullopt;
    number = number * 10 + digit;
  }
  if (used == 0) return std::nullopt;
  text.remove_prefix(used);
  return number;
}

/// A number and one of `units`, in the smallest of them; at most `max`.
template <std::size_t N>
std::optional<std::uint64_t> parse(std::string_view text, const std::array<unit, N>& units,
                                   std::uint64_t max) {
  text = trim(text);
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  text = trim(text);
  for (const auto& [name, factor] : units)
    if (text == name)
      return *number <= max / factor ? std::optional{*number * factor} : std::nullopt;
  return std::nullopt;
}

template <std::size_t N>
std::string write(std::uint64_t value, const std::array<unit, N>& units) {
  for (const auto& [name, factor] : units)
    if (value != 0 && value % factor == 0) return std::to_string(value / factor).append(name);
  return "0";
}

}  // namespace

result<byte_count> parse_byte_count(std::string_view text) {
  // A plain number is one of bytes. Sizes stay within what a signed 64-bit number can say.
  constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  auto size = parse(text, size_units, max);
  if (!size) size = parse(text, std::array{unit{"", 1}}, max);
  if (!size) return failure{error{"expected a size like \"64KiB\", \"10MB\" or 4096"}};
  return byte_count{*size};
}

result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr std::uint64_t max = 36'500ull * 86'400'000;  // a hundred years
  auto duration = parse(text, duration_units, max);
  if (!duration) duration = parse(text, std::array{unit{"", 1}}, 0);  // 0 needs no unit
  if (!duration)
    return failure{
        error{"expected a duration like \"100ms\", \"10s\", \"5min\", \"2h\" or \"1d\""}};
  return std::chrono::milliseconds{static_cast<std::int64_t>(*duration)};
}

result<percent> parse_percent(std::string_view text) {
  const auto part = parse(text, std::array{unit{"%", 1}}, 100);
  if (!part) return failure{error{"expected a part like \"60%\", at most \"100%\""}};
  return percent{static_cast<std::uint32_t>(*part)};
}

std::string to_string(byte_count size) {
  if (size.value % 1000 != 0 || size.value % 1024 == 0) {  // binary where it fits, else decimal
    constexpr std::array binary{size_units[0], size_units[2], size_units[4], size_units[6],
                                size_units[9]};
    return write(size.value, binary);
  }
  return write(size.value, size_units);
}

std::string to_string(std::chrono::milliseconds duration) {
  return write(static_cast<std::uint64_t>(duration.count()), duration_units);
}

std::string to_string(percent part) { return std::to_string(part.value) + "%"; }

}  // namespace baton
