#include "actors/topology/age.hpp"

#include <charconv>
#include <cstdint>

namespace baton {

namespace {

constexpr std::chrono::seconds longest = std::chrono::hours{24 * 365 * 1000};

std::optional<std::chrono::seconds> unit_of(char letter) {
  switch (letter) {
    case 'Y':
      return std::chrono::hours{24 * 365};
    case 'M':
      return std::chrono::hours{24 * 30};
    case 'D':
      return std::chrono::hours{24};
    case 'h':
      return std::chrono::hours{1};
    case 'm':
      return std::chrono::minutes{1};
    case 's':
      return std::chrono::seconds{1};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_age(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  const auto unit = unit_of(text.back());
  std::uint64_t number = 0;
  const auto* const end = text.data() + text.size() - 1;
  const auto read = std::from_chars(text.data(), end, number);
  if (!unit || read.ec != std::errc{} || read.ptr != end || number == 0) return std::nullopt;
  if (number > static_cast<std::uint64_t>(longest / *unit)) return std::nullopt;
  return *unit * static_cast<std::int64_t>(number);
}

}  // namespace baton
