#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/stream/stream_chunk.hpp"
#include "config/ids.hpp"
#include "storage/stream/chunk_reader.hpp"

namespace baton {

/// A read of a stream's log: of chunks that have messages from `offset` on (or, with `since_ms`,
/// that were taken then or later) and that begin below `before`, all of it safe.
struct stream_read {
  stream_log::stretch where;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> since_ms;
  std::uint64_t before = 0;
  bool synced = false;  ///< all of it is, and stays where it lies until it is retired
};

/// What a read has found: maybe nothing, then it goes on.
struct stream_found {
  std::vector<stream_chunk> chunks;
  std::uint64_t offset = 0;  ///< where it goes on
  journal::place stopped;    ///< the same, in the log
  bool retired = false;      ///< the segment is gone
};

/// How the log's reader is asked for it.
stream_log::chunk_reader::request request_of(queue_id stream, const stream_read& wanted);
stream_found found_in(stream_log::chunk_reader::outcome&& outcome);

}  // namespace baton
