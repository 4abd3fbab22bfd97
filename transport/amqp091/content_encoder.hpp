#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/byte_view.hpp"
#include "transport/amqp091/frame.hpp"
#include "transport/amqp091/methods.hpp"

/// Contents on their way out (AMQP 0-9-1 §4.2.6): a method frame, a header frame, body frames of at
/// most the negotiated size. A body in one piece is copied behind its frames; one in many pieces is
/// framed here and spliced in by whoever writes.
namespace baton::amqp091 {

/// What all deliveries to one consumer begin with: the method frame up to the consumer tag, its
/// size still 0.
class deliver_prefix {
public:
  deliver_prefix() = default;
  deliver_prefix(std::uint16_t channel, std::string_view consumer_tag);

  std::uint16_t channel() const noexcept { return channel_; }
  std::string_view bytes() const noexcept { return bytes_; }

private:
  std::uint16_t channel_ = 0;
  std::string bytes_;
};

/// What a content frame of a body carries at most; frame_max 0 is no limit.
inline std::size_t body_frame_capacity(std::uint32_t frame_max) noexcept {
  return frame_max == 0 ? SIZE_MAX : frame_max - frame_overhead;
}

/// Appends basic.deliver's method frame and the content header.
void encode_deliver_head(output_buffer& out, const deliver_prefix& prefix,
                         std::uint64_t delivery_tag, bool redelivered, std::string_view exchange,
                         std::string_view routing_key, byte_view properties,
                         std::uint64_t body_size);

/// Appends a content header frame. `properties`: in their encoding.
void encode_content_header(output_buffer& out, std::uint16_t channel, byte_view properties,
                           std::uint64_t body_size);

/// Appends a body in one piece, cut into frames; nothing for an empty one.
void encode_body(output_buffer& out, std::uint16_t channel, byte_view body,
                 std::uint32_t frame_max);

/// Appends what stands before, and behind, the payload of one body frame.
void encode_body_frame_head(output_buffer& out, std::uint16_t channel, std::uint32_t payload_size);
void encode_frame_end(output_buffer& out);

}  // namespace baton::amqp091
