#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "storage/byte_view.hpp"

namespace baton {

/// A simulated file's contents: a size, and the pages that space was taken for. All else is zeros.
class sparse_bytes {
public:
  static constexpr std::uint64_t page_size = 4096;

  std::uint64_t size() const noexcept { return size_; }

  /// Cuts off (and gives the space back), or fills up with zeros that take no space.
  void resize(std::uint64_t size);

  /// Takes space for a range and makes the size at least its end.
  void allocate(std::uint64_t offset, std::uint64_t length);

  /// Takes the space that it needs, and grows.
  void write(std::uint64_t offset, byte_view bytes);

  /// Fewer bytes than asked for only at the end.
  std::size_t read(std::uint64_t offset, std::span<std::uint8_t> into) const;

  /// Makes one page as it is in `other`; no size changes.
  void copy_page(std::uint64_t page, const sparse_bytes& other);

  std::uint64_t pages() const noexcept { return pages_.size(); }

  /// Pages of a range that no space is taken for.
  std::uint64_t missing_pages(std::uint64_t offset, std::uint64_t length) const;

private:
  using page_bytes = std::vector<std::uint8_t>;  // empty: only zeros so far

  std::uint64_t size_ = 0;
  std::map<std::uint64_t, page_bytes> pages_;  // nothing but zeros beyond the size
};

}  // namespace baton
