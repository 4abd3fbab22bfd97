#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/ids.hpp"
#include "storage/files/file_system.hpp"
#include "storage/journal/live_segments.hpp"
#include "storage/journal/log_recovery.hpp"
#include "storage/journal/record.hpp"
#include "storage/journal/stored_index.hpp"

namespace baton::journal {

/// What a node's log says that the node has.
struct recovered_node {
  struct definition {
    std::string value;
    place at;  ///< of the record that says so
  };
  struct queue {
    stored_index messages;
    /// One above every sequence that any record speaks of: none is given twice.
    sequence next = 1;
    /// Messages whose end lies in front of a record of them, which several queues share. What is in
    /// front is freed first: the end is to be written once more, or they come back.
    std::vector<sequence> ended_early;
  };

  log_state log;
  std::map<std::string, definition> definitions;  ///< by key
  std::map<std::uint64_t, queue> queues;          ///< all that a record speaks of
  std::uint64_t highest_queue = 0;                ///< of any record
  std::map<std::uint64_t, peer_progress> peers;   ///< the last of each
  live_segments live;                             ///< for the journal

  /// Drops the messages of a queue that is not defined any more; the log goes without them.
  void forget(std::uint64_t id);
};

/// Reads a node's log and applies it, record by record; changes nothing. Afterwards `settle_log`
/// makes durable what was found, and a `journal` goes on behind it.
///
/// Segments are freed from the oldest on, so what is read is the end of all that was ever written:
/// a record may speak of messages that are not there (any more, or not yet), but what ends a
/// message is never missing where its beginning is there.
///
/// Takes a second for some 5 million messages with the log in the page cache, and the memory of the
/// indexes.
result<recovered_node> recover_node(file_system& files, const std::string& folder);

}  // namespace baton::journal
