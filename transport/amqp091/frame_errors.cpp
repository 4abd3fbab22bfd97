#include "transport/amqp091/frame_errors.hpp"

namespace baton::amqp091 {

namespace {

/// `type 3, all octets = <<>>`: what RabbitMQ says about a frame that it does not like.
std::string snippet(std::uint8_t type, byte_view payload) {
  constexpr std::size_t shown = 16;
  const bool all = payload.size() <= shown;
  return "type " + std::to_string(type) + (all ? ", all" : ", first 16") +
         " octets = " + printed_bytes(all ? payload : payload.first(shown));
}

}  // namespace

std::string printed_bytes(byte_view bytes) {
  constexpr std::size_t most = 255;
  std::string text = "<<";
  for (const auto byte : bytes.first(std::min(bytes.size(), most))) {
    if (text.size() > 2) text += ',';
    text += std::to_string(byte);
  }
  return text + ">>";
}

protocol_error bad_frame_error(const scanned_frame& scanned, byte_view bytes,
                               std::uint32_t frame_max) {
  std::string why;
  byte_view shown;
  switch (scanned.status) {
    case scan_status::too_large:
      why = "{frame_too_large," + std::to_string(scanned.payload_size) + "," +
            std::to_string(frame_max - frame_overhead) + "}";
      break;
    case scan_status::bad_end:
      shown = scanned.found.payload;
      why = "{invalid_frame_end_marker," + std::to_string(bytes[scanned.size - 1]) + "}";
      break;
    default:
      why = "unknown_frame";
      break;
  }
  return {reply_code::frame_error, snippet(scanned.found.type, shown) + ": " + why, 0, 0};
}

protocol_error unknown_frame_error(const frame& found) {
  return {reply_code::frame_error, snippet(found.type, found.payload) + ": unknown_frame", 0, 0};
}

protocol_error unexpected_frame_error(const frame& found) {
  return {reply_code::unexpected_frame, snippet(found.type, found.payload), 0, 0};
}

protocol_error bad_method_error(decode_status status, byte_view payload) {
  if (payload.size() < 4) return unknown_frame_error({frame_type::method, 0, payload});
  const auto class_id = load<std::uint16_t>(payload.data());
  const auto method_id = load<std::uint16_t>(payload.data() + 2);
  switch (status) {
    case decode_status::malformed_utf8:
      return {reply_code::frame_error, "Malformed UTF-8 in shortstr", class_id, method_id};
    case decode_status::unknown_method:
      return {reply_code::not_implemented,
              "unknown method " + std::to_string(class_id) + "," + std::to_string(method_id),
              class_id, method_id};
    default:
      return {reply_code::frame_error, "cannot decode " + printed_bytes(payload.subspan(4)),
              class_id, method_id};
  }
}

}  // namespace baton::amqp091
