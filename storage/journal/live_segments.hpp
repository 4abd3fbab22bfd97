#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "storage/journal/entries.hpp"

namespace baton::journal {

/// What each segment is still needed for: decides which can be freed, and which are worth writing
/// anew so that they can be. Counts references, one for each place in a queue that a message has;
/// it knows neither messages nor files.
///
/// A segment is needed while a message in it stands in a queue, or while a recovery would replay
/// it: records of settlements and definitions count from the last checkpoint on.
class live_segments {
public:
  /// A message record of `bytes`, with `references` places in queues, lies in `segment`.
  void add(std::uint32_t segment, std::uint64_t references, std::uint64_t bytes);
  /// Other records have been written to `segment`.
  void add(std::uint32_t segment) { segments_[segment]; }

  /// References to a record of `bytes` have gone; `last`: there is none left to that record.
  void drop(std::uint32_t segment, std::uint64_t references, std::uint64_t bytes, bool last);

  /// A recovery would replay the log from `from` on.
  void checkpointed(place from) { replay_from_ = from; }

  /// Segments that nobody needs any more, oldest first; each is named once and forgotten.
  std::vector<std::uint32_t> take_free();

  /// The segment behind the last checkpoint whose messages cost least to write anew, if they take
  /// at most `percent` of `segment_size` bytes.
  std::optional<std::uint32_t> worth_compacting(std::uint32_t percent,
                                                std::uint64_t segment_size) const;

  std::size_t size() const noexcept { return segments_.size(); }
  std::uint64_t live_bytes() const noexcept { return live_bytes_; }

private:
  struct use {
    std::uint64_t references = 0;
    std::uint64_t bytes = 0;  // of records that have some
  };

  bool is_replayed(std::uint32_t segment) const noexcept { return segment >= replay_from_.segment; }

  std::map<std::uint32_t, use> segments_;
  place replay_from_;
  std::uint64_t live_bytes_ = 0;
};

}  // namespace baton::journal
