#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/journal/entries.hpp"
#include "storage/journal/record.hpp"

namespace baton::journal {

/// Messages of a queue in a segment whose records the queue needs no longer.
struct reference_drop {
  std::uint32_t segment = 0;
  std::uint64_t queue = 0;
  std::uint64_t references = 0;
  std::uint64_t bytes = 0;  ///< of all of them together: see `reference_bytes`

  friend bool operator==(const reference_drop&, const reference_drop&) = default;
};

/// What one place in a queue counts for, of a record of `record_size` bytes (padding left out) that
/// has `places` of them.
constexpr std::uint64_t reference_bytes(std::uint32_t record_size, std::uint64_t places) noexcept {
  return record_size / places;
}

/// What each segment is still needed for: decides which can be freed, and whether the oldest is
/// worth writing anew so that it can be. Knows neither messages nor files.
///
/// Segments go from the oldest on only, so that what is left of a log is its end: a record is never
/// without those that came after it. A segment is needed while there are references to it, one for
/// each place in a queue that a message record gives, or while it has the last value of a
/// definition. A recovery fills one of these in and hands it to the journal.
class live_segments {
public:
  /// A segment of the log; said again it is no other. `add` and `define` say it too.
  void begin(std::uint32_t segment);
  /// Segments behind `last` are no part of the log any more, because a sync has failed. They hold
  /// up nobody, and are forgotten with their last references. No definition is in them.
  void cut_behind(std::uint32_t last);

  /// `queue` has so many references to `segment`, of so many bytes together.
  void add(std::uint32_t segment, std::uint64_t queue, std::uint64_t references,
           std::uint64_t bytes);
  void drop(const reference_drop& gone);

  /// The last value of `key` is in `segment` now.
  void define(std::string_view key, std::uint32_t segment);
  /// A key for what is not defined but counts like a definition, the last record of each number;
  /// no definition has such a key.
  static std::string key_of(record_kind kind, std::uint64_t number);
  /// `key` has none any more.
  void undefine(std::string_view key);

  /// The oldest segment of the log.
  std::optional<std::uint32_t> oldest() const noexcept;
  bool is_needed(std::uint32_t segment) const noexcept;
  /// It is needed for definitions, and has no references.
  bool is_needed_for_definitions(std::uint32_t segment) const noexcept;
  /// It has been freed; nobody needs it.
  void remove(std::uint32_t segment);

  /// Who has references to it.
  std::vector<std::uint64_t> queues_in(std::uint32_t segment) const;
  /// Of the references to it.
  std::uint64_t live_bytes_of(std::uint32_t segment) const noexcept;

  /// Segments of the log.
  std::size_t size() const noexcept { return in_log_; }
  std::uint64_t references() const noexcept { return references_; }
  std::uint64_t live_bytes() const noexcept { return live_bytes_; }

private:
  struct use {
    bool in_log = true;
    std::uint64_t references = 0;
    std::uint64_t bytes = 0;
    std::uint64_t definitions = 0;
    std::unordered_map<std::uint64_t, std::uint64_t> queues;  // their references
  };

  std::map<std::uint32_t, use> segments_;
  std::map<std::string, std::uint32_t, std::less<>> defined_;
  std::size_t in_log_ = 0;
  std::uint64_t references_ = 0;
  std::uint64_t live_bytes_ = 0;
};

}  // namespace baton::journal
