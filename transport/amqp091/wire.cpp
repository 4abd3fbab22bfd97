#include "transport/amqp091/wire.hpp"

namespace baton::amqp091 {

namespace {

bool is_ascii(std::string_view text) noexcept {
  std::uint8_t seen = 0;
  for (const char c : text) seen |= static_cast<std::uint8_t>(c);
  return seen < 0x80;
}

/// Length of the well-formed sequence that `text` begins with, or 0. RFC 3629 §4.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto octet = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const auto continues = [&](std::size_t at, std::uint8_t low = 0x80, std::uint8_t high = 0xBF) {
    return at < text.size() && octet(at) >= low && octet(at) <= high;
  };
  const auto first = octet(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const std::uint8_t low = first == 0xE0 ? 0xA0 : 0x80;   // no overlong forms
    const std::uint8_t high = first == 0xED ? 0x9F : 0xBF;  // no surrogates
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const std::uint8_t low = first == 0xF0 ? 0x90 : 0x80;   // no overlong forms
    const std::uint8_t high = first == 0xF4 ? 0x8F : 0xBF;  // nothing above U+10FFFF
    return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  if (is_ascii(text)) return true;
  while (!text.empty()) {
    const auto length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace baton::amqp091
