#pragma once

#include <atomic>
#include <exception>
#include <string>
#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/system_messages.hpp>

#include "actors/runtime/envelope.hpp"
#include "actors/runtime/loop.hpp"
#include "config/check.hpp"

namespace baton {

class timer;

/// Base of all of Baton's actors: it lives on one loop and is only ever resumed there, so it may
/// use the loop, its sockets and its timer without a lock.
///
/// Whatever a handler throws ends this actor, and only it (`on_failure`); those who watch it see
/// the reason. So does a message that it does not know. It lives until it quits, whether or not
/// anybody knows it: its loop keeps it.
class pinned_actor : public caf::event_based_actor, private loop_task {
public:
  /// `config.host` is the home loop: spawn with `baton::spawn`.
  explicit pinned_actor(caf::actor_config& config);
  ~pinned_actor() override;

  loop& home() const noexcept { return home_; }

  /// Runs `work` like a handler, on the home loop: for what sockets, flushes and alarms call.
  /// Whatever it throws, or a `quit` in it, ends the actor at once; `work` must not touch it
  /// afterwards. Inside a handler it is just a call. Nothing runs once the actor has ended.
  template <class Work>
  void enter(Work&& work) {
    if (is_in_handler_) return std::forward<Work>(work)();
    if (has_ended() || !activate(&home_)) return;  // the first one also starts it
    caf::strong_actor_ptr alive{ctrl()};
    is_in_handler_ = true;
    try {
      std::forward<Work>(work)();
    } catch (...) {
      fail(std::current_exception());
    }
    is_in_handler_ = false;
    finalize();
  }

  /// Whether it has ended or is about to; only on its home loop.
  bool has_ended() const noexcept { return getf(is_shutting_down_flag | is_terminated_flag); }

  /// Whether it has ended, or is about to, because a handler threw; any thread.
  bool has_failed() const noexcept { return has_failed_.load(std::memory_order_acquire); }

  /// Hears of the end of `whom` through `on_down`, at once if it has ended already.
  template <class Ref>
  void watch(const Ref& whom) {
    if (whom) local_actor::monitor(whom.actor(), caf::message_priority::normal);
  }

  // For `actor_ref` and the loop.

  /// Any thread. An envelope to an actor that has ended is destroyed here.
  void take(envelope* letter) noexcept { push(caf::mailbox_element_ptr{letter}); }

protected:
  /// Handles one envelope; false when it knows no such message. Overridden by `actor_of`.
  virtual bool dispatch(envelope& letter) = 0;

  /// Before the first message, on the home loop.
  virtual void on_start() {}

  /// An actor that it watches has ended; an empty reason is an orderly end. Watching without
  /// overriding this is a broken invariant.
  virtual void on_down(const caf::actor_addr& whom, const std::string& reason);

  /// A handler threw, and the actor ends for it: the place to tell whoever would wait for it in
  /// vain, ahead of `on_exit`. If the handler had quit before it threw, it `has_ended()` already.
  /// Writes `why` to the log unless overridden. What this throws in its turn is dropped.
  virtual void on_failure(const std::string& why);

  /// Drops all state, above all handles of others: cycles of handles end here. Once, on the home
  /// loop, after the last handler.
  void on_exit() override {}

private:
  // CAF's face.
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* from) final;
  resume_result resume(caf::execution_unit* unit, std::size_t max_messages) final;
  void initialize() final;
  caf::behavior make_behavior() final;
  bool cleanup(caf::error&& reason, caf::execution_unit* host) final;

  // The loop's face.
  void run_task(loop& on) final;
  void discard_task() noexcept final;

  friend class loop;
  friend class timer;
  struct mailbox_visitor;

  void push(caf::mailbox_element_ptr element) noexcept;
  bool handle(caf::mailbox_element& element);
  void fail(const std::exception_ptr& what);
  caf::error failed(const std::exception_ptr& what);
  void leave_home() noexcept;
  void cancel_timers() noexcept;

  loop& home_;
  std::atomic<bool> has_failed_{false};
  bool is_in_handler_ = false;
  pinned_actor* older_ = nullptr;  // neighbours in the home loop's list
  pinned_actor* younger_ = nullptr;
  timer* timers_ = nullptr;  // all that it has, armed or not
  bool is_at_home_ = false;
};

}  // namespace baton
