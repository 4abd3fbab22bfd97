#include "transport/amqp091/encode.hpp"

#include <algorithm>

namespace baton::amqp091 {

namespace {

constexpr std::size_t short_string_max = 255;
constexpr std::size_t header_frame_size = frame_overhead + content_header_prefix;

std::uint8_t* store_short_string(std::uint8_t* to, std::string_view text) noexcept {
  return copy(store(to, static_cast<std::uint8_t>(text.size())), text);
}

std::uint8_t* store_frame_header(std::uint8_t* to, std::uint8_t type, std::uint16_t channel,
                                 std::size_t payload_size) noexcept {
  return store(store(store(to, type), channel), static_cast<std::uint32_t>(payload_size));
}

std::uint8_t* store_content_header(std::uint8_t* to, std::uint16_t channel, byte_view properties,
                                   std::uint64_t body_size) noexcept {
  to = store_frame_header(to, frame_type::header, channel,
                          content_header_prefix + properties.size());
  to = store(to, std::uint32_t{methods::basic_publish::class_id} << 16);  // and weight 0
  to = copy(store(to, body_size), properties);
  return store(to, frame_end);
}

std::uint8_t* store_body_frame(std::uint8_t* to, std::uint16_t channel, byte_view body) noexcept {
  to = store_frame_header(to, frame_type::body, channel, body.size());
  return store(copy(to, body), frame_end);
}

/// The largest payload of a frame that we send.
std::size_t payload_limit(std::uint32_t frame_max) noexcept {
  return (frame_max == 0 ? unlimited_frame_size : frame_max) - frame_overhead;
}

/// Cuts a body into frames: `begin_frame(size)`, then `put(bytes)` until they are together, and
/// `end_frame()`.
template <class Frames>
void for_each_body_frame(const body_pieces& body, std::size_t limit, Frames&& frames) {
  std::uint64_t left = body.size;
  std::uint64_t in_frame = 0;
  for (byte_view piece : body.pieces) {
    while (!piece.empty()) {
      if (in_frame == 0) {
        in_frame = std::min<std::uint64_t>(left, limit);
        left -= in_frame;
        frames.begin_frame(static_cast<std::size_t>(in_frame));
      }
      const auto size = std::min<std::size_t>(piece.size(), static_cast<std::size_t>(in_frame));
      frames.put(piece.first(size));
      piece = piece.subspan(size);
      in_frame -= size;
      if (in_frame == 0) frames.end_frame();
    }
  }
}

struct frame_writer {
  output_buffer& out;
  std::uint16_t channel;
  std::vector<splice>* splices;  // nullptr: copy

  void begin_frame(std::size_t size) {
    out.commit(store_frame_header(out.reserve(frame_header_size), frame_type::body, channel, size));
  }
  void put(byte_view bytes) {
    if (splices == nullptr)
      out.append(bytes);
    else
      splices->push_back({out.size(), bytes});
  }
  void end_frame() { out.append_number(frame_end); }
};

}  // namespace

void encode_content_header(output_buffer& out, std::uint16_t channel, byte_view properties,
                           std::uint64_t body_size) {
  auto* const to = out.reserve(header_frame_size + properties.size());
  out.commit(store_content_header(to, channel, properties, body_size));
}

void encode_body(output_buffer& out, std::uint16_t channel, const body_pieces& body,
                 std::uint32_t frame_max) {
  for_each_body_frame(body, payload_limit(frame_max), frame_writer{out, channel, nullptr});
}

void encode_body(output_buffer& out, std::vector<splice>& splices, std::uint16_t channel,
                 const body_pieces& body, std::uint32_t frame_max) {
  for_each_body_frame(body, payload_limit(frame_max), frame_writer{out, channel, &splices});
}

deliver_encoder::deliver_encoder(std::uint16_t channel, std::string_view consumer_tag,
                                 std::uint32_t frame_max)
    : channel_{channel}, frame_max_{frame_max} {
  output_buffer prefix;
  prefix.commit(
      store_frame_header(prefix.reserve(frame_header_size), frame_type::method, channel, 0));
  prefix.append_number(methods::id_of<methods::basic_deliver>);
  prefix.append_short_string(consumer_tag);
  prefix_ = as_text(prefix.view());
}

/// The rest of basic.deliver behind the prefix: tag (8), redelivered (1), exchange, routing key.
static std::uint8_t* store_deliver(std::uint8_t* const start, std::string_view prefix,
                                   const delivery_view& delivery) noexcept {
  std::uint8_t* to = copy(start, prefix);
  to = store(store(to, delivery.delivery_tag), static_cast<std::uint8_t>(delivery.redelivered));
  to = store_short_string(store_short_string(to, delivery.exchange), delivery.routing_key);
  store(start + 3, static_cast<std::uint32_t>(to - start - frame_header_size));
  return store(to, frame_end);
}
static constexpr std::size_t deliver_size_max = 9 + 2 * (1 + short_string_max) + 1;

void deliver_encoder::encode(output_buffer& out, const delivery_view& delivery,
                             byte_view body) const {
  if (body.size() > payload_limit(frame_max_))
    return encode(out, delivery, body_pieces{{&body, 1}, body.size()});
  std::uint8_t* to = out.reserve(prefix_.size() + deliver_size_max + header_frame_size +
                                 delivery.properties.size() + frame_overhead + body.size());
  to = store_deliver(to, prefix_, delivery);
  to = store_content_header(to, channel_, delivery.properties, body.size());
  if (!body.empty()) to = store_body_frame(to, channel_, body);
  out.commit(to);
}

void deliver_encoder::encode_method_and_header(output_buffer& out, const delivery_view& delivery,
                                               std::uint64_t body_size) const {
  out.commit(store_deliver(out.reserve(prefix_.size() + deliver_size_max), prefix_, delivery));
  encode_content_header(out, channel_, delivery.properties, body_size);
}

void deliver_encoder::encode(output_buffer& out, const delivery_view& delivery,
                             const body_pieces& body) const {
  encode_method_and_header(out, delivery, body.size);
  encode_body(out, channel_, body, frame_max_);
}

void deliver_encoder::encode(output_buffer& out, std::vector<splice>& splices,
                             const delivery_view& delivery, const body_pieces& body) const {
  encode_method_and_header(out, delivery, body.size);
  encode_body(out, splices, channel_, body, frame_max_);
}

void encode_publish(output_buffer& out, std::uint16_t channel,
                    const methods::basic_publish& publish, byte_view properties, byte_view body,
                    std::uint32_t frame_max) {
  if (body.size() > payload_limit(frame_max))
    return encode_content(out, channel, publish, properties, {{&body, 1}, body.size()}, frame_max);
  const auto method_size = 4 + 2 + 1 + publish.exchange.size() + 1 + publish.routing_key.size() + 1;
  std::uint8_t* to = out.reserve(method_size + frame_overhead + header_frame_size +
                                 properties.size() + frame_overhead + body.size());
  to = store_frame_header(to, frame_type::method, channel, method_size);
  to = store(store(to, methods::id_of<methods::basic_publish>), publish.ticket);
  to = store_short_string(store_short_string(to, publish.exchange), publish.routing_key);
  to = store(to, static_cast<std::uint8_t>(publish.mandatory | publish.immediate << 1));
  to = store(to, frame_end);
  to = store_content_header(to, channel, properties, body.size());
  if (!body.empty()) to = store_body_frame(to, channel, body);
  out.commit(to);
}

}  // namespace baton::amqp091
