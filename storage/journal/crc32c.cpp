#include "storage/journal/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace baton {

namespace {

using table = std::array<std::uint32_t, 256>;

constexpr std::uint32_t reflected_polynomial = 0x82f63b78;

/// `tables[k][b]`: what byte b adds to the sum when k more bytes follow it.
constexpr std::array<table, 8> make_tables() {
  std::array<table, 8> made{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    auto sum = b;
    for (int bit = 0; bit < 8; ++bit)
      sum = (sum & 1) != 0 ? sum >> 1 ^ reflected_polynomial : sum >> 1;
    made[0][b] = sum;
  }
  for (std::size_t k = 1; k < made.size(); ++k)
    for (std::size_t b = 0; b < 256; ++b)
      made[k][b] = made[k - 1][b] >> 8 ^ made[0][made[k - 1][b] & 0xff];
  return made;
}

constexpr auto tables = make_tables();

std::uint64_t word_at(const std::uint8_t* at) noexcept {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

#if defined(__x86_64__)

[[gnu::target("sse4.2")]] std::uint32_t by_instruction(byte_view bytes,
                                                       std::uint32_t before) noexcept {
  const auto* at = bytes.data();
  auto left = bytes.size();
  std::uint64_t sum = ~before;
  for (; left >= 8; at += 8, left -= 8) sum = _mm_crc32_u64(sum, word_at(at));
  auto last = static_cast<std::uint32_t>(sum);
  for (; left > 0; ++at, --left) last = _mm_crc32_u8(last, *at);
  return ~last;
}

bool has_instruction() noexcept { return __builtin_cpu_supports("sse4.2") != 0; }

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

std::uint32_t by_instruction(byte_view bytes, std::uint32_t before) noexcept {
  const auto* at = bytes.data();
  auto left = bytes.size();
  std::uint32_t sum = ~before;
  for (; left >= 8; at += 8, left -= 8) sum = __crc32cd(sum, word_at(at));
  for (; left > 0; ++at, --left) sum = __crc32cb(sum, *at);
  return ~sum;
}

bool has_instruction() noexcept { return true; }

#else

std::uint32_t by_instruction(byte_view bytes, std::uint32_t before) noexcept {
  return crc32c_by_tables(bytes, before);
}

bool has_instruction() noexcept { return false; }

#endif

}  // namespace

std::uint32_t crc32c_by_tables(byte_view bytes, std::uint32_t before) noexcept {
  const auto* at = bytes.data();
  auto left = bytes.size();
  std::uint32_t sum = ~before;
  if constexpr (std::endian::native == std::endian::little) {
    for (; left >= 8; at += 8, left -= 8) {
      const auto word = word_at(at) ^ sum;
      sum = 0;
      for (std::size_t k = 0; k < 8; ++k) sum ^= tables[7 - k][word >> 8 * k & 0xff];
    }
  }
  for (; left > 0; ++at, --left) sum = sum >> 8 ^ tables[0][(sum ^ *at) & 0xff];
  return ~sum;
}

std::uint32_t crc32c(byte_view bytes, std::uint32_t before) noexcept {
  static const bool fast = has_instruction();
  return fast ? by_instruction(bytes, before) : crc32c_by_tables(bytes, before);
}

}  // namespace baton
