#include "actors/stream_reader_actor.hpp"

#include <utility>

#include "actors/support/log.hpp"

namespace baton {

void stream_reader_actor::handle(read_chunks& request) {
  const auto& wanted = request.wanted;
  stream_log::chunk_reader::request asked;
  asked.queue = request.stream.value;
  asked.where = wanted.where;
  asked.offset = wanted.offset;
  asked.since_ms = wanted.since_ms.value_or(0);
  asked.before = wanted.before;
  auto outcome = reader_->read(asked);
  for (const auto& each : outcome.damage) log::error("stream", "messages are lost: " + each);

  stream_found found;
  found.offset = outcome.offset;
  found.stopped = outcome.stopped;
  found.retired = outcome.retired;
  found.chunks.reserve(outcome.chunks.size());
  for (auto& each : outcome.chunks) {
    auto& chunk = found.chunks.emplace_back();
    chunk.first = each.first;
    chunk.time_ms = each.time_ms;
    for (auto& m : each.messages) chunk.add(std::move(m));
  }
  request.to.send(chunks_read{wanted, std::move(found)});
}

void stream_reader_actor::handle(leave_segments& notice) {
  for (const auto segment : notice.left_behind) reader_->left_behind(notice.stream.value, segment);
  if (notice.gone_before != 0) reader_->close(notice.stream.value, notice.gone_before);
}

}  // namespace baton
