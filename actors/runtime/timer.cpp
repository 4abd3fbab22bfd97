#include "actors/runtime/timer.hpp"

namespace baton {

// -- a timer of one actor -----------------------------------------------------------------------

timer::timer(pinned_actor& owner, std::function<void()> due)
    : owner_{owner}, due_{std::move(due)}, after_{owner.timers_} {
  if (after_ != nullptr) after_->before_ = this;
  owner.timers_ = this;
}

timer::~timer() {
  cancel();
  (before_ == nullptr ? owner_.timers_ : before_->after_) = after_;
  if (after_ != nullptr) after_->before_ = before_;
}

void timer::arm_at(steady_time when) {
  BATON_CHECK(!owner_.has_ended());
  owner_.home().timer().arm(*this, when);
}

void timer::arm(std::chrono::nanoseconds delay) {
  arm_at(owner_.home().now() + std::chrono::duration_cast<steady_time::duration>(delay));
}

void timer::cancel() {
  if (is_armed()) owner_.home().timer().cancel(*this);
}

void timer::on_due() {
  owner_.enter([this] { due_(); });
}

void pinned_actor::cancel_timers() noexcept {
  for (timer* one = timers_; one != nullptr; one = one->after_) one->cancel();
}

// -- the timer of a loop ------------------------------------------------------------------------

timer_actor::timer_actor(caf::actor_config& config)
    : actor_of{config}, wheel_{home().time().now()} {}

void timer_actor::on_start() { set_alarm(); }

void timer_actor::on_exit() {
  home().set_alarm(loop::never, nullptr);
  for (notice& one : notices_) wheel_.cancel(one);
  notices_.clear();
}

void timer_actor::arm(wheel_entry& entry, steady_time when) {
  wheel_.arm(entry, when);
  set_alarm();
}

void timer_actor::handle(arm_timer& request) {
  notice& one = notices_.emplace_back(*this, std::move(request));
  one.here_ = std::prev(notices_.end());
  arm(one, one.asked_.when);
}

void timer_actor::notice::on_due() {
  asked_.whom.send(timer_due{asked_.token});
  keeper_.notices_.erase(here_);
}

void timer_actor::on_alarm(steady_time now) {
  wheel_.advance(now, fired_at_once);
  set_alarm();
}

void timer_actor::set_alarm() noexcept { home().set_alarm(wheel_.next_work(), this); }

}  // namespace baton
