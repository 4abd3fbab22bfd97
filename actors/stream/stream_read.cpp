#include "actors/stream/stream_read.hpp"

#include <utility>

namespace baton {

stream_log::chunk_reader::request request_of(queue_id stream, const stream_read& wanted) {
  stream_log::chunk_reader::request made;
  made.queue = stream.value;
  made.where = wanted.where;
  made.offset = wanted.offset;
  made.since_ms = wanted.since_ms.value_or(0);
  made.before = wanted.before;
  return made;
}

stream_found found_in(stream_log::chunk_reader::outcome&& outcome) {
  stream_found made;
  made.offset = outcome.offset;
  made.stopped = outcome.stopped;
  made.retired = outcome.retired;
  made.chunks.reserve(outcome.chunks.size());
  for (auto& each : outcome.chunks) {
    auto& chunk = made.chunks.emplace_back();
    chunk.first = each.first;
    chunk.time_ms = each.time_ms;
    for (auto& m : each.messages) chunk.add(std::move(m));
  }
  return made;
}

}  // namespace baton
