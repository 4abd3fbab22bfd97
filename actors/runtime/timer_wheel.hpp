#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/net/clock.hpp"

namespace baton {

class timer_wheel;

/// Something that waits in a wheel for its time. Intrusive: arming allocates nothing. It must not
/// be destroyed while it is armed.
class wheel_entry {
public:
  wheel_entry(const wheel_entry&) = delete;
  wheel_entry& operator=(const wheel_entry&) = delete;

  /// Its time has come; it is no longer armed, and may be armed again or destroyed in here.
  virtual void on_due() = 0;

  bool is_armed() const noexcept { return after_ != this; }

protected:
  wheel_entry() = default;
  virtual ~wheel_entry() = default;

private:
  friend class timer_wheel;

  static constexpr std::uint16_t no_slot = 0xffff;

  void link_before(wheel_entry& other) noexcept;
  void unlink() noexcept;

  wheel_entry* before_ = this;  // itself: not armed
  wheel_entry* after_ = this;
  std::uint64_t tick_ = 0;
  std::uint16_t slot_ = no_slot;  // level * 64 + place; none while it is being fired
};

/// A hierarchical timing wheel: arming and cancelling are O(1), firing is O(1) amortized (an entry
/// moves down at most once a level), for any delay, with a resolution of 1 ms. Nothing fires early.
///
/// Eight levels of 64 slots: a slot of level n spans 64^n ms. An entry lies on the level of the
/// highest base-64 digit in which its tick differs from the present one, in the slot of that digit;
/// so every entry of a lower level is due before any of a higher one. When time comes to a slot
/// above level 0, its entries are placed anew.
///
/// It reads no clock; whoever owns it moves its time.
class timer_wheel {
public:
  static constexpr std::chrono::milliseconds resolution{1};

  explicit timer_wheel(steady_time start) : start_{start} {}
  timer_wheel(const timer_wheel&) = delete;
  timer_wheel& operator=(const timer_wheel&) = delete;
  ~timer_wheel();

  /// Fires `entry` once when `when` has come, in the next `advance` at the earliest. Arming anew
  /// moves it. What lies beyond the wheel's 8,900 years fires at their end.
  void arm(wheel_entry& entry, steady_time when) noexcept;

  /// Does nothing to an entry that is not armed.
  void cancel(wheel_entry& entry) noexcept;

  /// Moves time to `now` and fires what is due by then, in the order of the ticks, but at most
  /// `at_most` entries: the others stay due. What they arm meanwhile waits for the next call.
  /// Returns how many were fired.
  std::size_t advance(steady_time now, std::size_t at_most);

  /// When `advance` has something to do; `steady_time::max()`: never. Not later than the earliest
  /// entry is due; it may be earlier, when entries have to move down a level.
  steady_time next_work() const noexcept;

  std::size_t armed() const noexcept { return armed_; }

private:
  static constexpr std::size_t levels = 8;
  static constexpr unsigned level_bits = 6;
  static constexpr std::uint64_t slots = 1u << level_bits;
  static constexpr std::uint64_t last_tick = (std::uint64_t{1} << (levels * level_bits)) - 1;

  struct slot_head final : wheel_entry {
    void on_due() override {}
  };
  struct next_slot {
    std::uint64_t tick;  // when it begins
    std::size_t index;   // level * 64 + place
  };

  void place(wheel_entry& entry) noexcept;
  bool find_next(next_slot& found) const noexcept;
  void open(next_slot slot) noexcept;

  const steady_time start_;
  std::uint64_t now_ = 0;  // ticks since the start
  std::size_t armed_ = 0;
  std::array<std::uint64_t, levels> occupied_{};  // one bit a slot
  std::array<slot_head, levels * slots> heads_;
  slot_head due_;
};

}  // namespace baton
