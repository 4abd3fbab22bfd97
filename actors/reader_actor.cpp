#include "actors/reader_actor.hpp"

#include "actors/support/log.hpp"

namespace baton {

reader_actor::reader_actor(caf::actor_config& config,
                           std::unique_ptr<journal::message_reader> reader)
    : actor_of{config}, reader_{std::move(reader)} {}

void reader_actor::on_exit() { reader_.reset(); }

void reader_actor::handle(read_messages& request) {
  std::vector<journal::place> places;
  places.reserve(request.wanted.size());
  for (const auto& each : request.wanted) places.push_back(each.at);
  std::vector<journal::message_reader::outcome> outcomes;
  reader_->read(request.queue.value, places, outcomes);

  messages_read answer;
  answer.purpose = request.purpose;
  answer.messages.reserve(outcomes.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i])
      log::error("journal", "a message cannot be read: " + outcomes[i].reason().text());
    answer.messages.push_back({request.wanted[i].number, request.wanted[i].at,
                               outcomes[i] ? *std::move(outcomes[i]) : message{}});
  }
  request.to.send(std::move(answer));
}

void reader_actor::handle(leave_journal& notice) { reader_->leave(notice.queue.value); }

}  // namespace baton
