#pragma once

#include <memory>

#include "actors/interfaces.hpp"
#include "actors/runtime/actor_of.hpp"
#include "storage/stream/chunk_reader.hpp"

namespace baton {

/// Reads the logs of all streams, for readers that have fallen behind what memory holds. It has its
/// loop to share with the reader of the journal, and blocks it.
class stream_reader_actor final : public actor_of<stream_reader_actor, stream_reader_ref> {
public:
  stream_reader_actor(caf::actor_config& config, std::unique_ptr<stream_log::chunk_reader> reader)
      : actor_of{config}, reader_{std::move(reader)} {}

  void handle(read_chunks& request);
  void handle(leave_segments& notice);

protected:
  void on_exit() override { reader_.reset(); }

private:
  std::unique_ptr<stream_log::chunk_reader> reader_;
};

}  // namespace baton
