#pragma once

#include <vector>

#include "storage/memory_account.hpp"

namespace baton {

/// Chunks that this thread has no use for right now, a few of each kind. What runs empty after each
/// batch takes and gives back one chunk each time; those that stay empty share these instead of
/// holding their own.
template <class Chunk>
class chunk_pool {
public:
  ~chunk_pool() {
    for (auto* c : idle_) delete c;
  }
  chunk_pool(const chunk_pool&) = delete;
  chunk_pool& operator=(const chunk_pool&) = delete;

  /// A chunk as new, or as its last user left it.
  Chunk* take() {
    memory_account::of_this_thread().created(sizeof(Chunk));
    if (idle_.empty()) return new Chunk;
    auto* c = idle_.back();
    idle_.pop_back();
    return c;
  }
  void give_back(Chunk* c) noexcept {
    memory_account::of_this_thread().freed(sizeof(Chunk));
    if (idle_.size() < idle_.capacity())
      idle_.push_back(c);
    else
      delete c;
  }

  static chunk_pool& of_this_thread() {
    thread_local chunk_pool mine;
    return mine;
  }

private:
  static constexpr std::size_t keeps_bytes = 64 << 10;

  chunk_pool() { idle_.reserve(keeps_bytes / sizeof(Chunk)); }

  std::vector<Chunk*> idle_;
};

}  // namespace baton
