#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/perf/event_loop.hpp"
#include "cli/perf/target.hpp"
#include "cli/perf/wire.hpp"

namespace baton::perf {

/// One connection to a broker: connects, shakes hands, cuts the input into frames, sends what it is
/// given. Anything unexpected ends the whole run (`event_loop::fail`), since a load that silently
/// lost a connection would measure something else.
class client : public pollable {
public:
  client(event_loop& loop, const target& to) : loop_{loop}, to_{to} {}
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() override { drop(); }

  /// Begins to connect; `on_open` follows. A client that was closed may be opened again.
  void open();
  /// Begins an orderly close; `on_closed` follows.
  void close();
  /// Ends the connection at once, without a word.
  void drop();

  bool is_open() const noexcept { return state_ == state::open; }
  bool is_closed() const noexcept { return state_ == state::closed; }
  /// Largest frame that both sides agreed on, its overhead included.
  std::uint32_t frame_max() const noexcept { return frame_max_; }

  void on_events(std::uint32_t epoll_events) override;

protected:
  /// The connection can be used.
  virtual void on_open() = 0;
  /// Any frame but heartbeats and those that open and close the connection.
  virtual void on_frame(const wire::frame& frame) = 0;
  /// All frames of one read were handed out; `now` is the time of that read.
  virtual void on_read_done() {}
  /// The kernel takes more, and nothing that was sent before waits.
  virtual void on_writable() {}
  virtual void on_closed() {}

  /// Where to append frames; they leave with the next `flush()`.
  std::string& out() noexcept { return out_; }
  /// Writes what is waiting: first the rest of a borrowed block, then out(). False: the kernel
  /// takes no more for now, `on_writable` follows.
  bool flush();
  /// Writes `block`, which must stay unchanged until it has been written (`block_waits()`).
  bool send_block(byte_view block);
  bool block_waits() const noexcept { return !block_.empty(); }
  /// Calls `on_writable` again and again while the kernel takes more.
  void want_writable(bool wanted);

  void fail(const std::string& text);
  event_loop& loop() noexcept { return loop_; }
  const target& to() const noexcept { return to_; }
  /// When the bytes that are being handled were read.
  std::int64_t read_at_ns() const noexcept { return read_at_ns_; }

private:
  enum class state {
    closed,
    connecting,
    awaiting_start,
    awaiting_tune,
    awaiting_open_ok,
    open,
    closing
  };

  void read();
  void finish_connecting();
  std::size_t take(byte_view bytes);
  void take_handshake(const wire::frame& frame);
  void take_connection_method(const wire::frame& frame);
  void poll_for_output();

  event_loop& loop_;
  target to_;
  int fd_ = -1;
  state state_ = state::closed;
  std::uint32_t frame_max_ = 131072;
  std::uint32_t polled_ = 0;
  bool output_waits_ = false;
  bool want_writable_ = false;
  std::int64_t read_at_ns_ = 0;
  std::string leftover_;  // the beginning of a frame
  std::string out_;
  std::size_t out_written_ = 0;
  byte_view block_;
};

}  // namespace baton::perf
