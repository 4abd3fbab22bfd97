#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "config/result.hpp"

namespace baton::perf {

/// As connect(2) takes it.
struct socket_address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

/// What the load goes to: a broker, or the relay of tests/bench that stands in for one.
struct target {
  std::string host = "127.0.0.1";
  std::uint16_t port = 5672;
  std::string user = "guest";
  std::string password = "guest";
  std::string virtual_host = "/";
  /// No hand-shake, no declarations: publishers' bytes come back on the next port as they are.
  bool relay = false;
  socket_address address;  // by resolve()
};

/// Reads `amqp://[user[:password]@]host[:port][/vhost]` (with percent-encoding; host may be an IPv6
/// address in brackets) or `relay://host:port`.
result<target> parse_uri(std::string_view uri);

/// Looks the host up and fills in `address`, once for all connections.
result<target> resolve(target to);

/// Where a relay sends what its publishers wrote.
target relay_output(target relay);

}  // namespace baton::perf
