#pragma once

#include <cstdint>

#include "storage/byte_view.hpp"
#include "transport/amqp091/wire.hpp"

/// Frames (AMQP 0-9-1 §4.2.3):
///
///   offset  size  meaning
///   0       1     type: 1 method, 2 content header, 3 content body, 8 heartbeat
///   1       2     AMQP channel
///   3       4     size of the payload
///   7       size  payload
///   7+size  1     end: 0xCE
namespace baton::amqp091 {

namespace frame_type {
inline constexpr std::uint8_t method = 1;
inline constexpr std::uint8_t header = 2;
inline constexpr std::uint8_t body = 3;
inline constexpr std::uint8_t heartbeat = 8;
}  // namespace frame_type

inline constexpr std::uint8_t frame_end = 0xCE;
inline constexpr std::size_t frame_header_size = 7;
inline constexpr std::size_t frame_overhead = frame_header_size + 1;
/// Class (2), weight (2), body size (8); the properties follow.
inline constexpr std::size_t content_header_prefix = 12;
/// AMQP 0-9-1 §4.2.3, frame-min-size: both ends must take frames of this size.
inline constexpr std::uint32_t frame_min_size = 4096;
/// Taken for the largest payload when no limit was negotiated: a frame of a method or a header is
/// collected whole, so there has to be one.
inline constexpr std::uint32_t unlimited_frame_size = std::uint32_t{128} << 20;
/// `AMQP 0 0 9 1`
inline constexpr std::uint8_t protocol_header[8] = {'A', 'M', 'Q', 'P', 0, 0, 9, 1};

inline bool is_frame_type(std::uint8_t type) noexcept {
  return (type >= frame_type::method && type <= frame_type::body) || type == frame_type::heartbeat;
}

struct frame {
  std::uint8_t type = 0;
  std::uint16_t channel = 0;
  byte_view payload;
};

enum class scan_status {
  whole,         ///< `found` is set, `size` bytes are consumed
  cut,           ///< `size` is how many bytes from the frame's first are needed to go on
  unknown_type,  ///< `found` has type and channel; nothing behind it can be read, as below
  too_large,     ///< the payload exceeds the frame size limit
  bad_end,       ///< the octet behind the payload is not 0xCE
};
struct scanned_frame {
  scan_status status = scan_status::cut;
  frame found;
  std::size_t size = frame_header_size;
  std::uint32_t payload_size = 0;
};

/// The frame that `bytes` begin with, as a view into them. A payload may be as large as `frame_max`
/// itself: some clients forget the 8 octets around it, and RabbitMQ lets them.
inline scanned_frame scan_frame(byte_view bytes, std::uint32_t frame_max) noexcept {
  scanned_frame scanned;
  if (bytes.empty()) return scanned;
  scanned.found.type = bytes[0];
  if (!is_frame_type(bytes[0])) {
    scanned.status = scan_status::unknown_type;
    if (bytes.size() >= 3) scanned.found.channel = load<std::uint16_t>(bytes.data() + 1);
    return scanned;
  }
  if (bytes.size() < frame_header_size) return scanned;
  scanned.found.channel = load<std::uint16_t>(bytes.data() + 1);
  scanned.payload_size = load<std::uint32_t>(bytes.data() + 3);
  if (scanned.payload_size > frame_max) {
    scanned.status = scan_status::too_large;
    return scanned;
  }
  scanned.size = frame_overhead + scanned.payload_size;
  if (bytes.size() < scanned.size) return scanned;
  scanned.found.payload = bytes.subspan(frame_header_size, scanned.payload_size);
  scanned.status = bytes[scanned.size - 1] == frame_end ? scan_status::whole : scan_status::bad_end;
  return scanned;
}

/// Appends a heartbeat frame.
inline void encode_heartbeat(output_buffer& out) {
  std::uint8_t* to = store(out.reserve(frame_overhead), frame_type::heartbeat);
  out.commit(store(store(store(to, std::uint16_t{0}), std::uint32_t{0}), frame_end));
}

}  // namespace baton::amqp091
