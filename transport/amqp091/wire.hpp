#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "storage/byte_view.hpp"

/// AMQP 0-9-1 on the wire: every number is big-endian, a short string has one octet of length, a
/// long string and a table four (AMQP 0-9-1 §4.2.5).
namespace baton::amqp091 {

namespace detail {

template <class Number>
constexpr Number to_big_endian(Number value) noexcept {
  if constexpr (std::endian::native == std::endian::big || sizeof(Number) == 1)
    return value;
  else if constexpr (sizeof(Number) == 2)
    return __builtin_bswap16(value);
  else if constexpr (sizeof(Number) == 4)
    return __builtin_bswap32(value);
  else
    return __builtin_bswap64(value);
}

}  // namespace detail

/// Reads a number at `from`; the caller has checked that the bytes are there.
template <class Number>
Number load(const std::uint8_t* from) noexcept {
  Number value;
  std::memcpy(&value, from, sizeof value);
  return detail::to_big_endian(value);
}

/// Writes a number at `to` and returns the place behind it; the caller has made room.
template <class Number>
std::uint8_t* store(std::uint8_t* to, Number value) noexcept {
  value = detail::to_big_endian(value);
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

/// Copies `size` bytes and returns the place behind them. Quick for the short names, tags and
/// bodies that most messages consist of, where calling memcpy costs more than the copy.
inline std::uint8_t* copy(std::uint8_t* to, const void* from, std::size_t size) noexcept {
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  const auto both_ends = [&]<class Word>(Word) {
    Word head;
    Word tail;
    std::memcpy(&head, bytes, sizeof head);
    std::memcpy(&tail, bytes + size - sizeof tail, sizeof tail);
    std::memcpy(to, &head, sizeof head);
    std::memcpy(to + size - sizeof tail, &tail, sizeof tail);
  };
  if (size > 16)
    std::memcpy(to, bytes, size);
  else if (size >= 8)
    both_ends(std::uint64_t{});
  else if (size >= 4)
    both_ends(std::uint32_t{});
  else if (size >= 2)
    both_ends(std::uint16_t{});
  else if (size == 1)
    *to = *bytes;
  return to + size;
}
inline std::uint8_t* copy(std::uint8_t* to, std::string_view text) noexcept {
  return copy(to, text.data(), text.size());
}
inline std::uint8_t* copy(std::uint8_t* to, byte_view bytes) noexcept {
  return copy(to, bytes.data(), bytes.size());
}

/// Reads borrowed bytes from front to back and never past their end. The first read that does not
/// fit fails the reader for good: it and all later reads give zeros and empty views, so a decoder
/// reads everything and asks `ok()` once.
class reader {
public:
  explicit reader(byte_view bytes) noexcept
      : cursor_{bytes.data()}, end_{bytes.data() + bytes.size()} {}

  bool ok() const noexcept { return ok_; }
  /// Everything was read, and nothing beyond.
  bool at_end() const noexcept { return ok_ && cursor_ == end_; }
  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - cursor_); }
  const std::uint8_t* cursor() const noexcept { return cursor_; }

  std::uint8_t u8() noexcept { return number<std::uint8_t>(); }
  std::uint16_t u16() noexcept { return number<std::uint16_t>(); }
  std::uint32_t u32() noexcept { return number<std::uint32_t>(); }
  std::uint64_t u64() noexcept { return number<std::uint64_t>(); }

  byte_view bytes(std::size_t size) noexcept {
    if (left() < size) {
      fail();
      return {};
    }
    const byte_view found{cursor_, size};
    cursor_ += size;
    return found;
  }
  std::string_view short_string() noexcept { return as_text(bytes(u8())); }
  byte_view long_string() noexcept { return bytes(u32()); }

  void fail() noexcept {
    ok_ = false;
    cursor_ = end_;
  }

private:
  template <class Number>
  Number number() noexcept {
    if (left() < sizeof(Number)) {
      fail();
      return 0;
    }
    const auto value = load<Number>(cursor_);
    cursor_ += sizeof(Number);
    return value;
  }

  const std::uint8_t* cursor_;
  const std::uint8_t* end_;
  bool ok_ = true;
};

/// Bytes on their way out (or kept for later): many frames are appended, then written at once.
/// Memory is not cleared, grows by doubling and is kept by `clear()`, given back by `release()`.
class output_buffer {
public:
  output_buffer() = default;
  output_buffer(output_buffer&& other) noexcept
      : data_{std::exchange(other.data_, nullptr)},
        size_{std::exchange(other.size_, 0)},
        capacity_{std::exchange(other.capacity_, 0)} {}
  output_buffer& operator=(output_buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~output_buffer() { std::free(data_); }

  byte_view view() const noexcept { return {data_, size_}; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }
  bool empty() const noexcept { return size_ == 0; }

  /// Makes room for `size` more bytes and returns where they go; `commit` says how far they went.
  std::uint8_t* reserve(std::size_t size) {
    if (capacity_ - size_ < size) [[unlikely]]
      grow(size);
    return data_ + size_;
  }
  void commit(const std::uint8_t* end) noexcept { size_ = static_cast<std::size_t>(end - data_); }

  void append(byte_view bytes) { commit(copy(reserve(bytes.size()), bytes)); }
  template <class Number>
  void append_number(Number value) {
    commit(store(reserve(sizeof value), value));
  }
  /// Cut to 255 bytes: the length is one octet.
  void append_short_string(std::string_view text) {
    text = text.substr(0, 255);
    append_number(static_cast<std::uint8_t>(text.size()));
    append(as_bytes(text));
  }
  void append_long_string(byte_view bytes) {
    append_number(static_cast<std::uint32_t>(bytes.size()));
    append(bytes);
  }

  /// Overwrites a 32-bit number that was appended before, for lengths known only afterwards.
  void patch_u32(std::size_t at, std::uint32_t value) noexcept { store(data_ + at, value); }

  void clear() noexcept { size_ = 0; }
  /// Drops the first bytes; moves the others.
  void drop_front(std::size_t size) noexcept {
    size_ -= size;
    if (size_ > 0) std::memmove(data_, data_ + size, size_);
  }
  /// Drops what was appended since `size` was the size.
  void truncate(std::size_t size) noexcept { size_ = std::min(size, size_); }
  /// Empties it and gives the memory back.
  void release() noexcept {
    std::free(data_);
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

private:
  void grow(std::size_t size) {
    const auto wanted = std::max({size_ + size, capacity_ * 2, std::size_t{256}});
    void* const bigger = std::realloc(data_, wanted);
    if (bigger == nullptr) throw std::bad_alloc{};
    data_ = static_cast<std::uint8_t*>(bigger);
    capacity_ = wanted;
  }

  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Well-formed UTF-8 (RFC 3629). Names are checked with it; routing keys and values are not.
bool is_utf8(std::string_view text) noexcept;

}  // namespace baton::amqp091
