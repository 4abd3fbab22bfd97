#include "transport/net/system_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

namespace baton {

namespace {

/// How many connections the kernel keeps until they are accepted.
constexpr int backlog = 4096;

template <class Question>
endpoint ask(int socket, Question question) {
  socket_address address;
  address.size = sizeof address.bits;
  if (question(socket, address.get(), &address.size) != 0) return {};
  return to_endpoint(address);
}

/// Whether a socket file stands there that nobody listens on: left by a process that was killed.
bool is_abandoned(const endpoint& where, const socket_address& address) {
  struct stat file {};
  if (::lstat(where.address.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) return false;
  const descriptor probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  return probe && ::connect(probe.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED;
}

}  // namespace

descriptor::~descriptor() {
  if (number_ >= 0) ::close(number_);
}

std::string errno_text(int code) { return std::generic_category().message(code); }

result<socket_address> to_socket_address(const endpoint& where) {
  socket_address address;
  if (where.is_path()) {
    auto& unix_address = reinterpret_cast<sockaddr_un&>(address.bits);
    if (where.address.size() >= sizeof unix_address.sun_path)
      return failure{error{"the socket path " + where.address + " is longer than " +
                           std::to_string(sizeof unix_address.sun_path - 1) + " bytes"}};
    unix_address.sun_family = AF_UNIX;
    std::memcpy(unix_address.sun_path, where.address.c_str(), where.address.size() + 1);
    address.size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + where.address.size() + 1);
    return address;
  }
  auto& four = reinterpret_cast<sockaddr_in&>(address.bits);
  if (::inet_pton(AF_INET, where.address.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(where.port);
    address.size = sizeof four;
    return address;
  }
  auto& six = reinterpret_cast<sockaddr_in6&>(address.bits);
  if (::inet_pton(AF_INET6, where.address.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(where.port);
    address.size = sizeof six;
    return address;
  }
  return failure{error{"'" + where.address + "' is neither a numeric IP address nor a path"}};
}

endpoint to_endpoint(const socket_address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.family() == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address.bits);
    ::inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
    return {text, ntohs(four.sin_port)};
  }
  if (address.family() == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address.bits);
    ::inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
    return {text, ntohs(six.sin6_port)};
  }
  if (address.family() == AF_UNIX) {
    const auto& unix_address = reinterpret_cast<const sockaddr_un&>(address.bits);
    // A client's end has no path: "/" keeps the endpoint recognizable as a Unix socket.
    const bool named = address.size > offsetof(sockaddr_un, sun_path) && unix_address.sun_path[0];
    return {named ? std::string{unix_address.sun_path} : std::string{"/"}, 0};
  }
  return {};
}

endpoint local_endpoint(int socket) { return ask(socket, ::getsockname); }
endpoint peer_endpoint(int socket) { return ask(socket, ::getpeername); }

result<descriptor> open_socket(int family) {
  descriptor socket{::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!socket) return failure{error{"cannot open a socket: " + errno_text(errno)}};
  return socket;
}

result<descriptor> open_listening_socket(const endpoint& where) {
  const auto address = to_socket_address(where);
  if (!address) return failure{address.reason()};
  auto socket = open_socket(address->family());
  if (!socket) return socket;
  const int on = 1;
  ::setsockopt(socket->get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address->family() == AF_INET6)
    ::setsockopt(socket->get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (where.is_path() && is_abandoned(where, *address)) ::unlink(where.address.c_str());
  if (::bind(socket->get(), address->get(), address->size) != 0 ||
      ::listen(socket->get(), backlog) != 0)
    return failure{error{"cannot listen on " + where.text() + ": " + errno_text(errno)}};
  return socket;
}

}  // namespace baton
