#include "storage/journal/segment.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "storage/journal/crc32c.hpp"
#include "storage/journal/numbers.hpp"

namespace baton::journal {

namespace {

constexpr std::string_view magic = "BATONSEG";

// Offsets in the header.
constexpr std::size_t version_at = 8;
constexpr std::size_t kind_at = 12;
constexpr std::size_t generation_at = 16;
constexpr std::size_t queue_at = 24;
constexpr std::size_t number_at = 32;
constexpr std::size_t previous_end_at = 36;
constexpr std::size_t check_at = 60;

bool is_segment(byte_view file) noexcept {
  return file.size() >= segment_header_size && as_text(file).starts_with(magic);
}

}  // namespace

std::array<std::uint8_t, segment_header_size> encode(const segment_header& header) noexcept {
  std::array<std::uint8_t, segment_header_size> made{};
  std::copy(magic.begin(), magic.end(), made.begin());
  store(&made[version_at], format_version);
  store(&made[kind_at], header.kind);
  store(&made[generation_at], header.generation);
  store(&made[queue_at], header.queue);
  store(&made[number_at], header.number);
  store(&made[previous_end_at], header.previous_end.segment);
  store(&made[previous_end_at + 4], header.previous_end.offset);
  store(&made[check_at], crc32c(byte_view{made}.first(check_at)));
  return made;
}

result<segment_header> read_segment_header(byte_view file) {
  // The version comes first: a later one may have another header.
  if (is_of_another_version(file))
    return failure{error{"has format version " +
                         std::to_string(load<std::uint32_t>(&file[version_at])) +
                         "; this program knows version " + std::to_string(format_version)}};
  if (!is_segment(file)) return failure{error{"is no segment of a journal"}};
  if (crc32c(file.first(check_at)) != load<std::uint32_t>(&file[check_at]))
    return failure{error{"has a damaged header"}};
  segment_header made;
  made.kind = load<segment_kind>(&file[kind_at]);
  made.generation = load<std::uint64_t>(&file[generation_at]);
  made.queue = load<std::uint64_t>(&file[queue_at]);
  made.number = load<std::uint32_t>(&file[number_at]);
  made.previous_end = {load<std::uint32_t>(&file[previous_end_at]),
                       load<std::uint32_t>(&file[previous_end_at + 4])};
  if (made.kind < segment_kind::journal || made.kind > segment_kind::overflow)
    return failure{error{"is a segment of kind " +
                         std::to_string(static_cast<std::uint32_t>(made.kind)) +
                         ", which this version does not know"}};
  return made;
}

bool is_of_another_version(byte_view file) noexcept {
  if (!is_segment(file)) return false;
  const auto version = load<std::uint32_t>(&file[version_at]);
  return version != format_version && version != 0;  // 0: not written whole
}

segment_scan::segment_scan(file& in, const segment_header& header, std::uint32_t from,
                           std::uint64_t end)
    : in_{in}, seal_{seal_of(header.generation)}, offset_{from}, end_{end}, block_at_{from} {
  if (auto size = in_.size())
    end_ = std::min(end_, *size);
  else
    error_ = size.reason();
  if (error_ || end_ < offset_) end_ = offset_;
}

/// What was read from `offset_` on: at least so many bytes, unless the end comes before.
byte_view segment_scan::ahead(std::uint64_t wanted) {
  if (const auto known = block_at_ + filled_; known < offset_ + wanted && known < end_) {
    const auto size = static_cast<std::size_t>(
        std::min(std::max<std::uint64_t>(wanted, block_size), end_ - offset_));
    if (size > capacity_ || (capacity_ > block_size && size <= block_size)) {
      capacity_ = std::max(size, block_size);
      block_.reset();
      block_.reset(new std::uint8_t[capacity_]);
    }
    block_at_ = offset_;
    filled_ = 0;
    if (auto got = in_.read(offset_, {block_.get(), size}))
      filled_ = *got;
    else
      error_ = got.reason();
    if (filled_ < size) end_ = offset_ + filled_;
  }
  return {block_.get() + (offset_ - block_at_),
          static_cast<std::size_t>(block_at_ + filled_ - offset_)};
}

/// The same, up to the end of the record that seems to begin here, if that is not beyond the end.
byte_view segment_scan::record_ahead() {
  auto bytes = ahead(record_header_size);
  if (bytes.size() < record_header_size) return bytes;
  const auto size = load<std::uint32_t>(bytes.data());
  if (size > bytes.size() && size <= end_ - offset_) bytes = ahead(size);
  return bytes;
}

std::optional<segment_scan::found> segment_scan::next() {
  const auto frame = read_frame(record_ahead(), seal_);
  if (!frame) {
    problem_ = frame.reason();
    return std::nullopt;
  }
  const found here{offset(), *frame};
  offset_ = std::min(offset_ + padded(frame->size()), end_);
  return here;
}

bool segment_scan::skip_damage() {
  while (end_ - offset_ > record_alignment) {
    offset_ += record_alignment;
    const auto front = ahead(record_header_size);
    if (looks_like_record(front, end_ - offset_) && read_frame(record_ahead(), seal_)) return true;
  }
  return false;
}

}  // namespace baton::journal
