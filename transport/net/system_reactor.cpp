#include "transport/net/system_reactor.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "config/check.hpp"

namespace baton {

namespace {

int to_milliseconds_rounded_up(std::chrono::nanoseconds at_most) {
  if (at_most < std::chrono::nanoseconds{0}) return -1;
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(at_most).count();
  return static_cast<int>(std::min<std::int64_t>(rounded, std::numeric_limits<int>::max()));
}

}  // namespace

// -- watched ------------------------------------------------------------------------------------

watched::watched(system_reactor& home, descriptor socket)
    : home_{home}, socket_{std::move(socket)} {
  if (!socket_) return;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = this;
  is_registered_ = ::epoll_ctl(home.epoll_.get(), EPOLL_CTL_ADD, socket_.get(), &event) == 0;
}

void watched::close() noexcept {
  make_undue();
  if (!socket_) return;
  socket_ = descriptor{};  // closing takes it out of the epoll set, with what was reported for it
  std::erase(home_.retrying_, this);
  home_.retry_now();  // there is a free descriptor
}

void watched::make_due() noexcept {
  if (before_ != this) return;
  before_ = home_.due_.before_;
  after_ = &home_.due_;
  before_->after_ = this;
  after_->before_ = this;
  ++home_.due_count_;
}

void watched::make_undue() noexcept {
  if (before_ == this) return;
  before_->after_ = after_;
  after_->before_ = before_;
  before_ = after_ = this;
  --home_.due_count_;
}

void watched::retry_later() {
  home_.retrying_.push_back(this);
  home_.retry_at_ = home_.time_.now() + system_reactor::retry_after;
}

// -- the reactor --------------------------------------------------------------------------------

system_reactor::system_reactor(const clock& time, descriptor epoll, descriptor wake_up)
    : time_{time},
      epoll_{std::move(epoll)},
      wake_up_{std::move(wake_up)},
      due_{*this},
      retry_at_{time.now()} {}

system_reactor::~system_reactor() = default;

result<std::unique_ptr<listener>> system_reactor::listen(const endpoint& where,
                                                         listener_handler& handler) {
  auto socket = open_listening_socket(where);
  if (!socket) return failure{socket.reason()};
  return make_system_listener(*this, std::move(*socket), handler);
}

result<std::unique_ptr<stream>> system_reactor::connect(const endpoint& where) {
  const auto address = to_socket_address(where);
  if (!address) return failure{address.reason()};
  auto socket = open_socket(address->family());
  if (!socket) return failure{socket.reason()};
  if (::connect(socket->get(), address->get(), address->size) != 0 && errno != EINPROGRESS)
    return failure{error{"cannot connect to " + where.text() + ": " + errno_text(errno)}};
  return make_system_stream(*this, std::move(*socket), true);
}

std::unique_ptr<stream> system_reactor::attach(unattached_stream accepted) {
  auto state = std::move(accepted).release();
  auto* socket = dynamic_cast<system_unattached*>(state.get());
  BATON_CHECK(socket != nullptr);  // simulated streams belong to simulated reactors
  return make_system_stream(*this, std::move(*socket).take(), false);
}

void system_reactor::wait(std::chrono::nanoseconds at_most) {
  using std::chrono::nanoseconds;
  if (has_due()) at_most = nanoseconds{0};
  if (!retrying_.empty()) {
    const nanoseconds until_retry = std::max(nanoseconds{0}, nanoseconds{retry_at_ - time_.now()});
    if (at_most < nanoseconds{0} || until_retry < at_most) at_most = until_retry;
  }
  epoll_event events[events_at_once];
  const int found =
      ::epoll_wait(epoll_.get(), events, events_at_once, to_milliseconds_rounded_up(at_most));
  for (int i = 0; i < found; ++i)
    if (auto* who = static_cast<watched*>(events[i].data.ptr); who && who->note(events[i].events))
      who->make_due();
  if (!retrying_.empty() && time_.now() >= retry_at_) retry_now();
}

std::size_t system_reactor::dispatch(std::size_t at_most) {
  // One that asks for another turn gets it in the next dispatch, after the kernel was asked again:
  // a stream that always has more cannot keep the others waiting.
  const std::size_t turns = std::min(at_most, due_count_);
  for (std::size_t i = 0; i < turns && has_due(); ++i) {
    watched& who = *due_.after_;
    who.make_undue();
    who.take_turn();
  }
  return turns;
}

void system_reactor::wake() noexcept {
  // Edge-triggered, so it is never read: 2^64 - 2 wakes fit.
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_up_.get(), &one, sizeof one));
}

void system_reactor::retry_now() noexcept {
  for (watched* who : retrying_) who->make_due();
  retrying_.clear();
}

result<std::unique_ptr<reactor>> make_system_reactor(const clock& time) {
  descriptor epoll{::epoll_create1(EPOLL_CLOEXEC)};
  descriptor wake_up{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.ptr = nullptr;
  if (!epoll || !wake_up || ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake_up.get(), &event) != 0)
    return failure{error{"cannot watch sockets: " + errno_text(errno)}};
  return std::unique_ptr<reactor>{
      std::make_unique<system_reactor>(time, std::move(epoll), std::move(wake_up))};
}

}  // namespace baton
