#pragma once

#include <array>
#include <cstdint>
#include <span>

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
  /// `joint`: this queue's share, where several store it.
  void add(queue_id queue, const publish_ref& to, message taken, const receipt& run,
           std::uint64_t number, record_share joint = {});
  /// One message for several queues. `store`: empty where nothing is stored.
  void add(std::span<const queue_entry* const> queues, message taken, const receipt& run,
           std::uint64_t number, const store_ref& store);

  /// Sends everything on.
  void flush();

private:
  struct slot {
    queue_id queue;
    publish_ref to;
    publish pending;
  };
  // Direct-mapped by queue: where two queues meet, the earlier one's batch goes out first. Queues
  // that are declared in a row do not meet, so a fan-out to 100 of them fills 100 batches.
  static constexpr std::size_t slots = 512;

  bool is_occupied(std::size_t index) const noexcept {
    return (occupied_[index / 64] >> index % 64 & 1) != 0;
  }
  void send(std::size_t index);

  std::array<slot, slots> slots_;
  std::array<std::uint64_t, slots / 64> occupied_{};  // a bit for each slot that holds something
};

}  // namespace baton
