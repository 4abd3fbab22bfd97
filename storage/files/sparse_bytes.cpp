#include "storage/files/sparse_bytes.hpp"

#include <algorithm>

namespace baton {

namespace {

/// Calls `part(page, offset in the page, offset in the range, length)` for each page of a range.
template <class Part>
void for_each_page(std::uint64_t offset, std::uint64_t length, Part part) {
  for (std::uint64_t done = 0; done < length;) {
    const std::uint64_t within = (offset + done) % sparse_bytes::page_size;
    const std::uint64_t bytes = std::min(length - done, sparse_bytes::page_size - within);
    part((offset + done) / sparse_bytes::page_size, within, done, bytes);
    done += bytes;
  }
}

}  // namespace

void sparse_bytes::resize(std::uint64_t size) {
  if (size < size_) {
    pages_.erase(pages_.lower_bound((size + page_size - 1) / page_size), pages_.end());
    const auto last = pages_.find(size / page_size);
    if (last != pages_.end() && !last->second.empty())
      std::fill(last->second.begin() + static_cast<std::ptrdiff_t>(size % page_size),
                last->second.end(), std::uint8_t{0});
  }
  size_ = size;
}

void sparse_bytes::allocate(std::uint64_t offset, std::uint64_t length) {
  for_each_page(offset, length, [&](std::uint64_t page, auto, auto, auto) { pages_[page]; });
  size_ = std::max(size_, offset + length);
}

void sparse_bytes::write(std::uint64_t offset, byte_view bytes) {
  if (bytes.empty()) return;
  for_each_page(offset, bytes.size(),
                [&](std::uint64_t page, std::uint64_t within, std::uint64_t done, auto length) {
                  page_bytes& into = pages_[page];
                  into.resize(page_size);
                  const byte_view part = bytes.subspan(done, length);
                  std::copy(part.begin(), part.end(),
                            into.begin() + static_cast<std::ptrdiff_t>(within));
                });
  size_ = std::max(size_, offset + bytes.size());
}

std::size_t sparse_bytes::read(std::uint64_t offset, std::span<std::uint8_t> into) const {
  if (offset >= size_) return 0;
  into = into.first(std::min<std::uint64_t>(into.size(), size_ - offset));
  std::fill(into.begin(), into.end(), std::uint8_t{0});
  for_each_page(offset, into.size(),
                [&](std::uint64_t page, std::uint64_t within, std::uint64_t done, auto length) {
                  const auto found = pages_.find(page);
                  if (found == pages_.end() || found->second.empty()) return;
                  const auto part = byte_view{found->second}.subspan(within, length);
                  std::copy(part.begin(), part.end(),
                            into.begin() + static_cast<std::ptrdiff_t>(done));
                });
  return into.size();
}

void sparse_bytes::copy_page(std::uint64_t page, const sparse_bytes& other) {
  const auto mine = pages_.find(page);
  const auto theirs = other.pages_.find(page);
  if (mine == pages_.end()) return;
  if (theirs == other.pages_.end())
    mine->second.clear();
  else
    mine->second = theirs->second;
}

std::uint64_t sparse_bytes::missing_pages(std::uint64_t offset, std::uint64_t length) const {
  std::uint64_t missing = 0;
  for_each_page(offset, length,
                [&](std::uint64_t page, auto, auto, auto) { missing += !pages_.contains(page); });
  return missing;
}

}  // namespace baton
