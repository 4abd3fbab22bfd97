#pragma once

#include <memory>

#include "actors/interfaces.hpp"
#include "actors/runtime/actor_of.hpp"
#include "storage/journal/message_reader.hpp"

namespace baton {

/// Reads messages back from the journal, for the queues that want to hand them out. It has a loop
/// of its own and blocks it.
class reader_actor final : public actor_of<reader_actor, reader_ref> {
public:
  reader_actor(caf::actor_config& config, std::unique_ptr<journal::message_reader> reader);

  void handle(read_messages& request);
  void handle(leave_journal& notice);

protected:
  void on_exit() override;

private:
  std::unique_ptr<journal::message_reader> reader_;
};

}  // namespace baton
