#pragma once

#include <array>
#include <cstdint>

#include "actors/interfaces.hpp"

namespace baton {

/// Gathers what one publisher routes within one turn, so that each queue gets it in batches. One
/// for each loop, used by one publisher at a time, who flushes it before anything else of his may
/// overtake: a question to a queue, or the end of the turn.
///
/// Order: messages of one publisher reach a queue in the order in which they were added, whatever
/// other queues they or their neighbours went to.
class publish_outbox {
public:
  publish_outbox() = default;
  publish_outbox(const publish_outbox&) = delete;
  publish_outbox& operator=(const publish_outbox&) = delete;

  /// One message for one queue. `run`: the publisher's open receipt, which covers publish `number`.
  void add(queue_id queue, const publish_ref& to, message taken, const receipt& run,
           std::uint64_t number);

  /// Sends everything on.
  void flush();
  bool empty() const noexcept { return occupied_ == 0; }

private:
  struct slot {
    queue_id queue;
    publish_ref to;
    publish pending;
  };
  // Direct-mapped by queue: where two queues meet, the earlier one's batch goes out first.
  static constexpr std::size_t slots = 64;

  void send(std::size_t index);

  std::array<slot, slots> slots_;
  std::uint64_t occupied_ = 0;  // bit i: slot i holds something
};

}  // namespace baton
