#include "transport/net/endpoint.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <memory>

namespace baton {

std::string endpoint::text() const {
  if (is_path()) return "unix:" + address;
  const bool six = address.find(':') != std::string::npos;
  return (six ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

bool endpoint::is_loopback() const noexcept {
  return is_path() || address.starts_with("127.") || address == "::1" ||
         address.starts_with("::ffff:127.");
}

result<std::vector<endpoint>> resolve(const std::string& host, std::uint16_t port) {
  if (endpoint path{host, port}; path.is_path()) return std::vector{path};
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); code != 0)
    return failure{error{"cannot resolve the host name " + host + ": " + ::gai_strerror(code)}};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned{found, &::freeaddrinfo};
  std::vector<endpoint> endpoints;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    char text[INET6_ADDRSTRLEN] = {};
    const void* bits = nullptr;
    if (one->ai_family == AF_INET)
      bits = &reinterpret_cast<const sockaddr_in*>(one->ai_addr)->sin_addr;
    else if (one->ai_family == AF_INET6)
      bits = &reinterpret_cast<const sockaddr_in6*>(one->ai_addr)->sin6_addr;
    if (bits != nullptr && ::inet_ntop(one->ai_family, bits, text, sizeof text) != nullptr)
      endpoints.push_back({text, port});
  }
  return endpoints;
}

}  // namespace baton
