#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/result.hpp"

namespace baton {

/// One end of a stream: a numeric IP address and a port, or the path of a Unix socket.
struct endpoint {
  std::string address;     // "127.0.0.1", "::1", or a path that holds a '/'
  std::uint16_t port = 0;  // 0 on listening: any free one; unused for a path

  bool is_path() const noexcept { return address.find('/') != std::string::npos; }

  /// "127.0.0.1:5672", "[::1]:5672", "unix:/run/baton.sock".
  std::string text() const;

  /// Whether both ends of a connection to here are on this machine.
  bool is_loopback() const noexcept;

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// Addresses behind a host name, in the order to try them; a numeric address or a path is itself.
/// It blocks on the network: never call it on a loop.
result<std::vector<endpoint>> resolve(const std::string& host, std::uint16_t port);

}  // namespace baton
