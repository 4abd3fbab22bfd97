#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>

#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/timer_wheel.hpp"

namespace baton {

/// A timer of one actor, as a member of it: when it is due, it calls back on the actor's home loop
/// like a handler of that actor (`pinned_actor::enter`). Arming and cancelling are direct calls, a
/// few nanoseconds each, without allocation; a cancelled timer never fires. All timers of an actor
/// that ends are cancelled. It may arm itself anew when it is due, but not be destroyed then.
class timer final : private wheel_entry {
public:
  timer(pinned_actor& owner, std::function<void()> due);
  ~timer() override;

  /// Only in handlers of the owner. Arming anew moves it. A delay counts from `home().now()`, so
  /// from the beginning of the turn.
  void arm_at(steady_time when);
  void arm(std::chrono::nanoseconds delay);
  void cancel();

  using wheel_entry::is_armed;

private:
  friend class pinned_actor;

  void on_due() override;

  pinned_actor& owner_;
  std::function<void()> due_;
  timer* before_ = nullptr;  // the owner's other timers
  timer* after_ = nullptr;
};

/// Answers `arm_timer`.
struct timer_due {
  std::uint64_t token;
};
using timer_due_ref = actor_ref<timer_due>;

/// Asks for a `timer_due` with this token when `when` has come. It cannot be taken back: who no
/// longer wants it ignores the token.
struct arm_timer {
  steady_time when;
  timer_due_ref whom;
  std::uint64_t token;
};
using timer_ref = actor_ref<arm_timer>;

/// One on each loop: owns the loop's timing wheel and its alarm. Actors of the same loop use it
/// through `timer`; who has no wheel (a thread that is no loop, another loop) sends it messages.
class timer_actor final : public actor_of<timer_actor, timer_ref>, private alarm_handler {
public:
  explicit timer_actor(caf::actor_config& config);

  const char* name() const override { return "timer"; }

  void arm(wheel_entry& entry, steady_time when);
  void cancel(wheel_entry& entry) noexcept { wheel_.cancel(entry); }
  std::size_t armed() const noexcept { return wheel_.armed(); }

  void handle(arm_timer& request);

protected:
  void on_start() override;
  void on_exit() override;

private:
  /// A timer that was armed by message.
  struct notice final : wheel_entry {
    notice(timer_actor& keeper, arm_timer asked) : keeper_{keeper}, asked_{std::move(asked)} {}
    void on_due() override;

    timer_actor& keeper_;
    arm_timer asked_;
    std::list<notice>::iterator here_;
  };

  void on_alarm(steady_time now) override;
  void set_alarm() noexcept;

  // Fired at most in one turn, so that a million timers that are due together hold up nobody.
  static constexpr std::size_t fired_at_once = 256;

  timer_wheel wheel_;
  std::list<notice> notices_;
};

}  // namespace baton
