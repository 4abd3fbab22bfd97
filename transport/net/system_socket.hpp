#pragma once

// The machine's sockets, for the system reactor only: descriptors and addresses, no events.

#include <sys/socket.h>
#include <sys/un.h>

#include <string>
#include <utility>

#include "config/result.hpp"
#include "transport/net/endpoint.hpp"

namespace baton {

/// Owns one file descriptor.
class descriptor {
public:
  descriptor() = default;
  explicit descriptor(int number) noexcept : number_{number} {}
  descriptor(descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor();

  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

private:
  int number_ = -1;
};

/// An endpoint as the kernel takes it.
struct socket_address {
  sockaddr_storage bits{};
  socklen_t size = 0;

  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&bits); }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&bits); }
  int family() const noexcept { return bits.ss_family; }
};

/// Fails on what is neither a numeric address nor a path that fits.
result<socket_address> to_socket_address(const endpoint& where);
endpoint to_endpoint(const socket_address& address);

endpoint local_endpoint(int socket);
endpoint peer_endpoint(int socket);

/// "Connection refused", for an errno.
std::string errno_text(int code);

/// A non-blocking stream socket.
result<descriptor> open_socket(int family);

/// A non-blocking socket that is bound and listens; takes over a path that nobody serves.
result<descriptor> open_listening_socket(const endpoint& where);

}  // namespace baton
