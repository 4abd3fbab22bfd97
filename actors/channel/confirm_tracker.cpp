#include "actors/channel/confirm_tracker.hpp"

#include <algorithm>
#include <bit>

#include "actors/queue/chunk_pool.hpp"
#include "config/check.hpp"

namespace baton {

namespace {

constexpr std::uint32_t chunk_size = 64;

constexpr std::uint64_t bit_of(std::uint64_t tag) { return std::uint64_t{1} << (tag % chunk_size); }

constexpr std::uint64_t low_bits(std::uint32_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

confirm_tracker::~confirm_tracker() {
  while (auto* c = chunks_.at_or_after(0)) {
    c->open = c->untold = 0;
    close_if_done(*c);
  }
}

std::uint64_t confirm_tracker::publish() {
  auto tag = next_++;
  if (tail_ == nullptr || tail_->number != tag / chunk_size) {
    tail_ = chunk_pool<chunk>::of_this_thread().take();
    *tail_ = chunk{tag / chunk_size, 0, 0, 0};
    chunks_.insert(tail_);
  }
  tail_->open |= bit_of(tag);
  ++open_;
  return tag;
}

void confirm_tracker::complete(std::uint64_t first, std::uint32_t count, std::uint64_t refused) {
  BATON_CHECK(count <= 64);
  while (count > 0) {
    auto* c = chunks_.find(first / chunk_size);
    auto shift = static_cast<std::uint32_t>(first % chunk_size);
    auto here = std::min(count, chunk_size - shift);
    auto mask = low_bits(here) << shift;
    BATON_CHECK(c != nullptr && (c->open & mask) == mask);
    if (c->untold == 0) touched_.push_back(c->number);
    c->open &= ~mask;
    c->untold |= mask;
    c->refused |= (refused << shift) & mask;
    open_ -= here;
    first += here;
    count -= here;
    refused = here < 64 ? refused >> here : 0;
  }
}

void confirm_tracker::take(std::vector<confirmation>& out) {
  if (touched_.empty()) return;
  std::sort(touched_.begin(), touched_.end());
  const auto lowest_open = first_open();
  confirmation run{};  // the last one of those that one frame can cover
  std::uint64_t covered = 0;
  auto end_run = [&] {
    run.multiple = covered > 1;
    if (covered > 0) out.push_back(run);
    covered = 0;
  };
  for (auto number : touched_) {
    auto& c = *chunks_.find(number);
    for (auto untold = c.untold; untold != 0;) {
      const auto first = static_cast<std::uint32_t>(std::countr_zero(untold));
      const bool refused = (c.refused & bit_of(first)) != 0;
      const bool prefix = number * chunk_size + first < lowest_open;
      auto mask = untold & bit_of(first);
      if (prefix) {
        // All up to the first open one and up to the first with the opposite answer.
        auto obstacles = c.open | (untold & (refused ? ~c.refused : c.refused));
        mask = untold & low_bits(static_cast<std::uint32_t>(std::countr_zero(obstacles)));
      }
      if (!prefix || refused != run.refused) end_run();
      run.tag = number * chunk_size + 63 - static_cast<std::uint32_t>(std::countl_zero(mask));
      run.refused = refused;
      covered += static_cast<std::uint64_t>(std::popcount(mask));
      untold &= ~mask;
    }
    c.untold = 0;
    close_if_done(c);
  }
  end_run();
  touched_.clear();
}

std::uint64_t confirm_tracker::first_open() const noexcept {
  std::uint64_t number = 0;
  // Chunks without an open publish are among those touched since the last take.
  while (auto* c = chunks_.at_or_after(number)) {
    if (c->open != 0)
      return c->number * chunk_size + static_cast<std::uint32_t>(std::countr_zero(c->open));
    number = c->number + 1;
  }
  return next_;
}

void confirm_tracker::close_if_done(chunk& c) noexcept {
  if ((c.open | c.untold) != 0) return;
  if (&c == tail_) tail_ = nullptr;
  chunks_.erase(c.number);
  chunk_pool<chunk>::of_this_thread().give_back(&c);
}

}  // namespace baton
