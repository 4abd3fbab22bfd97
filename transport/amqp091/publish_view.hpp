#pragma once

#include <string_view>

#include "storage/byte_view.hpp"

namespace baton::amqp091 {

/// A publish as it came in; everything borrows from the input, for this call only.
struct publish_view {
  std::string_view exchange;
  std::string_view routing_key;
  bool mandatory = false;
  bool immediate = false;
  byte_view properties;  ///< checked; in their encoding, see properties.hpp
  byte_view body;        ///< whole in `publish`, empty in `content_begin`
};

/// The arguments of basic.publish, behind the ids:
///
///   offset  size  meaning
///   0       2     ticket
///   2       1+n   exchange
///   -       1+n   routing key
///   -       1     bit 0: mandatory, bit 1: immediate
///
/// False when they are malformed. This is the hot path's reading of what methods::basic_publish
/// declares; a test holds both together.
inline bool parse_publish(byte_view arguments, publish_view& publish) noexcept {
  constexpr std::size_t exchange_at = 3;
  if (arguments.size() < exchange_at + 2) return false;
  const auto* const bytes = arguments.data();
  const std::size_t key_at = exchange_at + bytes[exchange_at - 1] + 1;
  if (key_at + 1 > arguments.size()) return false;
  const std::size_t flags_at = key_at + bytes[key_at - 1];
  if (flags_at + 1 != arguments.size()) return false;
  publish.exchange = as_text({bytes + exchange_at, key_at - 1 - exchange_at});
  publish.routing_key = as_text({bytes + key_at, flags_at - key_at});
  publish.mandatory = (bytes[flags_at] & 1) != 0;
  publish.immediate = (bytes[flags_at] & 2) != 0;
  return true;
}

}  // namespace baton::amqp091
