#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace baton {

/// Finds chunks by their number, where numbers are given out upwards and most chunks go in about
/// that order. It does not own them.
///
/// A ring covers the numbers from the first to the last chunk. When a few old chunks would make it
/// grow although most of it is empty, they move into a map: one message that stays unsettled for
/// ever does not keep the directory of all that passed since. Memory is O(chunks that exist).
///
/// `Chunk` has a member `std::uint64_t number`.
template <class Chunk>
class chunk_directory {
public:
  bool empty() const noexcept { return in_ring_ == 0 && stragglers_.empty(); }

  /// The chunk of that number, or nullptr.
  Chunk* find(std::uint64_t number) const noexcept {
    if (number >= base_) return number < end_ ? entry(number) : nullptr;
    if (stragglers_.empty()) return nullptr;
    auto old = stragglers_.find(number);
    return old == stragglers_.end() ? nullptr : old->second;
  }

  /// The first chunk with a number of at least `number`, or nullptr. O(1) when it exists or is
  /// near.
  Chunk* at_or_after(std::uint64_t number) const noexcept {
    if (number < base_) {
      auto old = stragglers_.lower_bound(number);
      if (old != stragglers_.end()) return old->second;
      number = base_;
    }
    for (; number < end_; ++number)
      if (auto* c = entry(number)) return c;
    return nullptr;
  }

  /// Enters a chunk. Its number is new and not below that of any chunk in the ring's past: callers
  /// only ever add at the end, or again the last one, after it went.
  void insert(Chunk* c) {
    if (in_ring_ == 0) base_ = end_ = c->number;
    if (c->number < base_) {
      stragglers_.emplace(c->number, c);
      return;
    }
    while (c->number - base_ >= ring_.size()) make_room(c->number);
    for (; end_ <= c->number; ++end_) entry(end_) = nullptr;
    entry(c->number) = c;
    ++in_ring_;
  }

  void erase(std::uint64_t number) noexcept {
    if (number < base_) {
      stragglers_.erase(number);
      return;
    }
    entry(number) = nullptr;
    if (--in_ring_ == 0) {
      base_ = end_;
      if (ring_.size() > small_ring) std::vector<Chunk*>{}.swap(ring_);
    } else {
      skip_gone();
    }
  }

private:
  static constexpr std::size_t small_ring = 64;

  Chunk*& entry(std::uint64_t number) noexcept { return ring_[number & (ring_.size() - 1)]; }
  Chunk* entry(std::uint64_t number) const noexcept { return ring_[number & (ring_.size() - 1)]; }

  void skip_gone() noexcept {
    while (base_ < end_ && entry(base_) == nullptr) ++base_;
  }

  void make_room(std::uint64_t wanted) {
    if (ring_.size() >= small_ring && in_ring_ < ring_.size() / 4) {
      // The older half becomes stragglers: at most an eighth of what the ring has seen pass.
      for (auto half = base_ + ring_.size() / 2; base_ < half && base_ < end_; ++base_)
        if (auto* c = entry(base_)) {
          stragglers_.emplace(c->number, c);
          --in_ring_;
        }
      skip_gone();
      if (in_ring_ == 0) base_ = end_ = wanted;
      return;
    }
    std::vector<Chunk*> larger(ring_.empty() ? 2 : ring_.size() * 2, nullptr);
    for (auto n = base_; n < end_; ++n) larger[n & (larger.size() - 1)] = entry(n);
    ring_.swap(larger);
  }

  std::vector<Chunk*> ring_;  // a power of two, or empty
  std::uint64_t base_ = 0;    // of the ring: the numbers base_ to end_ - 1
  std::uint64_t end_ = 0;
  std::size_t in_ring_ = 0;
  std::map<std::uint64_t, Chunk*> stragglers_;
};

}  // namespace baton
