#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "actors/handles.hpp"
#include "actors/receipt.hpp"
#include "config/settings.hpp"
#include "storage/journal/entries.hpp"
#include "storage/message.hpp"

namespace baton {

/// One record for a message that several queues store: its body is written once, and after a crash
/// it is in all of them or in none. Each queue holds a share and puts its place in; the last share
/// to go sends the record to the store, from whichever loop. A share that goes without a place
/// belonged to a queue that does not want the message, or has ended.
class record_share {
public:
  record_share() = default;
  record_share(record_share&&) noexcept = default;
  record_share& operator=(record_share&&) noexcept = default;

  /// The first share, of at most `queues` + 1. `done` covers publish number `publish`; it is let go
  /// of when the record is safe, or nobody wants it.
  static record_share open(store_ref store, const message& content, std::size_t queues,
                           receipt done, std::uint64_t publish);
  record_share share() const { return record_share{state_}; }
  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// Where the message stands in a queue, and how safe that queue wants it. Ends this share.
  void put(queue_ref queue, const journal::queue_place& where, sync_policy sync) &&;

private:
  class state;
  explicit record_share(std::shared_ptr<state> of) : state_{std::move(of)} {}

  std::shared_ptr<state> state_;
};

}  // namespace baton
