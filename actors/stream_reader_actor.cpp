#include "actors/stream_reader_actor.hpp"

#include <utility>

#include "actors/support/log.hpp"

namespace baton {

void stream_reader_actor::handle(read_chunks& request) {
  auto outcome = reader_->read(request_of(request.stream, request.wanted));
  for (const auto& each : outcome.damage) log::error("stream", "messages are lost: " + each);
  request.to.send(chunks_read{request.wanted, found_in(std::move(outcome))});
}

void stream_reader_actor::handle(leave_segments& notice) {
  for (const auto segment : notice.left_behind) reader_->left_behind(notice.stream.value, segment);
  if (notice.gone_before != 0) reader_->close(notice.stream.value, notice.gone_before);
}

}  // namespace baton
