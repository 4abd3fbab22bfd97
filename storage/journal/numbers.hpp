#pragma once

#include <cstdint>
#include <cstring>

#include "storage/journal/entries.hpp"  // which holds records to little-endian machines

namespace baton::journal {

/// Numbers as they lie in a log, at any alignment.
template <class Number>
Number load(const std::uint8_t* at) noexcept {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

template <class Number>
void store(std::uint8_t* at, Number number) noexcept {
  std::memcpy(at, &number, sizeof number);
}

}  // namespace baton::journal
