#include "storage/large_body.hpp"

#include <algorithm>
#include <cstring>

#include "config/check.hpp"
#include "storage/memory_account.hpp"

namespace baton {

namespace {

// Memory follows what has arrived, not what was announced: half of a 128 MiB message that never
// goes on costs half of it.
constexpr std::uint64_t block_bytes = 64 << 10;

}  // namespace

large_body::block::block(std::uint32_t size) : bytes{new std::uint8_t[size]}, capacity{size} {
  memory_account::of_this_thread().created(capacity);
}

large_body::block::~block() { memory_account::of_this_thread().freed(capacity); }

void large_body::append(byte_view bytes) {
  while (!bytes.empty()) {
    if (blocks_.empty() || blocks_.back()->used == blocks_.back()->capacity) {
      auto expected =
          std::max<std::uint64_t>(announced_ - std::min(announced_, size_), bytes.size());
      blocks_.push_back(
          std::make_shared<block>(static_cast<std::uint32_t>(std::min(expected, block_bytes))));
    }
    auto& last = *blocks_.back();
    auto n = std::min<std::size_t>(bytes.size(), last.capacity - last.used);
    std::memcpy(last.bytes.get() + last.used, bytes.data(), n);
    last.used += static_cast<std::uint32_t>(n);
    size_ += n;
    bytes = bytes.subspan(n);
  }
}

std::unique_ptr<large_body> large_body::share() const {
  auto other = std::make_unique<large_body>(announced_);
  other->blocks_ = blocks_;
  other->size_ = size_;
  return other;
}

}  // namespace baton
