#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/files/file_system.hpp"
#include "storage/journal/record.hpp"
#include "storage/journal/segment.hpp"

namespace baton::journal {

/// What a folder's log was found to be.
struct log_state {
  place end;                            ///< of the log; what lies behind it is not part of it
  place synced_to;                      ///< what is known to be durable
  std::uint32_t last_number = 0;        ///< of a segment, whatever became of it
  std::vector<std::uint32_t> segments;  ///< of the log, in order
  std::vector<std::string> spares;      ///< files that can be used again
  /// Segments that are no part of the log, in the order in which they are to go.
  std::vector<std::string> dead;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  /// In order: whatever was done before is in it. So too if it has no records.
  bool closed = false;

  /// What is missing though it was once durable: which file, from where to where.
  std::vector<std::string> damage;
  /// Where the log was cut: what followed was written and not synced when the machine went down, or
  /// (in a file that was used before) is of an older log. Empty after a log was closed in order.
  std::string torn;
};

/// Reads a log from its beginning to its end, as a start after any kind of stop has to. Changes
/// nothing, and holds no more of it in memory than a block or the largest record.
///
/// `use` is given each record with its place, in order; views are valid during the call. Records
/// that are damaged are left out, and all else is given. The log ends at the first record that is
/// not whole and was not known to be durable; whatever lies behind it is not given.
///
/// An error is one of the file system, or a segment of another format version: then the folder must
/// not be written.
result<log_state> recover_log(
    file_system& files, const std::string& folder,
    const std::function<void(place, byte_view frame, const record&)>& use);

/// A segment of the log that was not read: when a later one was begun all of it was durable.
struct unread_segment {
  segment_header header;
  std::optional<std::uint32_t> end;  ///< of its records, where the next one says so
};

/// The same for a log of which only the end is worth reading: from the first segment on that may
/// hold what was never synced, which is one or two of them whatever the log's length. What is
/// before it comes in `unread`, in order; damage there is not looked for.
result<log_state> recover_log_end(
    file_system& files, const std::string& folder,
    const std::function<void(place, byte_view frame, const record&)>& use,
    std::vector<unread_segment>& unread);

/// Makes durable what was recovered, and removes what is no part of it, at the end of its last
/// segment too: after that a `log_writer` may go on behind `state.end`, and until it does the same
/// is found again.
file_result<void> settle_log(file_system& files, const std::string& folder, const log_state& state);

}  // namespace baton::journal
