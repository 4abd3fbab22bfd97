#pragma once

#include <cstdint>
#include <vector>

#include "actors/topology/name_hash.hpp"

namespace baton {

/// A set of numbers for one piece of work at a time: clear() costs nothing, and a set that has
/// grown once allocates no more.
class mark_set {
public:
  void clear() noexcept {
    size_ = 0;
    if (++round_ != 0) return;
    for (slot& each : slots_) each.round = 0;
    round_ = 1;
  }

  /// True: it was not there.
  bool insert(std::uint64_t number) {
    if (size_ * 2 >= slots_.size()) grow();
    if (!place(number)) return false;
    ++size_;
    return true;
  }

private:
  struct slot {
    std::uint64_t number = 0;
    std::uint32_t round = 0;
  };

  bool place(std::uint64_t number) noexcept {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash_number(number) & mask;; at = (at + 1) & mask) {
      slot& here = slots_[at];
      if (here.round != round_) {
        here = {number, round_};
        return true;
      }
      if (here.number == number) return false;
    }
  }
  void grow() {
    std::vector<slot> old(slots_.empty() ? 32 : slots_.size() * 2);
    old.swap(slots_);
    for (const slot& each : old)
      if (each.round == round_) place(each.number);
  }

  std::vector<slot> slots_;  // a power of two, at most half full
  std::size_t size_ = 0;
  std::uint32_t round_ = 1;
};

}  // namespace baton
