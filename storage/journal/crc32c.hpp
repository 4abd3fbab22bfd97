#pragma once

#include <cstdint>

#include "storage/byte_view.hpp"

namespace baton {

/// CRC-32C (Castagnoli; RFC 3720 appendix B.4) of `bytes`, going on from `before`: the sum of two
/// stretches is `crc32c(second, crc32c(first))`. By the processor's instruction where it has one.
std::uint32_t crc32c(byte_view bytes, std::uint32_t before = 0) noexcept;

/// The same, by tables: for processors without the instruction, and to test against.
std::uint32_t crc32c_by_tables(byte_view bytes, std::uint32_t before = 0) noexcept;

}  // namespace baton
