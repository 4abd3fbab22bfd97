#include "actors/runtime/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace baton {

using std::chrono::milliseconds;

void wheel_entry::link_before(wheel_entry& other) noexcept {
  before_ = other.before_;
  after_ = &other;
  before_->after_ = this;
  other.before_ = this;
}

void wheel_entry::unlink() noexcept {
  before_->after_ = after_;
  after_->before_ = before_;
  before_ = after_ = this;
}

timer_wheel::~timer_wheel() {
  for (slot_head& head : heads_)
    while (head.is_armed()) head.after_->unlink();
  while (due_.is_armed()) due_.after_->unlink();
}

void timer_wheel::arm(wheel_entry& entry, steady_time when) noexcept {
  cancel(entry);
  // Rounded up, and never the present tick: that one has been fired.
  const auto ticks = std::chrono::ceil<milliseconds>(when - start_).count();
  entry.tick_ = std::clamp(static_cast<std::uint64_t>(std::max<std::int64_t>(ticks, 0)), now_ + 1,
                           std::max(now_ + 1, last_tick));
  place(entry);
  ++armed_;
}

void timer_wheel::cancel(wheel_entry& entry) noexcept {
  if (!entry.is_armed()) return;
  entry.unlink();
  --armed_;
  if (entry.slot_ != wheel_entry::no_slot && !heads_[entry.slot_].is_armed())
    occupied_[entry.slot_ / slots] &= ~(std::uint64_t{1} << entry.slot_ % slots);
}

void timer_wheel::place(wheel_entry& entry) noexcept {
  if (entry.tick_ <= now_) {
    entry.slot_ = wheel_entry::no_slot;
    return entry.link_before(due_);
  }
  const auto highest_bit = static_cast<unsigned>(std::bit_width(entry.tick_ ^ now_)) - 1;
  const std::size_t level = std::min<std::size_t>(highest_bit / level_bits, levels - 1);
  const std::uint64_t place = entry.tick_ >> (level * level_bits) & (slots - 1);
  entry.slot_ = static_cast<std::uint16_t>(level * slots + place);
  occupied_[level] |= std::uint64_t{1} << place;
  entry.link_before(heads_[entry.slot_]);
}

bool timer_wheel::find_next(next_slot& found) const noexcept {
  for (std::size_t level = 0; level < levels; ++level) {
    if (occupied_[level] == 0) continue;
    // All occupied slots of a level lie ahead of the present digit, see `place`.
    const auto place = static_cast<std::uint64_t>(std::countr_zero(occupied_[level]));
    const std::size_t shift = level * level_bits;
    found.index = level * slots + place;
    found.tick = (now_ >> (shift + level_bits) << (shift + level_bits)) | place << shift;
    return true;
  }
  return false;
}

void timer_wheel::open(next_slot slot) noexcept {
  slot_head& head = heads_[slot.index];
  occupied_[slot.index / slots] &= ~(std::uint64_t{1} << slot.index % slots);
  while (head.is_armed()) {
    wheel_entry& entry = *head.after_;
    entry.unlink();
    place(entry);
  }
}

std::size_t timer_wheel::advance(steady_time now, std::size_t at_most) {
  const auto ticks = std::chrono::floor<milliseconds>(now - start_).count();
  const std::uint64_t target =
      std::max(now_, static_cast<std::uint64_t>(std::max<std::int64_t>(ticks, 0)));
  for (next_slot next; find_next(next) && next.tick <= target;) {
    now_ = next.tick;
    open(next);
  }
  now_ = target;
  std::size_t fired = 0;
  while (fired < at_most && due_.is_armed()) {
    wheel_entry& entry = *due_.after_;
    entry.unlink();
    --armed_;
    ++fired;
    entry.on_due();
  }
  return fired;
}

steady_time timer_wheel::next_work() const noexcept {
  if (due_.is_armed()) return start_ + milliseconds{now_};
  next_slot next;
  return find_next(next) ? start_ + milliseconds{next.tick} : steady_time::max();
}

}  // namespace baton
