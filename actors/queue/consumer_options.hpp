#pragma once

#include <cstdint>
#include <optional>

#include "actors/stream/stream_reading.hpp"

namespace baton {

/// How a consumer subscribes. Three limits hold it back, all at once: its prefetch window, its byte
/// credit, and its message demand.
struct consumer_options {
  bool no_ack = false;        ///< what it is handed is settled at once; its prefetch does not count
  bool exclusive = false;     ///< it must be the only one
  std::int32_t priority = 0;  ///< lower ones get messages only while no higher one has credit
  std::uint32_t prefetch = 0;  ///< leases that it may have unsettled; 0: any number
  /// Bytes that it may be handed before it grants more: footprints of messages. While the balance
  /// is above zero it may be handed one more message, of whatever size.
  std::uint64_t byte_credit = 256 << 10;
  /// Messages that it may be handed before it demands more; absent: any number.
  std::optional<std::uint32_t> demand;
  stream_reading reading;  ///< of a stream, else unused
};

}  // namespace baton
