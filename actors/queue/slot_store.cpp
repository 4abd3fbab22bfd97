#include "actors/queue/slot_store.hpp"

#include <algorithm>
#include <bit>

#include "actors/queue/chunk_pool.hpp"
#include "storage/memory_account.hpp"

namespace baton {

void slot_store::open_tail(std::uint64_t number) {
  tail_ = chunk_pool<slot_chunk>::of_this_thread().take();
  tail_->number = number;
  chunks_.insert(tail_);
}

void slot_store::set_deadline(slot_chunk& c, unsigned index, moment deadline) {
  if (!c.deadlines) {
    c.deadlines = std::make_unique<slot_chunk::deadline_block>();
    memory_account::of_this_thread().created(sizeof *c.deadlines);
    c.deadlines->at.fill(never);
    c.deadlines->indexed = never;
  }
  c.deadlines->at[index] = deadline;
  if (deadline < c.deadlines->indexed) index_deadline(c, deadline);
}

slot_chunk* slot_store::first_ready() noexcept {
  const auto unless_on_disk = [this](slot_chunk* c) {
    return ready_before_disk(*c) != 0 ? c : nullptr;
  };
  if (!returned_.empty()) return unless_on_disk(chunks_.find(*returned_.begin()));
  while (auto* c = chunks_.at_or_after(head_)) {
    if (first_on_disk() < c->at(0)) return nullptr;
    head_ = c->number;
    if (c->ready != 0) return unless_on_disk(c);
    if (c == tail_) return nullptr;
    ++head_;
  }
  return nullptr;
}

void slot_store::lease_out(slot_chunk& c, std::uint64_t mask) noexcept {
  c.ready &= ~mask;
  c.leased |= mask;
  if (c.ready == 0 && c.number < head_) returned_.erase(c.number);
}

void slot_store::give_back(slot_chunk& c, std::uint64_t mask) {
  if (mask == 0) return;
  if (c.ready == 0 && c.number < head_) returned_.insert(c.number);
  c.leased &= ~mask;
  c.ready |= mask;
  if (side_) side_->records.returned(c, mask);
  if (!c.deadlines) return;
  auto earliest = c.deadlines->indexed;
  for (auto rest = mask; rest != 0; rest &= rest - 1)
    earliest = std::min(earliest, c.deadlines->at[std::countr_zero(rest)]);
  if (earliest < c.deadlines->indexed) index_deadline(c, earliest);
}

void slot_store::retire(slot_chunk& c, std::uint64_t mask) noexcept {
  if ((c.stored & mask) != 0) side_->records.gone(c, mask);
  c.ready &= ~mask;
  c.leased &= ~mask;
  if (c.ready == 0 && c.number < head_) returned_.erase(c.number);
  if ((c.ready | c.leased) == 0) close(c);
}

void slot_store::close(slot_chunk& c) noexcept {
  if (c.deadlines) {
    unindex_deadline(c);
    c.deadlines.reset();
    memory_account::of_this_thread().freed(sizeof(slot_chunk::deadline_block));
  }
  if (c.places) {
    c.places.reset();
    memory_account::of_this_thread().freed(sizeof(slot_chunk::place_block));
  }
  c.stored = 0;
  if (&c == tail_) tail_ = nullptr;
  chunks_.erase(c.number);
  chunk_pool<slot_chunk>::of_this_thread().give_back(&c);
}

void slot_store::clear() noexcept {
  slab_releases releases;
  while (auto* c = chunks_.at_or_after(0)) {
    for (auto rest = c->ready | c->leased; rest != 0; rest &= rest - 1)
      std::move(c->slots[std::countr_zero(rest)].content).release_through(releases);
    retire(*c, ~std::uint64_t{0});
  }
  if (side_) drop_disk();
}

std::optional<std::pair<slot_chunk*, std::uint64_t>> slot_store::take_due(moment now) {
  while (side_ && !side_->due.empty() && side_->due.begin()->first <= now) {
    side_->overdue.push_back(side_->due.begin()->second);
    side_->due.erase(side_->due.begin());
  }
  if (due_.empty() || due_.begin()->first > now) return std::nullopt;
  auto& c = *chunks_.find(due_.begin()->second);
  unindex_deadline(c);
  std::uint64_t due = 0;
  auto remaining = never;
  for (auto rest = c.ready; rest != 0; rest &= rest - 1) {
    auto index = std::countr_zero(rest);
    auto deadline = c.deadlines->at[index];
    if (deadline <= now)
      due |= std::uint64_t{1} << index;
    else
      remaining = std::min(remaining, deadline);
  }
  if (remaining != never) index_deadline(c, remaining);
  return std::pair{&c, due};
}

void slot_store::index_deadline(slot_chunk& c, moment deadline) {
  unindex_deadline(c);
  due_.emplace(deadline, c.number);
  c.deadlines->indexed = deadline;
}

void slot_store::unindex_deadline(slot_chunk& c) noexcept {
  if (c.deadlines->indexed == never) return;
  due_.erase({c.deadlines->indexed, c.number});
  c.deadlines->indexed = never;
}

}  // namespace baton
