#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/amqp091/methods.hpp"
#include "transport/amqp091/properties.hpp"

/// Contents on their way out: method, header and body frames.
namespace baton::amqp091 {

/// A piece of a body that was not copied into an output buffer: it belongs into the output before
/// the byte at offset `at` of the buffer. Pieces are in order; several may have the same offset.
struct splice {
  std::size_t at = 0;
  byte_view bytes;
};

/// What of a body goes out: pieces that follow each other (often one), and their summed size.
struct body_pieces {
  std::span<const byte_view> pieces;
  std::uint64_t size = 0;
};

/// A deliver but for its consumer: all borrowed.
struct delivery_view {
  std::uint64_t delivery_tag = 0;
  bool redelivered = false;
  std::string_view exchange;
  std::string_view routing_key;
  byte_view properties;  ///< in their encoding
};

/// The deliveries of one consumer. Frame header, ids and consumer tag are encoded once.
class deliver_encoder {
public:
  /// `frame_max` as negotiated, 0: no limit.
  deliver_encoder(std::uint16_t channel, std::string_view consumer_tag, std::uint32_t frame_max);

  /// Appends a deliver with a small body: one reservation, one pass. The body may have any size,
  /// but above `frame_max` it takes the way of the next.
  void encode(output_buffer& out, const delivery_view& delivery, byte_view body) const;
  /// Appends a deliver whose body comes in pieces, all copied.
  void encode(output_buffer& out, const delivery_view& delivery, const body_pieces& body) const;
  /// Appends everything but the body, which goes into `splices`, cut where frames end.
  void encode(output_buffer& out, std::vector<splice>& splices, const delivery_view& delivery,
              const body_pieces& body) const;

private:
  void encode_method_and_header(output_buffer& out, const delivery_view& delivery,
                                std::uint64_t body_size) const;

  std::string prefix_;  // frame header, ids, consumer tag
  std::uint16_t channel_;
  std::uint32_t frame_max_;
};

/// Appends a content's header frame.
void encode_content_header(output_buffer& out, std::uint16_t channel, byte_view properties,
                           std::uint64_t body_size);
/// Appends body frames, none of them larger than `frame_max` (0: no limit).
void encode_body(output_buffer& out, std::uint16_t channel, const body_pieces& body,
                 std::uint32_t frame_max);
/// The same without the body itself.
void encode_body(output_buffer& out, std::vector<splice>& splices, std::uint16_t channel,
                 const body_pieces& body, std::uint32_t frame_max);

/// Appends any method that carries a content (get-ok, return, publish) with its content.
template <class Method>
void encode_content(output_buffer& out, std::uint16_t channel, const Method& method,
                    byte_view properties, const body_pieces& body, std::uint32_t frame_max) {
  encode_method(out, channel, method);
  encode_content_header(out, channel, properties, body.size);
  encode_body(out, channel, body, frame_max);
}
template <class Method>
void encode_content(output_buffer& out, std::vector<splice>& splices, std::uint16_t channel,
                    const Method& method, byte_view properties, const body_pieces& body,
                    std::uint32_t frame_max) {
  encode_method(out, channel, method);
  encode_content_header(out, channel, properties, body.size);
  encode_body(out, splices, channel, body, frame_max);
}

/// A whole publish whose body is one view, as quickly as a deliver.
void encode_publish(output_buffer& out, std::uint16_t channel,
                    const methods::basic_publish& publish, byte_view properties, byte_view body,
                    std::uint32_t frame_max);

}  // namespace baton::amqp091
