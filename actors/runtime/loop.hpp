#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <caf/execution_unit.hpp>

#include "actors/runtime/loop_task.hpp"
#include "transport/net/reactor.hpp"

namespace baton {

class loop;
class pinned_actor;
class timer_actor;

/// Something to do once at the end of the turn, however often it was asked for: a connection hands
/// its output to the socket. Single-threaded; it may be destroyed while it is deferred.
class flushable {
public:
  flushable(const flushable&) = delete;
  flushable& operator=(const flushable&) = delete;

  virtual void flush() = 0;

protected:
  flushable() = default;
  virtual ~flushable() { unlink(); }

private:
  friend class loop;

  void unlink() noexcept {
    before_->after_ = after_;
    after_->before_ = before_;
    before_ = after_ = this;
  }

  flushable* before_ = this;  // itself: not deferred
  flushable* after_ = this;
};

/// What the loop calls when its alarm is due.
class alarm_handler {
public:
  virtual void on_alarm(steady_time now) = 0;

protected:
  ~alarm_handler() = default;
};

/// Counters of one loop. Written by its thread only, read by any.
struct loop_statistics {
  std::atomic<std::uint64_t> turns{0};
  std::atomic<std::uint64_t> tasks{0};     // times that an actor was resumed
  std::atomic<std::uint64_t> routed{0};    // messages, as told to `count_routed`
  std::atomic<std::uint64_t> failures{0};  // actors ended by an exception
  std::atomic<std::uint64_t> wakes{0};     // by other threads; each one was a system call
  std::atomic<std::uint64_t> sleeps{0};
  std::atomic<std::uint64_t> busy_ns{0};
  std::atomic<std::uint64_t> slept_ns{0};
};

/// One thread, one reactor, and all actors and sockets that live on it; they take turns:
///
///     inbox, alarm -> ready actors, for 50 us or 256 routed messages -> flushes -> sockets
///
/// A loop with nothing to do sleeps in its reactor, until a socket, its alarm or another thread has
/// something. Only what says so may be called from other threads.
class loop final : public caf::execution_unit {
public:
  static constexpr std::chrono::microseconds turn_time{50};
  static constexpr std::size_t turn_routed = 256;
  static constexpr std::size_t scratch_size = 64 * 1024;
  static constexpr steady_time never = steady_time::max();

  loop(caf::actor_system& system, std::size_t index, const clock& time,
       std::unique_ptr<reactor> sockets);
  ~loop() override;

  /// The loop whose turn it is on this thread; null on threads that are no loop's.
  static loop* current() noexcept { return current_; }

  std::size_t index() const noexcept { return index_; }
  reactor& sockets() noexcept { return *sockets_; }

  /// The timer of this loop, for actors that live on it.
  timer_actor& timer() noexcept { return *timer_; }
  void set_timer(timer_actor* timer) noexcept { timer_ = timer; }

  /// The time at the beginning of the turn: no look at a clock, at most about a turn old. Any
  /// thread.
  steady_time now() const noexcept {
    return steady_time{steady_time::duration{now_.load(std::memory_order_relaxed)}};
  }
  const clock& time() const noexcept { return time_; }

  /// Memory for what is looked at within one call, above all what a socket has to say. Any call may
  /// overwrite it.
  std::span<std::uint8_t> scratch() noexcept { return {scratch_.get(), scratch_size}; }

  /// Messages that an actor has routed, in a handler or a callback; 256 of them end the turn.
  void count_routed(std::size_t messages) noexcept { routed_in_turn_ += messages; }

  /// `work.flush()` once, when nothing is ready any more or the turn ends. Deferring twice is once.
  void defer(flushable& work) noexcept;
  /// Takes it back. An actor that is one is taken back when it ends; others have to see to it.
  void undefer(flushable& work) noexcept { work.unlink(); }

  /// Calls `handler` when `when` has come; the latest call counts, `never` clears it.
  void set_alarm(steady_time when, alarm_handler* handler) noexcept {
    alarm_ = when;
    alarm_handler_ = handler;
  }

  /// Runs `task` soon, on this loop. Any thread. From its own thread there is no atomic operation;
  /// from another one a system call only when the loop sleeps.
  void schedule(loop_task& task) noexcept;
  /// The same for what is CAF's. Any thread.
  void exec_later(caf::resumable* job) override;

  /// Share of the time that the loop was busy, lately (over about 100 ms), from 0 to 1. Any thread.
  double load() const noexcept;
  /// Any thread.
  loop_statistics& statistics() noexcept { return statistics_; }

  /// How many messages an actor handles before the next one's turn.
  std::size_t quantum() const noexcept { return quantum_; }
  void set_quantum(std::size_t messages) noexcept { quantum_ = messages; }

  // The life of the thread; for the runtime.

  /// Takes turns until a stop is requested, then ends the actors that still live here.
  void run();
  /// Any thread.
  void request_stop() noexcept;
  /// Drops what arrived after `run` had returned. No other loop runs any more.
  void discard_leftovers() noexcept;

  // One step at a time, for the simulation. The caller makes the loop current.

  /// Makes `which` (may be null) this thread's loop while it lives.
  class as_current {
  public:
    explicit as_current(loop* which) noexcept : before_{current_} { current_ = which; }
    ~as_current() { current_ = before_; }
    as_current(const as_current&) = delete;
    as_current& operator=(const as_current&) = delete;

  private:
    loop* before_;
  };
  std::size_t ready_tasks() noexcept;
  void run_ready(std::size_t position);
  bool has_deferred() const noexcept { return deferred_.after_ != &deferred_; }
  void flush_deferred();
  steady_time alarm() const noexcept { return alarm_; }
  void fire_alarm_if_due();
  /// Ends every actor that lives here, the youngest first.
  void end_actors() noexcept;

private:
  friend class pinned_actor;

  void run_turn();
  void run_ready_tasks();
  void dispatch_sockets();
  void look_at_clock() noexcept {
    now_.store(time_.now().time_since_epoch().count(), std::memory_order_relaxed);
  }
  void wait_and_dispatch();
  void note_load(steady_time slept_from, steady_time slept_to) noexcept;

  static thread_local loop* current_;

  const std::size_t index_;
  const clock& time_;
  std::unique_ptr<reactor> sockets_;
  std::unique_ptr<std::uint8_t[]> scratch_;
  timer_actor* timer_ = nullptr;

  std::atomic<steady_time::rep> now_;
  std::size_t routed_in_turn_ = 0;
  std::size_t quantum_ = 32;
  task_list ready_;
  struct deferred_list final : flushable {
    void flush() override {}
  };
  deferred_list deferred_;  // the ring's fixed point: first after it, last before it
  steady_time alarm_ = never;
  alarm_handler* alarm_handler_ = nullptr;
  pinned_actor* youngest_ = nullptr;  // of the actors that live here

  steady_time awake_since_;
  steady_time load_since_;
  std::chrono::nanoseconds busy_lately_{0};
  std::atomic<double> load_{0};
  std::atomic<steady_time::rep> asleep_since_{0};  // 0: awake
  loop_statistics statistics_;

  alignas(64) loop_inbox inbox_;  // the only words that other threads write
  std::atomic<bool> stop_{false};
};

}  // namespace baton
