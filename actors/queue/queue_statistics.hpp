#pragma once

#include <cstdint>

namespace baton {

/// What a queue holds now, and what has happened to its messages since it was made.
struct queue_statistics {
  // Now.
  std::uint64_t ready = 0;        ///< messages that wait for a consumer
  std::uint64_t unsettled = 0;    ///< messages that are leased
  std::uint64_t consumers = 0;    ///< subscriptions; those that only `get` do not count
  std::uint64_t ready_bytes = 0;  ///< payload of the ready messages: what x-max-length-bytes limits
  std::uint64_t held_bytes = 0;   ///< footprint of ready and unsettled messages

  // Since it was made; each counts messages.
  std::uint64_t published = 0;         ///< accepted
  std::uint64_t refused = 0;           ///< not accepted: reject-publish
  std::uint64_t delivered = 0;         ///< handed to consumers, to be settled
  std::uint64_t delivered_no_ack = 0;  ///< handed to consumers and forgotten
  std::uint64_t got = 0;               ///< by get, to be settled
  std::uint64_t got_no_ack = 0;        ///< by get, and forgotten
  std::uint64_t redelivered = 0;       ///< of those four: handed out before
  std::uint64_t acked = 0;
  std::uint64_t rejected = 0;
  std::uint64_t returned = 0;  ///< released: back to their place
  std::uint64_t expired = 0;
  std::uint64_t dropped = 0;        ///< by a length limit
  std::uint64_t undeliverable = 0;  ///< returned once more than `x-delivery-limit` allows
  std::uint64_t purged = 0;
};

}  // namespace baton
