#pragma once

#include <cstdint>
#include <string>

#include "storage/files/file_system.hpp"
#include "storage/journal/live_segments.hpp"
#include "storage/journal/log_recovery.hpp"
#include "storage/stream/segment_table.hpp"

namespace baton::stream_log {

/// What a stream's log was found to hold.
struct recovered_stream {
  explicit recovered_stream(std::uint64_t queue) : table{queue} {}

  journal::log_state log;       ///< with what is damaged or torn
  segment_table table;          ///< everything in it is synced
  journal::live_segments live;  ///< for the journal
};

/// Reads the end of a stream's log, and of each segment before it the first chunk: a long log takes
/// hardly longer than a short one. Changes nothing. Afterwards `settle_log` makes durable what was
/// found, and a `journal` with this queue as its stream goes on behind it.
///
/// Everything that was told safe and is not retired is there, at its offset; no offset of a message
/// that was told safe is given again, also after damage. What is damaged in the part that is not
/// read shows when a reader comes there.
///
/// An error is one of the file system, or a segment that is none of this stream or of another
/// format version: then the folder must not be written.
result<recovered_stream> recover_stream(file_system& files, const std::string& folder,
                                        std::uint64_t queue);

/// Removes the folder of a stream that is no longer defined, and all in it. After a power cut some
/// of it may be there again: remove it again.
file_result<void> remove_stream(file_system& files, const std::string& folder);

}  // namespace baton::stream_log
