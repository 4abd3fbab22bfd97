#pragma once

#include <chrono>
#include <memory>

#include "actors/connection/output.hpp"
#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/timer.hpp"

namespace baton {

/// What is left of a connection whose actor has failed: its socket, and what it still has to say.
/// Writes that, and reads on to no effect until the client has closed too, or for
/// `lingering_timeout`: the end of a socket with unread input can overtake our last frame.
class parting_actor final : public actor_of<parting_actor, actor_ref<>>, private stream_handler {
public:
  /// How long we read, to no effect, from a client that we cannot follow, so that it sees what we
  /// said last; or from one that broke the hand-shake and is told nothing. As long as RabbitMQ.
  static constexpr std::chrono::seconds lingering_timeout{3};

  /// Nobody calls the socket's present handler any more. On the loop of all three.
  parting_actor(caf::actor_config& config, std::unique_ptr<stream> socket,
                connection_output last_words);

protected:
  void on_start() override;
  void on_exit() override;

private:
  void on_readable() override;
  void on_writable() override;
  void write();

  std::unique_ptr<stream> socket_;
  connection_output last_words_;
  timer deadline_;
};

}  // namespace baton
