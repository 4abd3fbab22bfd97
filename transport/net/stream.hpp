#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "storage/byte_view.hpp"
#include "transport/net/endpoint.hpp"

namespace baton {

enum class io_status : std::uint8_t {
  ok,           // some bytes were moved
  would_block,  // none now; the handler is told when it is worth another try
  closed,       // reading: the other end has finished writing; no bytes follow
  failed,       // the connection is dead; `stream::failure()` says why
};

struct io_result {
  io_status status = io_status::ok;
  std::size_t bytes = 0;
};

/// What a stream calls, on its reactor's thread, from inside `reactor::dispatch`. Inside a call the
/// stream may be destroyed.
class stream_handler {
public:
  /// There are bytes, or the end, or a failure to read. Called once in each dispatch for as long as
  /// that is so and reading is not paused: a handler may read a little and leave the rest.
  virtual void on_readable() = 0;

  /// There is room again after a write that was short, or `connect` has come to a result. Called
  /// once for each `notify_writable`.
  virtual void on_writable() = 0;

protected:
  ~stream_handler() = default;
};

/// A non-blocking stream of bytes to one other end. It holds no buffer: an idle stream costs its
/// object and what the kernel keeps. Used only on the thread of the reactor that it is attached to.
class stream {
public:
  stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// Closes. What was written is still sent by the kernel.
  virtual ~stream() = default;

  /// Whom to call; it must outlive the stream or be replaced. Without a handler, as at the start,
  /// nothing is reported and nothing is lost.
  virtual void set_handler(stream_handler* handler) = 0;

  /// Takes what is there, up to the size of `into`. A read that does not fill `into` needs no
  /// second one: the handler is called when more arrives. One system call.
  virtual io_result read(std::span<std::uint8_t> into) = 0;

  /// Hands over the pieces in order, as many bytes of them as there is room for; any number of
  /// pieces. `ok` with fewer bytes than given, or `would_block`: call `notify_writable`. One system
  /// call for each 1,024 pieces.
  virtual io_result write(std::span<const byte_view> pieces) = 0;

  /// Asks for one `on_writable` when there is room.
  virtual void notify_writable() = 0;

  /// No `on_readable` until `resume_reading`. The other end feels it once the kernel's buffers are
  /// full. No system call.
  virtual void pause_reading() = 0;
  virtual void resume_reading() = 0;

  /// Tells the other end that no bytes will follow; reading goes on.
  virtual void shutdown_write() = 0;

  /// Closes without delivering what is still in the kernel: the other end sees a reset.
  virtual void abort() = 0;

  /// Sends small writes at once (TCP_NODELAY); on from the start.
  virtual void set_no_delay(bool on) = 0;

  virtual endpoint local() const = 0;
  virtual endpoint peer() const = 0;

  /// Why it failed, for a person; empty when it did not.
  virtual std::string failure() const = 0;
};

/// A connection that was accepted and belongs to no reactor yet. It may travel to another thread;
/// `reactor::attach` makes a stream of it. Dropping it closes it.
class unattached_stream {
public:
  class state {
  public:
    virtual ~state() = default;
    virtual endpoint local() const = 0;
    virtual endpoint peer() const = 0;
  };

  explicit unattached_stream(std::unique_ptr<state> held) : held_{std::move(held)} {}

  endpoint local() const { return held_->local(); }
  endpoint peer() const { return held_->peer(); }

  /// For reactors.
  std::unique_ptr<state> release() && { return std::move(held_); }

private:
  std::unique_ptr<state> held_;
};

}  // namespace baton
