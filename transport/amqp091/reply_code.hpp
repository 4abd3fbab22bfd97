#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transport/amqp091/method_fields.hpp"

namespace baton::amqp091 {

/// AMQP 0-9-1 §1.2, "reply-code".
enum class reply_code : std::uint16_t {
  success = 200,
  content_too_large = 311,
  no_route = 312,
  no_consumers = 313,
  connection_forced = 320,
  invalid_path = 402,
  access_refused = 403,
  not_found = 404,
  resource_locked = 405,
  precondition_failed = 406,
  frame_error = 501,
  syntax_error = 502,
  command_invalid = 503,
  channel_error = 504,
  unexpected_frame = 505,
  resource_error = 506,
  not_allowed = 530,
  not_implemented = 540,
  internal_error = 541,
};

/// `NOT_FOUND` and so on.
std::string_view code_name(reply_code code) noexcept;

/// What an error closes.
enum class close_scope { channel, connection };

/// Follows from the code alone: 504 CHANNEL_ERROR, 530 and 540 close the connection even when a
/// method on an AMQP channel caused them.
close_scope scope_of(reply_code code) noexcept;

/// Why an AMQP channel or a connection is closed, and which method caused it (0, 0: none did).
struct protocol_error {
  reply_code code = reply_code::internal_error;
  std::string text;  ///< the explanation, without the code's name
  std::uint16_t class_id = 0;
  std::uint16_t method_id = 0;

  close_scope scope() const noexcept { return scope_of(code); }
};

/// An error caused by that method.
template <class Method>
protocol_error error_in(reply_code code, std::string text) {
  return {code, std::move(text), Method::class_id, Method::method_id};
}

/// `CODE_NAME - explanation`, or `CODE_NAME` alone, as it goes into a close: at most 255 bytes
/// ("..." ends a longer one), and always valid UTF-8 whatever names a client sent.
std::string reply_text(const protocol_error& error);

}  // namespace baton::amqp091
