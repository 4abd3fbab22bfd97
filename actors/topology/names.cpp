#include "actors/topology/names.hpp"

#include <string>

#include "config/settings.hpp"

namespace baton {

std::string stripped(std::string name) {
  std::erase_if(name, [](char each) { return each == '\r' || each == '\n'; });
  return name;
}

std::optional<refusal> check_new_name(std::string_view kind, std::string_view name) {
  if (name.starts_with("amq."))
    return refusal{refusal::access_refused, std::string{kind}.append(" name '").append(name).append(
                                                "' contains reserved prefix 'amq.*'")};
  if (name.size() > max_name_bytes)
    return refusal{refusal::precondition_failed,
                   std::string{kind} + " name of " + std::to_string(name.size()) +
                       " bytes is longer than " + std::to_string(max_name_bytes)};
  return std::nullopt;
}

std::string generated_queue_name(const std::array<std::uint8_t, 16>& random) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string name = "amq.gen-";
  std::uint32_t bits = 0;
  int held = 0;
  for (const std::uint8_t byte : random) {
    bits = bits << 8 | byte;
    for (held += 8; held >= 6; held -= 6) name += digits[bits >> (held - 6) & 63];
  }
  name += digits[bits << (6 - held) & 63];  // 128 bits are 21 digits and 2 bits
  return name;
}

refusal default_exchange_refusal() {
  return {refusal::access_refused, "operation not permitted on the default exchange"};
}

}  // namespace baton
