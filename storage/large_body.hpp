#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/byte_view.hpp"

namespace baton {

/// A body too large to lie in its batch's slab: a chain of blocks, filled once while it is
/// received, then only read. Several messages (copies with other properties) may share the blocks.
class large_body {
public:
  /// `announced`: the size that the content header promised, in bytes; blocks are sized for it.
  explicit large_body(std::uint64_t announced) noexcept : announced_{announced} {}
  large_body(const large_body&) = delete;
  large_body& operator=(const large_body&) = delete;

  /// Copies `bytes` to the end: the one copy between the socket they came from and the one they
  /// leave by.
  void append(byte_view bytes);

  std::uint64_t size() const noexcept { return size_; }

  /// A second holder of the same bytes.
  std::unique_ptr<large_body> share() const;

  /// Calls `visit(byte_view)` for each stretch of bytes, in order.
  template <class Visitor>
  void for_each_piece(Visitor&& visit) const {
    for (const auto& b : blocks_) visit(byte_view{b->bytes.get(), b->used});
  }

private:
  friend class slab;
  struct block {
    explicit block(std::uint32_t capacity);
    ~block();
    block(const block&) = delete;
    block& operator=(const block&) = delete;

    std::unique_ptr<std::uint8_t[]> bytes;
    std::uint32_t capacity;
    std::uint32_t used = 0;
  };

  std::vector<std::shared_ptr<block>> blocks_;
  std::uint64_t announced_;
  std::uint64_t size_ = 0;
  large_body* next_in_slab_ = nullptr;
};

}  // namespace baton
