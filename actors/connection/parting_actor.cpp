#include "actors/connection/parting_actor.hpp"

namespace baton {

parting_actor::parting_actor(caf::actor_config& config, std::unique_ptr<stream> socket,
                             connection_output last_words)
    : actor_of{config},
      socket_{std::move(socket)},
      last_words_{std::move(last_words)},
      deadline_{*this, [this] { quit(); }} {
  socket_->set_handler(nullptr);
}

void parting_actor::on_start() {
  socket_->set_handler(this);
  socket_->resume_reading();
  deadline_.arm(lingering_timeout);
  write();
}

void parting_actor::on_exit() {
  socket_.reset();
  last_words_.reset();
}

void parting_actor::on_readable() {
  enter([this] {
    const auto got = socket_->read(home().scratch()).status;
    if (got == io_status::closed || got == io_status::failed) quit();
  });
}

void parting_actor::on_writable() {
  enter([this] { write(); });
}

void parting_actor::write() {
  switch (last_words_.flush(*socket_)) {
    case io_status::ok:
      return;
    case io_status::would_block:
      return socket_->notify_writable();
    case io_status::closed:
    case io_status::failed:
      return quit();
  }
}

}  // namespace baton
