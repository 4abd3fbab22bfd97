#include "transport/amqp091/content_encoder.hpp"

#include <algorithm>

namespace baton::amqp091 {

namespace {

std::uint8_t* store_frame_head(std::uint8_t* to, std::uint8_t type, std::uint16_t channel,
                               std::uint32_t payload_size) noexcept {
  return store(store(store(to, type), channel), payload_size);
}

std::uint8_t* store_short_string(std::uint8_t* to, std::string_view text) noexcept {
  return copy(store(to, static_cast<std::uint8_t>(text.size())), text);
}

std::uint8_t* store_content_header(std::uint8_t* to, std::uint16_t channel, byte_view properties,
                                   std::uint64_t body_size) noexcept {
  const auto size = static_cast<std::uint32_t>(content_header_prefix + properties.size());
  to = store_frame_head(to, frame_type::header, channel, size);
  to = store(to, methods::basic_publish::class_id);
  to = store(to, std::uint16_t{0});  // weight
  to = store(to, body_size);
  return store(copy(to, properties), frame_end);
}

std::size_t content_header_size(byte_view properties) noexcept {
  return frame_overhead + content_header_prefix + properties.size();
}

}  // namespace

deliver_prefix::deliver_prefix(std::uint16_t channel, std::string_view consumer_tag)
    : channel_{channel} {
  output_buffer out;
  out.commit(store_frame_head(out.reserve(frame_header_size), frame_type::method, channel, 0));
  out.append_number(methods::id_of<methods::basic_deliver>);
  out.append_short_string(consumer_tag);
  bytes_ = as_text(out.view());
}

void encode_deliver_head(output_buffer& out, const deliver_prefix& prefix,
                         std::uint64_t delivery_tag, bool redelivered, std::string_view exchange,
                         std::string_view routing_key, byte_view properties,
                         std::uint64_t body_size) {
  // Delivery tag, redelivered, and two short strings follow the prefix.
  const auto method_size = prefix.bytes().size() - frame_header_size + sizeof delivery_tag + 1 + 1 +
                           exchange.size() + 1 + routing_key.size();
  auto* const start = out.reserve(method_size + frame_overhead + content_header_size(properties));
  auto* to = copy(start, prefix.bytes());
  store(start + 3, static_cast<std::uint32_t>(method_size));
  to = store(to, delivery_tag);
  to = store(to, static_cast<std::uint8_t>(redelivered));
  to = store_short_string(to, exchange);
  to = store_short_string(to, routing_key);
  to = store(to, frame_end);
  out.commit(store_content_header(to, prefix.channel(), properties, body_size));
}

void encode_content_header(output_buffer& out, std::uint16_t channel, byte_view properties,
                           std::uint64_t body_size) {
  out.commit(store_content_header(out.reserve(content_header_size(properties)), channel, properties,
                                  body_size));
}

void encode_body(output_buffer& out, std::uint16_t channel, byte_view body,
                 std::uint32_t frame_max) {
  const auto capacity = body_frame_capacity(frame_max);
  while (!body.empty()) {
    const auto piece = body.first(std::min(body.size(), capacity));
    auto* to = out.reserve(frame_overhead + piece.size());
    to = store_frame_head(to, frame_type::body, channel, static_cast<std::uint32_t>(piece.size()));
    out.commit(store(copy(to, piece), frame_end));
    body = body.subspan(piece.size());
  }
}

void encode_body_frame_head(output_buffer& out, std::uint16_t channel, std::uint32_t payload_size) {
  out.commit(
      store_frame_head(out.reserve(frame_header_size), frame_type::body, channel, payload_size));
}

void encode_frame_end(output_buffer& out) { out.append_number(frame_end); }

}  // namespace baton::amqp091
