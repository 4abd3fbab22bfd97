#pragma once

// The reactor on epoll, and what its streams and listeners need of it.

#include <cstdint>
#include <vector>

#include "transport/net/reactor.hpp"
#include "transport/net/system_socket.hpp"

namespace baton {

class system_reactor;

/// One descriptor in the reactor's epoll set. It is registered once, edge-triggered, for reading
/// and writing; no further system call is spent on it.
class watched {
public:
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;

protected:
  watched(system_reactor& home, descriptor socket);
  virtual ~watched() { close(); }

  /// Notes events of the kernel (EPOLLIN and so on); true when they are worth a turn.
  virtual bool note(std::uint32_t events) noexcept = 0;

  /// In a dispatch, once after each `make_due`. May destroy this object.
  virtual void take_turn() = 0;

  int socket() const noexcept { return socket_.get(); }

  /// False when the machine had no room: no event will ever come.
  bool is_registered() const noexcept { return is_registered_; }

  /// Asks for a turn in the next dispatch, which then does not wait. Any number of times is once.
  void make_due() noexcept;
  void make_undue() noexcept;

  /// Asks for a turn when the reactor has closed a descriptor, or in 100 ms.
  void retry_later();

  void close() noexcept;

private:
  friend class system_reactor;

  system_reactor& home_;
  descriptor socket_;
  bool is_registered_ = false;
  watched* before_ = this;  // in the ring of those that are due; itself: not due
  watched* after_ = this;
};

class system_reactor final : public reactor {
public:
  system_reactor(const clock& time, descriptor epoll, descriptor wake_up);
  ~system_reactor() override;

  result<std::unique_ptr<listener>> listen(const endpoint& where,
                                           listener_handler& handler) override;
  result<std::unique_ptr<stream>> connect(const endpoint& where) override;
  std::unique_ptr<stream> attach(unattached_stream accepted) override;
  void wait(std::chrono::nanoseconds at_most) override;
  std::size_t dispatch(std::size_t at_most) override;
  void wake() noexcept override;

private:
  friend class watched;

  static constexpr std::size_t events_at_once = 256;
  static constexpr std::chrono::milliseconds retry_after{100};

  struct due_ring final : watched {
    explicit due_ring(system_reactor& home) : watched{home, descriptor{}} {}
    bool note(std::uint32_t) noexcept override { return false; }
    void take_turn() override {}
  };

  bool has_due() const noexcept { return due_.after_ != &due_; }
  void retry_now() noexcept;

  const clock& time_;
  descriptor epoll_;
  descriptor wake_up_;
  due_ring due_;  // the ring's fixed point: first after it, last before it
  std::size_t due_count_ = 0;
  std::vector<watched*> retrying_;
  steady_time retry_at_;
};

std::unique_ptr<stream> make_system_stream(system_reactor& home, descriptor socket,
                                           bool is_connecting);
std::unique_ptr<listener> make_system_listener(system_reactor& home, descriptor socket,
                                               listener_handler& handler);

/// An accepted socket on its way to its reactor.
class system_unattached final : public unattached_stream::state {
public:
  explicit system_unattached(descriptor socket) : socket_{std::move(socket)} {}
  endpoint local() const override { return local_endpoint(socket_.get()); }
  endpoint peer() const override { return peer_endpoint(socket_.get()); }
  descriptor take() && { return std::move(socket_); }

private:
  descriptor socket_;
};

}  // namespace baton
