#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "actors/queue/consumer_options.hpp"
#include "actors/queue/lease.hpp"
#include "config/ids.hpp"
#include "storage/journal/entries.hpp"

namespace baton {

/// One reader of a stream: where it stands, and how much it may still be handed.
struct stream_cursor {
  /// So much that nobody lives to see it used up.
  static constexpr std::int64_t unlimited = std::int64_t{1} << 61;

  consumer_id id;
  std::uint64_t next = 0;    ///< offset of the message that it gets next
  std::int64_t balance = 0;  ///< bytes that it may still be handed
  std::int64_t demand = 0;   ///< messages that it may still be handed; from `unlimited` on: any
  std::uint32_t unsettled = 0;
  std::uint32_t prefetch = 0;
  bool no_ack = false;
  bool exclusive = false;
  bool told_demand = false;  ///< that it lacks demand
  /// `next` is that of the first message taken then or later, which is to be found out.
  std::optional<std::uint64_t> seeks_time_ms;
  journal::place stopped;    ///< where all before `next` has been passed; or segment 0
  journal::place waits_for;  ///< what is read from there; or segment 0
  stream_reading reading;

  bool lacks_only_demand() const noexcept { return balance > 0 && unsettled < prefetch; }
  bool may_take() const noexcept { return lacks_only_demand() && demand > 0; }
};

/// The readers of a stream, each for itself.
class stream_cursors {
public:
  std::size_t size() const noexcept { return all_.size(); }
  bool has_exclusive() const noexcept { return exclusive_; }

  stream_cursor* find(consumer_id id) noexcept;
  const stream_cursor* find(consumer_id id) const noexcept;
  /// It must not be there yet.
  stream_cursor& add(consumer_id id, const consumer_options& options);
  void remove(consumer_id id);

  auto begin() noexcept { return all_.begin(); }
  auto end() noexcept { return all_.end(); }
  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

private:
  std::vector<stream_cursor> all_;  // sorted by id
  bool exclusive_ = false;
};

}  // namespace baton
