#include "actors/connection/generated_name.hpp"

#include <sodium.h>

#include <array>

namespace baton {

std::string generated_name(std::string_view prefix) {
  std::array<unsigned char, 16> bytes;
  randombytes_buf(bytes.data(), bytes.size());
  constexpr auto variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::array<char, sodium_base64_ENCODED_LEN(16, sodium_base64_VARIANT_URLSAFE_NO_PADDING)> text;
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), variant);
  return std::string{prefix} + text.data();
}

}  // namespace baton
