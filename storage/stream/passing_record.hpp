#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "storage/byte_view.hpp"
#include "storage/files/file_system.hpp"
#include "storage/journal/crc32c.hpp"
#include "storage/journal/numbers.hpp"

namespace baton::stream_log {

/// A record of any size that passes through a buffer, and is summed meanwhile: what is taken of it
/// holds only if `is_sound` in the end. Reads ahead of what is taken, never beyond the record.
class passing_record {
public:
  /// `offset`: in the file; `size`: what the record says it has; `buffer` is lent.
  passing_record(file& from, std::uint32_t offset, std::uint32_t size,
                 std::span<std::uint8_t> buffer) noexcept
      : from_{from}, at_{offset}, to_read_{size}, buffer_{buffer} {}

  /// What comes next: at least so many bytes, if the record and the buffer have as many.
  byte_view ahead(std::size_t wanted) {
    if (filled_ - begin_ < std::min<std::uint64_t>({wanted, buffer_.size(), left()})) fill();
    return {buffer_.data() + begin_, filled_ - begin_};
  }
  void pass(std::size_t size) noexcept { begin_ += size; }
  /// What has not been passed.
  std::uint64_t left() const noexcept { return filled_ - begin_ + to_read_; }
  const std::optional<std::string>& error() const noexcept { return error_; }
  /// Of what was all passed: whether its checksum is right.
  bool is_sound(std::uint32_t seal) const noexcept { return (sum_ ^ seal) == check_; }

private:
  // In a record: its checksum, and what that covers beside the size in front of it.
  static constexpr std::size_t check_at = 4;
  static constexpr std::size_t summed_from = 8;

  void fill() {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
    filled_ -= std::exchange(begin_, 0);
    const auto size = std::min<std::size_t>(buffer_.size() - filled_, to_read_);
    const auto got = from_.read(at_, buffer_.subspan(filled_, size));
    if (!got || *got < size) {
      error_ = got ? from_.path() + ": the file ends too early" : got.reason().text();
      to_read_ = 0;
      return;
    }
    byte_view read = buffer_.subspan(filled_, size);
    if (!std::exchange(begun_, true)) {
      check_ = journal::load<std::uint32_t>(&read[check_at]);
      sum_ = crc32c(read.first(check_at));
      read = read.subspan(summed_from);
    }
    sum_ = crc32c(read, sum_);
    filled_ += size;
    at_ += size;
    to_read_ -= static_cast<std::uint32_t>(size);
  }

  file& from_;
  std::uint64_t at_;
  std::uint32_t to_read_;
  std::span<std::uint8_t> buffer_;
  std::size_t begin_ = 0;
  std::size_t filled_ = 0;
  bool begun_ = false;
  std::uint32_t check_ = 0;
  std::uint32_t sum_ = 0;
  std::optional<std::string> error_;
};

}  // namespace baton::stream_log
