#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace baton {

/// Borrowed bytes, for this call only: never stored, never in a mailbox.
using byte_view = std::span<const std::uint8_t>;

inline byte_view as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(byte_view bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace baton
