#pragma once

#include "transport/amqp091/frame.hpp"
#include "transport/amqp091/properties.hpp"

/// What the quick ways of both machines share: looking at method, header and body of a content
/// where they stand, before anything is consumed.
namespace baton::amqp091 {

/// A content up to this size that the end of the input cuts is kept until it is whole, to be handed
/// over as one view; the bodies of larger ones are handed over as they come.
inline constexpr std::size_t kept_content_size = 4096;

inline constexpr std::size_t smallest_header = content_header_prefix + sizeof no_properties;

/// A frame of that type and channel, as far as it is there.
struct peeked_frame {
  bool other = false;      ///< something else comes here
  std::size_t needed = 0;  ///< from the frame's first byte; > what is there when it is cut
  std::uint32_t size = 0;  ///< of the payload, when known: 7 bytes are there
  bool size_known = false;
};
inline peeked_frame peek_frame(byte_view bytes, std::uint8_t type,
                               const std::uint8_t* channel) noexcept {
  peeked_frame peeked;
  peeked.needed = frame_header_size;
  if (bytes.size() < frame_header_size) {
    peeked.other = !bytes.empty() && bytes[0] != type;
    return peeked;
  }
  peeked.other = bytes[0] != type || bytes[1] != channel[0] || bytes[2] != channel[1];
  peeked.size = load<std::uint32_t>(bytes.data() + 3);
  peeked.size_known = true;
  peeked.needed = frame_overhead + std::size_t{peeked.size};
  return peeked;
}

/// Of a frame that is not cut.
inline bool ends_well(byte_view bytes, const peeked_frame& peeked) noexcept {
  return bytes[peeked.needed - 1] == frame_end;
}

}  // namespace baton::amqp091
