#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "transport/net/system_reactor.hpp"

namespace baton {

namespace {

constexpr std::size_t pieces_at_once = 1024;  // IOV_MAX

class system_stream final : public stream, private watched {
public:
  system_stream(system_reactor& home, descriptor socket, bool is_connecting)
      : watched{home, std::move(socket)}, has_room_{!is_connecting} {
    if (!is_registered()) fail(ENOMEM);
    set_no_delay(true);
  }

  void set_handler(stream_handler* handler) override {
    handler_ = handler;
    make_due_if_needed();
  }

  io_result read(std::span<std::uint8_t> into) override {
    if (failure_ != 0) return {io_status::failed, 0};
    ssize_t got = 0;
    do got = ::recv(socket(), into.data(), into.size(), 0);
    while (got < 0 && errno == EINTR);
    if (got > 0) {
      const auto bytes = static_cast<std::size_t>(got);
      // A short read has emptied the socket, unless the end or an error stands behind the bytes.
      if (bytes < into.size() && !end_is_near_) has_emptied();
      return {io_status::ok, bytes};
    }
    if (got < 0 && errno != EAGAIN) return fail(errno), io_result{io_status::failed, 0};
    has_emptied();
    return {got == 0 ? io_status::closed : io_status::would_block, 0};
  }

  io_result write(std::span<const byte_view> pieces) override {
    if (failure_ != 0) return {io_status::failed, 0};
    std::size_t written = 0;
    while (!pieces.empty()) {
      iovec vectors[pieces_at_once];
      const std::size_t count = std::min(pieces.size(), pieces_at_once);
      std::size_t offered = 0;
      for (std::size_t i = 0; i < count; ++i) {
        vectors[i] = {const_cast<std::uint8_t*>(pieces[i].data()), pieces[i].size()};
        offered += pieces[i].size();
      }
      msghdr message{};
      message.msg_iov = vectors;
      message.msg_iovlen = count;
      ssize_t sent = 0;
      do
        sent = count == 1 ? ::send(socket(), vectors[0].iov_base, offered, MSG_NOSIGNAL)
                          : ::sendmsg(socket(), &message, MSG_NOSIGNAL);
      while (sent < 0 && errno == EINTR);
      if (sent < 0 && errno != EAGAIN) return fail(errno), io_result{io_status::failed, written};
      has_room_ = sent >= 0 && static_cast<std::size_t>(sent) == offered;
      if (sent > 0) written += static_cast<std::size_t>(sent);
      if (!has_room_) return {written > 0 ? io_status::ok : io_status::would_block, written};
      pieces = pieces.subspan(count);
    }
    return {io_status::ok, written};
  }

  void notify_writable() override {
    wants_writable_ = true;
    make_due_if_needed();
  }

  void pause_reading() override { is_paused_ = true; }
  void resume_reading() override {
    is_paused_ = false;
    make_due_if_needed();
  }

  void shutdown_write() override { ::shutdown(socket(), SHUT_WR); }

  void abort() override {
    const linger at_once{1, 0};
    ::setsockopt(socket(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    handler_ = nullptr;
    fail(ECONNABORTED);
    close();
  }

  void set_no_delay(bool on) override {
    const int value = on ? 1 : 0;  // fails on a Unix socket, which never delays
    ::setsockopt(socket(), IPPROTO_TCP, TCP_NODELAY, &value, sizeof value);
  }

  endpoint local() const override { return local_endpoint(socket()); }
  endpoint peer() const override { return peer_endpoint(socket()); }
  std::string failure() const override { return failure_ == 0 ? "" : errno_text(failure_); }

private:
  bool note(std::uint32_t events) noexcept override {
    constexpr std::uint32_t ends = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
    if ((events & ends) != 0) end_is_near_ = true;
    if ((events & (EPOLLIN | ends)) != 0) is_readable_ = true;
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) has_room_ = true;
    return is_due();
  }

  void take_turn() override {
    // One call of the handler at most, because it may destroy this stream. Room first: what is
    // written frees memory, what is read takes some.
    if (handler_ == nullptr) return;
    if (may_tell_of_room()) {
      wants_writable_ = false;
      make_due_if_needed();
      handler_->on_writable();
    } else if (may_tell_of_bytes()) {
      make_due();  // taken back by the read that empties the socket
      handler_->on_readable();
    }
  }

  bool may_tell_of_room() const noexcept { return wants_writable_ && (has_room_ || failure_ != 0); }
  bool may_tell_of_bytes() const noexcept { return is_readable_ && !is_paused_; }
  bool is_due() const noexcept {
    return handler_ != nullptr && (may_tell_of_room() || may_tell_of_bytes());
  }
  void make_due_if_needed() noexcept {
    if (is_due()) make_due();
  }

  void has_emptied() noexcept {
    is_readable_ = false;
    if (!is_due()) make_undue();
  }
  void fail(int code) noexcept {
    failure_ = code;
    has_emptied();
  }

  stream_handler* handler_ = nullptr;
  int failure_ = 0;
  // Edges come once, so what they said is remembered here.
  bool has_room_;             // no write was short since the kernel last said so
  bool is_readable_ = false;  // bytes, the end or an error wait in the kernel
  bool end_is_near_ = false;  // the other end has closed or reset: read until nothing is left
  bool is_paused_ = false;
  bool wants_writable_ = false;
};

}  // namespace

std::unique_ptr<stream> make_system_stream(system_reactor& home, descriptor socket,
                                           bool is_connecting) {
  return std::make_unique<system_stream>(home, std::move(socket), is_connecting);
}

}  // namespace baton
