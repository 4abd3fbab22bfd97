#pragma once

#include <chrono>
#include <memory>

#include "config/result.hpp"
#include "transport/net/clock.hpp"
#include "transport/net/listener.hpp"
#include "transport/net/stream.hpp"

namespace baton {

/// Watches the sockets of one thread. All calls but `wake` are made on that thread.
///
///     while (running) {
///       reactor.wait(until_the_next_timer);  // may sleep
///       reactor.dispatch(64);                // calls handlers
///     }
class reactor {
public:
  reactor() = default;
  reactor(const reactor&) = delete;
  reactor& operator=(const reactor&) = delete;

  /// Every stream and listener of it is gone by then.
  virtual ~reactor() = default;

  /// Listens; an address in use, a name that does not resolve, a missing permission are errors. A
  /// path that nobody serves any more is taken over.
  virtual result<std::unique_ptr<listener>> listen(const endpoint& where,
                                                   listener_handler& handler) = 0;

  /// Begins to connect and returns at once. `notify_writable` reports the result: after it a read
  /// or write works, or fails with the reason.
  virtual result<std::unique_ptr<stream>> connect(const endpoint& where) = 0;

  /// Takes over a connection that this or another reactor has accepted.
  virtual std::unique_ptr<stream> attach(unattached_stream accepted) = 0;

  /// Sleeps until a handler has something to do, another thread calls `wake`, or `at_most` is over
  /// (negative: no limit; zero: only looks). Calls no handler.
  virtual void wait(std::chrono::nanoseconds at_most) = 0;

  /// Lets `at_most` of the streams and listeners that have something to say call their handlers, in
  /// the order in which they had it; returns how many. What is then left makes the next `wait`
  /// return at once.
  virtual std::size_t dispatch(std::size_t at_most) = 0;

  /// Ends a `wait`, the next one if none is under way. Any thread; one system call.
  virtual void wake() noexcept = 0;
};

/// A reactor on the machine's sockets. Fails when the machine refuses the descriptors it needs.
result<std::unique_ptr<reactor>> make_system_reactor(const clock& time);

}  // namespace baton
