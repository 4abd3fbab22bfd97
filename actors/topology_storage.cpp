// The topology actor's dealings with the journal.

#include <utility>

#include "actors/support/log.hpp"
#include "actors/topology_actor.hpp"

namespace baton {

namespace {

/// Tells the topology when a publication is safe.
class definitions_to_store final : public journal::record_owner {
public:
  definitions_to_store(topology_ref topology, std::uint64_t publication)
      : topology_{std::move(topology)}, publication_{publication} {}

  void written(std::span<const journal::record_place>) noexcept override {}
  void safe() noexcept override { topology_.send(definitions_safe{publication_}); }

private:
  topology_ref topology_;
  std::uint64_t publication_;
};

/// One record, for they are changed together or not at all.
journal::journal_entry in_one_record(const std::vector<definition_change>& changes) {
  journal::record_writer writer;
  writer.begin_tx();
  for (const auto& c : changes)
    writer.add_define(c.key, c.value ? std::optional{as_bytes(*c.value)} : std::nullopt);
  writer.end_tx();
  journal::journal_entry entry;
  entry.records = writer.take();
  return entry;
}

}  // namespace

void topology_actor::waiting_answers::keep() && {
  for (auto& [reply, answer] : defined) std::move(reply).keep(std::move(answer));
  for (auto& [reply, answer] : deleted) std::move(reply).keep(std::move(answer));
}

void topology_actor::restore() {
  core_.reserve_ids(found_.highest_queue);
  for (const auto& left : core_.restore(std::move(found_.definitions), make_queue(home())))
    log::error("journal", "not restored: " + left.why);
  // Of queues that could not be restored: nobody will ever ask for these messages.
  for (auto& [id, queue] : found_.queues) {
    queue_records records{queue_id{id}};
    queue.messages.for_each(
        [&](sequence number, const auto& entry) { records.gone(number, entry); });
    node_.store.send(drop_references{records.take_drops()});
  }
  found_ = {};
}

bool topology_actor::is_stored(const define& request) {
  if (const auto* queue = std::get_if<queue_declaration>(&request.request))
    return queue->durable && !queue->exclusive;
  if (const auto* exchange = std::get_if<exchange_declaration>(&request.request))
    return exchange->durable;
  return !std::holds_alternative<reply_name>(request.request);
}

void topology_actor::store_changes() {
  auto changes = core_.take_changes();
  auto answers = std::exchange(next_, {});
  if (node_.store && !changes.empty()) {
    answers.publication = ++publication_;
    auto entry = in_one_record(changes);
    entry.owner = std::make_unique<definitions_to_store>(topology_ref{self()}, publication_);
    node_.store.send(append{std::move(entry)});
    unsafe_.push_back(std::move(answers));
  } else if (unsafe_.empty()) {
    std::move(answers).keep();
  } else {
    // It may speak of what an answer before it does.
    answers.publication = publication_;
    unsafe_.push_back(std::move(answers));
  }
}

void topology_actor::handle(definitions_safe& notice) {
  while (!unsafe_.empty() && unsafe_.front().publication <= notice.publication) {
    std::move(unsafe_.front()).keep();
    unsafe_.pop_front();
  }
}

void topology_actor::handle(define_anew&) {
  std::vector<definition_change> all;
  for (auto& each : core_.all_definitions())
    all.push_back({std::move(each.key), std::move(each.value)});
  if (!all.empty()) node_.store.send(append{in_one_record(all)});
}

void topology_actor::handle(relocate_queues& request) {
  for (const auto id : request.queues)
    if (auto at = storing_.find(queue_id{id}); at != storing_.end())
      at->second.send(relocate{request.segment});
}

void topology_actor::handle(finish& request) {
  for (const auto& [id, queue] : storing_) queue.send(finish{request.done});
}

}  // namespace baton
