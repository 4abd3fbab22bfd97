#pragma once

#include <memory>

#include "actors/interfaces.hpp"
#include "actors/node_services.hpp"
#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/timer.hpp"
#include "storage/journal/journal.hpp"

namespace baton {

/// The actor around the journal. It has a loop of its own and blocks it: what is appended while a
/// group is written and synced waits in its mailbox and is the next group, one sync for all.
///
/// Each stream has one for its own log, on the same loop.
///
/// While the disk takes nothing more, nothing is lost: the node's publishers wait
/// (`node_services::disk_is_short`), and it tries again in an interval.
class store_actor final : public actor_of<store_actor, store_ref> {
public:
  store_actor(caf::actor_config& config, node_services& node,
              std::unique_ptr<journal::journal> log);

  void handle(append& request);
  void handle(commit_now&);
  void handle(drop_references& notice);
  void handle(close_journal&);
  void handle(leave_log& request);
  void handle(ask_journal_report& request);

protected:
  void on_exit() override;

private:
  void commit();
  void sync();
  void collect();
  void look_at_space();
  void want_commit();
  void try_again();
  void failed(const char* doing, const io_error& why);

  node_services& node_;
  std::unique_ptr<journal::journal> log_;
  bool commit_wanted_ = false;
  bool is_short_ = false;  // it is one of those for which `node_services::stores_short` counts
  timer sync_timer_;
  timer late_sync_timer_;
  timer retry_timer_;
  timer space_timer_;
};

}  // namespace baton
