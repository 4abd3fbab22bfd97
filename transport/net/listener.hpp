#pragma once

#include "config/result.hpp"
#include "transport/net/stream.hpp"

namespace baton {

/// What a listener calls, on its reactor's thread, from inside `reactor::dispatch`. Inside a call
/// the listener may be destroyed.
class listener_handler {
public:
  virtual void on_accept(unattached_stream accepted) = 0;

  /// Nothing can be accepted now (as a rule there are no file descriptors left). The listener tries
  /// again when its reactor has closed a descriptor, and every 100 ms. Called once for each
  /// episode.
  virtual void on_accept_blocked(const error& why) = 0;

  /// The episode is over.
  virtual void on_accept_recovered() = 0;

protected:
  ~listener_handler() = default;
};

/// Accepts connections, up to 64 in each dispatch. Used only on its reactor's thread. Destroying it
/// stops listening; connections that nobody has accepted are reset.
class listener {
public:
  listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  virtual ~listener() = default;

  /// Where it listens, with the port that the kernel chose if it was asked for any.
  virtual endpoint local() const = 0;

  /// Leaves new connections in the kernel's queue until `resume`.
  virtual void pause() = 0;
  virtual void resume() = 0;
};

}  // namespace baton
