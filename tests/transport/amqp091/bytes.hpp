#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/byte_view.hpp"

namespace baton::amqp091::test {

/// Bytes from hexadecimal digits; blanks, and text in single quotes, are allowed: "02 'q1' 00".
inline std::vector<std::uint8_t> hex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  std::vector<std::uint8_t> bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ' ') continue;
    if (text[at] == '\'') {
      for (++at; text[at] != '\''; ++at) bytes.push_back(static_cast<std::uint8_t>(text[at]));
      continue;
    }
    bytes.push_back(static_cast<std::uint8_t>(digit(text[at]) << 4 | digit(text[at + 1])));
    ++at;
  }
  return bytes;
}

inline std::vector<std::uint8_t> copy_of(byte_view bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace baton::amqp091::test
