#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

#include "transport/net/system_reactor.hpp"

namespace baton {

namespace {

/// Each costs its loop some 30 us with its hand-shake, and others wait meanwhile.
constexpr int accepts_at_once = 8;

/// Errors of one connection that died before it was accepted, not of the listener: accept(2).
bool concerns_one_connection(int code) {
  switch (code) {
    case EINTR:
    case ECONNABORTED:
    case EPERM:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

class system_listener final : public listener, private watched {
public:
  system_listener(system_reactor& home, descriptor socket, listener_handler& handler)
      : watched{home, std::move(socket)},
        handler_{handler},
        path_{local().is_path() ? local().address : std::string{}} {}

  ~system_listener() override {
    if (destroyed_ != nullptr) *destroyed_ = true;
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  endpoint local() const override { return local_endpoint(socket()); }
  void pause() override { is_paused_ = true; }
  void resume() override {
    is_paused_ = false;
    if (is_ready_) make_due();
  }

private:
  bool note(std::uint32_t) noexcept override {
    is_ready_ = true;
    return !is_paused_ && !is_blocked_;
  }

  void take_turn() override {
    bool destroyed = false;
    destroyed_ = &destroyed;
    for (int i = 0; i < accepts_at_once && !is_paused_; ++i) {
      descriptor accepted{::accept4(socket(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (!accepted && errno == EAGAIN) {
        is_ready_ = false;
        recover();
        if (destroyed) return;
        break;
      }
      if (!accepted && concerns_one_connection(errno)) continue;
      accepted ? accept(std::move(accepted)) : block(errno);
      if (destroyed) return;
      if (is_blocked_) break;
    }
    destroyed_ = nullptr;
    if (is_ready_ && !is_paused_ && !is_blocked_) make_due();
  }

  void accept(descriptor socket) {
    bool* const destroyed = destroyed_;
    recover();
    if (*destroyed) return;
    handler_.on_accept(unattached_stream{std::make_unique<system_unattached>(std::move(socket))});
  }

  void recover() {
    if (std::exchange(is_blocked_, false)) handler_.on_accept_recovered();
  }

  void block(int code) {
    retry_later();
    if (std::exchange(is_blocked_, true)) return;
    handler_.on_accept_blocked(
        error{"cannot accept connections on " + local().text() + ": " + errno_text(code)});
  }

  listener_handler& handler_;
  const std::string path_;
  bool is_ready_ = false;  // connections wait, as far as is known
  bool is_paused_ = false;
  bool is_blocked_ = false;
  bool* destroyed_ = nullptr;
};

}  // namespace

std::unique_ptr<listener> make_system_listener(system_reactor& home, descriptor socket,
                                               listener_handler& handler) {
  return std::make_unique<system_listener>(home, std::move(socket), handler);
}

}  // namespace baton
