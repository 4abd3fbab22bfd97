// Moves what a queue keeps out of slabs that mostly hold what is gone.

#include <bit>
#include <vector>

#include "actors/queue/queue_core.hpp"

namespace baton {

namespace {

// A queue with fewer ready messages than this is on its way to be empty.
constexpr std::uint64_t worth_repacking = 16'384;

/// Slots of one chunk whose messages share a slab.
struct neighbours {
  slot_chunk* chunk;
  std::uint64_t mask = 0;
  std::uint64_t bytes = 0;  // that a copy of them needs

  std::uint64_t count() const noexcept { return static_cast<std::uint64_t>(std::popcount(mask)); }
};

/// What the messages of a slab cost, counted for these alone: their part of it by heads. Others
/// that hold it as thinly decide the same for theirs, then it goes.
std::uint64_t cost(const neighbours& n, const slab& memory) noexcept {
  return memory.capacity() * n.count() / memory.holders();
}

}  // namespace

void queue_core::repack_while_growing(std::size_t published) {
  if (totals_.ready < worth_repacking) return;
  // Looks back at as many as have come: a fixed price for each message.
  not_looked_at_ += published;
  if (not_looked_at_ < slot_chunk::size) return;
  not_looked_at_ = 0;
  repack(1);
}

std::uint64_t queue_core::repack(std::size_t chunks) {
  std::vector<neighbours> sparse;
  std::uint64_t now = 0;
  std::uint64_t wanted = 0;
  const slab* memory = nullptr;
  neighbours run{};
  auto end_run = [&] {
    if (memory != nullptr && cost(run, *memory) > 2 * run.bytes) {
      sparse.push_back(run);
      now += cost(run, *memory);
      wanted += run.bytes;
    }
    memory = nullptr;
  };
  for (; chunks > 0; --chunks) {
    auto* c = slots_.at_or_after(repack_at_);
    if (c == nullptr) {
      repack_at_ = 0;
      break;
    }
    repack_at_ = c->number + 1;
    for (auto rest = c->ready; rest != 0; rest &= rest - 1) {
      const auto& m = c->slots[std::countr_zero(rest)].content;
      if (m.large() != nullptr) continue;  // it travels alone
      if (&m.memory() != memory) {
        end_run();
        memory = &m.memory();
        run = {c, 0, 0};
      }
      run.mask |= rest & -rest;
      run.bytes += slab::rounded(m.footprint());
    }
    end_run();
  }
  if (sparse.empty()) return 0;

  slab_writer writer;
  writer.pack(wanted);
  slab_releases releases;
  for (const auto& n : sparse)
    for (auto rest = n.mask; rest != 0; rest &= rest - 1) {
      auto& kept = n.chunk->slots[std::countr_zero(rest)].content;
      auto copy = writer.copy(kept);
      std::move(kept).release_through(releases);
      kept = std::move(copy);
    }
  return now - wanted;
}

}  // namespace baton
