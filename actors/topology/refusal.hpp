#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/result.hpp"

namespace baton {

/// Why the topology does not do what a client asked for: the reply code of AMQP 0-9-1 and the text
/// that follows the code's name. The protocol adds that name ("NOT_FOUND - no queue 'q' in vhost
/// '/'"); all four codes close the AMQP channel, not the connection.
struct refusal {
  static constexpr std::uint16_t access_refused = 403;
  static constexpr std::uint16_t not_found = 404;
  static constexpr std::uint16_t resource_locked = 405;
  static constexpr std::uint16_t precondition_failed = 406;

  std::uint16_t code = 0;
  std::string text;

  friend bool operator==(const refusal&, const refusal&) = default;
};

/// How texts call things: `queue 'q' in vhost '/'`.
inline std::string resource_text(std::string_view kind, std::string_view name,
                                 std::string_view vhost) {
  std::string text;
  text.reserve(kind.size() + name.size() + vhost.size() + 16);
  return text.append(kind)
      .append(" '")
      .append(name)
      .append("' in vhost '")
      .append(vhost)
      .append("'");
}
inline std::string queue_text(std::string_view name, std::string_view vhost) {
  return resource_text("queue", name, vhost);
}
inline std::string exchange_text(std::string_view name, std::string_view vhost) {
  return resource_text("exchange", name, vhost);
}

inline refusal no_queue(std::string_view name, std::string_view vhost) {
  return {refusal::not_found, "no " + queue_text(name, vhost)};
}
inline refusal no_exchange(std::string_view name, std::string_view vhost) {
  return {refusal::not_found, "no " + exchange_text(name, vhost)};
}
/// For basic.publish to an internal exchange.
inline refusal publish_to_internal(std::string_view name, std::string_view vhost) {
  return {refusal::access_refused, "cannot publish to internal " + exchange_text(name, vhost)};
}

}  // namespace baton
