#include "cli/perf/client.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/perf/clock.hpp"

namespace baton::perf {
namespace {

/// A non-blocking socket that has begun to connect, or -1 and errno.
int begin_connect(const socket_address& to) {
  const int fd = socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const auto* address = reinterpret_cast<const sockaddr*>(&to.storage);
  if (connect(fd, address, to.length) == 0 || errno == EINPROGRESS) return fd;
  const int problem = errno;
  ::close(fd);
  errno = problem;
  return -1;
}

}  // namespace

void client::open() {
  fd_ = begin_connect(to_.address);
  if (fd_ < 0) return fail(std::string{"cannot connect: "} + std::strerror(errno));
  state_ = state::connecting;
  polled_ = EPOLLIN | EPOLLOUT;
  loop_.add(fd_, polled_, *this);
}

void client::finish_connecting() {
  int problem = 0;
  socklen_t size = sizeof problem;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &problem, &size);
  if (problem != 0) return fail(std::string{"cannot connect: "} + std::strerror(problem));
  if (to_.relay) {
    state_ = state::open;
    poll_for_output();
    return on_open();
  }
  state_ = state::awaiting_start;
  out_ += wire::protocol_header;
  flush();
}

void client::close() {
  if (state_ != state::open) return drop();
  if (to_.relay) {
    drop();
    return on_closed();
  }
  state_ = state::closing;
  wire::connection_close(out_);
  flush();
}

void client::drop() {
  if (fd_ >= 0) {
    loop_.remove(fd_, *this);
    ::close(fd_);
  }
  fd_ = -1;
  state_ = state::closed;
  leftover_.clear();
  out_.clear();
  out_written_ = 0;
  block_ = {};
  output_waits_ = want_writable_ = false;
}

void client::fail(const std::string& text) {
  loop_.fail(to_.host + ":" + std::to_string(to_.port) + ": " + text);
  drop();
}

void client::on_events(std::uint32_t events) {
  if (state_ == state::connecting && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0)
    finish_connecting();
  if (fd_ >= 0 && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 && state_ != state::connecting)
    read();
  if (fd_ >= 0 && (events & EPOLLOUT) != 0 && flush() && state_ == state::open) on_writable();
}

void client::read() {
  auto& buffer = loop_.receive_buffer();
  std::memcpy(buffer.data(), leftover_.data(), leftover_.size());
  const std::size_t kept = leftover_.size();
  const auto got = ::read(fd_, buffer.data() + kept, buffer.size() - kept);
  if (state_ == state::closing && (got == 0 || (got < 0 && errno == ECONNRESET))) {
    drop();
    return on_closed();
  }
  if (got == 0) return fail("the connection was closed by the other side");
  if (got < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    return fail(std::string{"cannot read: "} + std::strerror(errno));
  }
  read_at_ns_ = now_ns();
  const byte_view bytes{buffer.data(), kept + static_cast<std::size_t>(got)};
  const std::size_t consumed = take(bytes);
  if (fd_ < 0 || state_ == state::connecting) return;  // closed, or opened anew, by a frame
  leftover_.assign(as_text(bytes.subspan(consumed)));
  if (leftover_.size() + 1 > buffer.size()) return fail("a frame is larger than agreed");
  if (state_ == state::open) on_read_done();
}

std::size_t client::take(byte_view bytes) {
  const auto scanned = wire::scan_frames(bytes, [this](const wire::frame& frame) {
    if (state_ == state::open && frame.channel != 0) {
      on_frame(frame);
    } else if (frame.type == wire::frame_type::method && frame.channel == 0) {
      take_handshake(frame);
    }  // else: a heartbeat, or something that crossed our close
    return fd_ >= 0 && state_ != state::connecting;  // closed, or opened anew, meanwhile
  });
  if (scanned.malformed && fd_ >= 0) fail("malformed frame");
  return scanned.consumed;
}

void client::take_handshake(const wire::frame& frame) {
  const auto id = frame.id();
  const auto arguments = frame.payload.subspan(4);
  if (state_ == state::awaiting_start && id == wire::method::connection_start) {
    wire::start_ok(out_, to_.user, to_.password);
    state_ = state::awaiting_tune;
    flush();
  } else if (state_ == state::awaiting_tune && id == wire::method::connection_tune &&
             arguments.size() >= 8) {
    const std::uint32_t offered = wire::read_u32(arguments.data() + 2);
    frame_max_ = offered == 0 ? 131072 : std::min<std::uint32_t>(offered, 131072);
    wire::tune_ok(out_, wire::read_u16(arguments.data()), frame_max_);
    wire::connection_open(out_, to_.virtual_host);
    state_ = state::awaiting_open_ok;
    flush();
  } else if (state_ == state::awaiting_open_ok && id == wire::method::connection_open_ok) {
    state_ = state::open;
    on_open();
  } else {
    take_connection_method(frame);
  }
}

void client::take_connection_method(const wire::frame& frame) {
  switch (frame.id()) {
    case wire::method::connection_close:
      return fail("closed by the broker: " + wire::close_text(frame.payload));
    case wire::method::connection_close_ok:
      drop();
      return on_closed();
    case wire::method::connection_blocked:
    case wire::method::connection_unblocked:
      if (state_ == state::open) on_frame(frame);
      return;
    default:
      return fail("unexpected method " +
                  std::to_string(static_cast<std::uint32_t>(frame.id()) >> 16) + "," +
                  std::to_string(static_cast<std::uint32_t>(frame.id()) & 0xFFFF));
  }
}

bool client::send_block(byte_view block) {
  block_ = block;
  return flush();
}

bool client::flush() {
  while (!block_.empty() || out_written_ < out_.size()) {
    const bool block = !block_.empty() && out_written_ == 0;
    const byte_view next = block ? block_ : as_bytes(out_).subspan(out_written_);
    const auto put = ::send(fd_, next.data(), next.size(), MSG_NOSIGNAL);
    if (put < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) {
        fail(std::string{"cannot write: "} + std::strerror(errno));
        return false;
      }
      output_waits_ = true;
      poll_for_output();
      return false;
    }
    if (block) {
      block_ = block_.subspan(static_cast<std::size_t>(put));
    } else {
      out_written_ += static_cast<std::size_t>(put);
    }
    if (out_written_ == out_.size()) {
      out_.clear();
      out_written_ = 0;
    }
  }
  output_waits_ = false;
  poll_for_output();
  return true;
}

void client::want_writable(bool wanted) {
  want_writable_ = wanted;
  poll_for_output();
}

void client::poll_for_output() {
  if (fd_ < 0) return;
  const std::uint32_t wanted = EPOLLIN | (output_waits_ || want_writable_ ? EPOLLOUT : 0u);
  if (wanted == polled_) return;
  polled_ = wanted;
  loop_.change(fd_, polled_, *this);
}

}  // namespace baton::perf
