#include "cli/perf/target.hpp"

#include <netdb.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>
#include <optional>

namespace baton::perf {
namespace {

std::optional<std::string> decode_percent(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    unsigned value = 0;
    const auto* digits = text.data() + i + 1;
    const auto [end, problem] = std::from_chars(digits, digits + 2, value, 16);
    if (problem != std::errc{} || end != digits + 2) return std::nullopt;
    plain.push_back(static_cast<char>(value));
    i += 2;
  }
  return plain;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// `host`, `host:port`, `[v6]`, `[v6]:port`; empty parts keep what the target has.
bool read_authority(std::string_view text, target& to) {
  std::string_view host = text, port;
  if (take_prefix(text, "[")) {
    const auto end = text.find(']');
    if (end == text.npos) return false;
    host = text.substr(0, end);
    port = text.substr(end + 1);
    if (!port.empty() && !take_prefix(port, ":")) return false;
  } else if (const auto colon = text.rfind(':'); colon != text.npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (!host.empty()) to.host = host;
  if (port.empty()) return true;
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), to.port);
  return problem == std::errc{} && end == port.data() + port.size() && to.port != 0;
}

}  // namespace

result<target> parse_uri(std::string_view uri) {
  const auto refused = [whole = std::string{uri}](std::string_view what) {
    return failure{error{whole + ": " + std::string{what} +
                         "; expected amqp://user:password@host:port/vhost or relay://host:port"}};
  };
  target to;
  if (take_prefix(uri, "relay://")) {
    to.relay = true;
  } else if (!take_prefix(uri, "amqp://")) {
    return refused("unknown scheme");
  }
  std::string_view authority = uri.substr(0, uri.find('/'));
  const bool has_path = authority.size() < uri.size();
  const std::string_view path = has_path ? uri.substr(authority.size() + 1) : std::string_view{};
  if (!path.empty()) {
    const auto name = decode_percent(path);
    if (!name) return refused("bad percent-encoding");
    to.virtual_host = *name;
  }
  if (const auto at = authority.rfind('@'); at != authority.npos) {
    const auto login = authority.substr(0, at);
    const auto colon = login.find(':');
    const auto user = decode_percent(login.substr(0, colon));
    const auto password =
        decode_percent(colon == login.npos ? std::string_view{} : login.substr(colon + 1));
    if (!user || !password) return refused("bad percent-encoding");
    to.user = *user;
    to.password = *password;
    authority.remove_prefix(at + 1);
  }
  if (!read_authority(authority, to)) return refused("bad host or port");
  return to;
}

result<target> resolve(target to) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int problem = getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found);
  if (problem != 0) return failure{error{to.host + ": " + gai_strerror(problem)}};
  std::memcpy(&to.address.storage, found->ai_addr, found->ai_addrlen);
  to.address.length = found->ai_addrlen;
  freeaddrinfo(found);
  return to;
}

target relay_output(target relay) {
  ++relay.port;
  auto& storage = relay.address.storage;
  if (storage.ss_family == AF_INET)
    reinterpret_cast<sockaddr_in&>(storage).sin_port = htons(relay.port);
  if (storage.ss_family == AF_INET6)
    reinterpret_cast<sockaddr_in6&>(storage).sin6_port = htons(relay.port);
  return relay;
}

}  // namespace baton::perf
