#include "transport/amqp091/reply_code.hpp"

#include "transport/amqp091/wire.hpp"

namespace baton::amqp091 {

std::string_view code_name(reply_code code) noexcept {
  switch (code) {
    case reply_code::success:
      return "REPLY_SUCCESS";
    case reply_code::content_too_large:
      return "CONTENT_TOO_LARGE";
    case reply_code::no_route:
      return "NO_ROUTE";
    case reply_code::no_consumers:
      return "NO_CONSUMERS";
    case reply_code::connection_forced:
      return "CONNECTION_FORCED";
    case reply_code::invalid_path:
      return "INVALID_PATH";
    case reply_code::access_refused:
      return "ACCESS_REFUSED";
    case reply_code::not_found:
      return "NOT_FOUND";
    case reply_code::resource_locked:
      return "RESOURCE_LOCKED";
    case reply_code::precondition_failed:
      return "PRECONDITION_FAILED";
    case reply_code::frame_error:
      return "FRAME_ERROR";
    case reply_code::syntax_error:
      return "SYNTAX_ERROR";
    case reply_code::command_invalid:
      return "COMMAND_INVALID";
    case reply_code::channel_error:
      return "CHANNEL_ERROR";
    case reply_code::unexpected_frame:
      return "UNEXPECTED_FRAME";
    case reply_code::resource_error:
      return "RESOURCE_ERROR";
    case reply_code::not_allowed:
      return "NOT_ALLOWED";
    case reply_code::not_implemented:
      return "NOT_IMPLEMENTED";
    case reply_code::internal_error:
      return "INTERNAL_ERROR";
  }
  return "INTERNAL_ERROR";
}

close_scope scope_of(reply_code code) noexcept {
  switch (code) {
    case reply_code::content_too_large:
    case reply_code::no_route:
    case reply_code::no_consumers:
    case reply_code::access_refused:
    case reply_code::not_found:
    case reply_code::resource_locked:
    case reply_code::precondition_failed:
      return close_scope::channel;
    default:
      return close_scope::connection;
  }
}

std::string reply_text(const protocol_error& error) {
  constexpr std::size_t limit = 255;
  constexpr std::string_view cut_mark = "...";
  std::string text{code_name(error.code)};
  if (!error.text.empty()) text.append(" - ").append(error.text);
  if (!is_utf8(text))
    for (char& c : text)
      if (static_cast<std::uint8_t>(c) >= 0x80) c = '?';
  if (text.size() <= limit) return text;
  std::size_t kept = limit - cut_mark.size();
  while ((static_cast<std::uint8_t>(text[kept]) & 0xC0) == 0x80) --kept;  // not inside a character
  return text.substr(0, kept).append(cut_mark);
}

}  // namespace baton::amqp091
