#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace baton {

/// `x-queue-type`. Quorum queues and streams are durable and shared by definition.
enum class queue_type : std::uint8_t { classic, quorum, stream };

/// `x-overflow`: what a full queue does with one more message.
enum class overflow_policy : std::uint8_t {
  drop_head,           ///< the oldest ready message makes room
  reject_publish,      ///< the new one is refused: nack with confirms, silence without
  reject_publish_dlx,  ///< the same, and the refused one is dead-lettered
};

/// The arguments of a queue after validation (parse_queue_arguments): what the queue itself reads.
/// Absent means that the client did not ask for it. The declared table is kept beside it for
/// listings and for the comparison of a later declare.
struct queue_arguments {
  std::optional<std::chrono::milliseconds> message_ttl;  ///< 0: expires unless taken at once
  std::optional<std::chrono::milliseconds> expires;      ///< at least 1 ms
  std::optional<std::uint64_t> max_length;               ///< ready messages
  std::optional<std::uint64_t> max_length_bytes;         ///< payload bytes of ready messages
  overflow_policy overflow = overflow_policy::drop_head;
  std::optional<std::uint8_t> max_priority;         ///< absent: not a priority queue
  std::optional<std::string> dead_letter_exchange;  ///< "" is the default exchange
  std::optional<std::string> dead_letter_routing_key;
  bool single_active_consumer = false;
  std::optional<std::uint32_t> delivery_limit;       ///< absent: no limit
  std::optional<std::chrono::milliseconds> max_age;  ///< of a stream's messages
  std::optional<std::uint64_t> max_segment_size;     ///< of a stream's files, bytes
  queue_type type = queue_type::classic;

  friend bool operator==(const queue_arguments&, const queue_arguments&) = default;
};

}  // namespace baton
