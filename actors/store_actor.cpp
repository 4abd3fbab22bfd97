#include "actors/store_actor.hpp"

#include <utility>

#include "actors/support/log.hpp"

namespace baton {

namespace {

// How long after a failed call the store tries again.
constexpr std::chrono::milliseconds retry_interval{500};

// How long what nobody wants synced stays unsynced: so long it is kept in memory, for which others
// may have to wait.
constexpr std::chrono::seconds late_sync_interval{1};

// How often it asks for the oldest segment to be written anew, as long as that is worth it.
constexpr std::chrono::milliseconds space_interval{50};

}  // namespace

store_actor::store_actor(caf::actor_config& config, node_services& node,
                         std::unique_ptr<journal::journal> log)
    : actor_of{config},
      node_{node},
      log_{std::move(log)},
      sync_timer_{*this, [this] { sync(); }},
      late_sync_timer_{*this, [this] { sync(); }},
      retry_timer_{*this, [this] { try_again(); }},
      space_timer_{*this, [this] { look_at_space(); }} {}

void store_actor::on_exit() {
  if (std::exchange(is_short_, false)) --node_.stores_short;
  log_.reset();
}

void store_actor::handle(append& request) {
  log_->add(std::move(request.entry));
  want_commit();
}

void store_actor::handle(drop_references& notice) {
  log_->drop(notice.gone);
  want_commit();
}

void store_actor::want_commit() {
  if (std::exchange(commit_wanted_, true)) return;
  self().send(commit_now{});
}

void store_actor::handle(commit_now&) {
  commit_wanted_ = false;
  commit();
}

void store_actor::commit() {
  if (auto written = log_->commit(); !written) failed("write", written.reason());
  if (!log_->has_pending() && std::exchange(is_short_, false) && --node_.stores_short == 0)
    log::warning("journal", "the disk takes what is written again: publishers go on");
  switch (log_->needs_sync()) {
    case journal::sync_need::now:
      sync();
      break;
    case journal::sync_need::within_interval:
      if (!sync_timer_.is_armed()) sync_timer_.arm(node_.configured().journal.sync_interval);
      break;
    case journal::sync_need::none:
      break;
  }
  if (log_->has_unsynced() && !late_sync_timer_.is_armed())
    late_sync_timer_.arm(late_sync_interval);
  collect();
}

void store_actor::sync() {
  sync_timer_.cancel();
  late_sync_timer_.cancel();
  if (auto synced = log_->sync(); !synced) {
    failed("sync", synced.reason());
    want_commit();  // what was not synced is written anew
  }
}

void store_actor::collect() {
  if (auto freed = log_->collect(); !freed) failed("free", freed.reason());
  if (!space_timer_.is_armed() && (log_->wants_compaction() || log_->wants_definitions()))
    space_timer_.arm(space_interval);
}

void store_actor::look_at_space() {
  if (log_->wants_definitions()) node_.topology.send(define_anew{});
  if (const auto segment = log_->wants_compaction())
    node_.topology.send(relocate_queues{*segment, log_->queues_in(*segment)});
  collect();
}

void store_actor::try_again() { commit(); }

void store_actor::failed(const char* doing, const io_error& why) {
  if (log_->has_pending() && !std::exchange(is_short_, true)) {
    ++node_.stores_short;
    log::error("journal",
               std::string{"cannot "} + doing + " the journal, publishers wait: " + why.text());
  } else {
    log::error("journal", std::string{"cannot "} + doing + " the journal: " + why.text());
  }
  retry_timer_.arm(retry_interval);
}

void store_actor::handle(close_journal&) {
  if (auto closed = log_->close(); !closed)
    log::error("journal", "cannot close the journal: " + closed.reason().text());
}

void store_actor::handle(leave_log& request) {
  log_.reset();
  request.then();
  quit();
}

void store_actor::handle(ask_journal_report& request) {
  const auto figures = log_->figures();
  journal_report report;
  report.segments = figures.segments;
  report.live_bytes = figures.live_bytes;
  report.unsynced_bytes = figures.unsynced_bytes;
  report.pending_bytes = figures.pending_bytes;
  report.bytes_written = figures.bytes_written;
  report.groups = figures.groups;
  report.syncs = figures.syncs;
  report.failures = figures.failed_writes + figures.failed_syncs;
  report.full = node_.disk_is_short();
  std::move(request.reply).keep(std::move(report));
}

}  // namespace baton
