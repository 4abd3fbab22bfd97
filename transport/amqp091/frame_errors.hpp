#pragma once

#include "transport/amqp091/frame.hpp"
#include "transport/amqp091/methods.hpp"
#include "transport/amqp091/reply_code.hpp"

/// The errors that malformed and misplaced frames cause, with RabbitMQ's texts.
namespace baton::amqp091 {

/// 501 for a frame that `scan_frame` refused.
protocol_error bad_frame_error(const scanned_frame& scanned, byte_view bytes,
                               std::uint32_t frame_max);
/// 501 for a frame of known type that is not what its type demands.
protocol_error unknown_frame_error(const frame& found);
/// 505 for a frame on a channel where its type has no business.
protocol_error unexpected_frame_error(const frame& found);
/// 501 or 540 for a method frame whose payload `visit_method` refused.
protocol_error bad_method_error(decode_status status, byte_view payload);

/// Bytes as Erlang prints them: `<<1,2,255>>`; no more of them than fit into a reply text.
std::string printed_bytes(byte_view bytes);

}  // namespace baton::amqp091
