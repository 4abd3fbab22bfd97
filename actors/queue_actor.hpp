#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "actors/interfaces.hpp"
#include "actors/publishes_to_store.hpp"
#include "actors/queue/queue_allowance.hpp"
#include "actors/queue/queue_core.hpp"
#include "actors/queue_consumers.hpp"
#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/timer.hpp"

namespace baton {

/// The actor around a `queue_core`: takes messages apart, calls the core, sends what comes out.
///
/// What arrives together is handed out together: instead of dispatching after each batch, the queue
/// sends itself `dispatch_now`, once, behind what already waits in its mailbox.
class queue_actor final : public actor_of<queue_actor, queue_ref> {
public:
  /// Somebody wants to look at these messages, some of which are being read.
  struct waiting_peek {
    peek_queue asked;
    std::vector<slot_store::peeked_slot> seen;
  };

  /// What a queue that survives a restart has to do with the journal.
  struct journal_side {
    store_ref store;
    reader_ref reader;
    queue_core::moment wall_offset{0};
    journal::stored_index found{};  ///< from before the node's start
    sequence next = 1;

    std::vector<publishes_to_store> unrecorded{};  ///< since the journal was last told
    std::deque<fetch> fetches{};                   ///< wait for what is being read
    std::deque<waiting_peek> peeks{};              ///< the same, each for a read of its own
    bool reads = false;                            ///< it stands somewhere, for the reader
  };

  /// `allowance`: when it is used up, messages are put on the disk, or publishers wait.
  /// `journal`: or nothing, where nothing is stored.
  queue_actor(caf::actor_config& config, const queue_entry& entry, queue_allowance allowance,
              topology_ref topology, std::unique_ptr<journal_side> journal = {});

  void handle(publish& request);
  void handle(settle& request);
  void handle(grant& request);
  void handle(dispatch_now&);
  void handle(stored& notice);
  void handle(subscribe& request);
  void handle(unsubscribe& request);
  void handle(abandon& request);
  void handle(demand& request);
  void handle(fetch& request);
  void handle(purge_queue& request);
  void handle(delete_queue& request);
  void handle(touch_queue& request);
  void handle(end_queue&);
  void handle(messages_read& answer);
  void handle(relocate& request);
  void handle(finish&);
  void handle(ask_queue_report& request);
  void handle(peek_queue& request);

protected:
  void on_start() override;
  void on_failure(const std::string& why) override;
  void on_exit() override;

private:
  queue_core::moment now() const;
  void want_dispatch();
  void dispatch();
  void arm_timer();
  void on_due();
  void pay_debts();
  bool consumers_catch_up();

  // queue_actor_storage.cpp
  std::uint64_t joint_of(const publish& request) const;
  bool has_to_store(const publish& request, std::uint64_t joint) const;
  void put_joint(publish& request);
  void tell_store();
  void read_ahead();
  void read(std::vector<queue_core::wanted_message> wanted, read_purpose purpose);
  void append_relocated(queue_core::relocation&& moved);
  bool answer_fetch(fetch& request);
  void answer_fetches();

  // queue_actor_peek.cpp
  void answer_peek(messages_read& answer);
  void answer_peek(waiting_peek& what);

  /// Lets go of everything and tells the consumers (but `except`); `end` tells topology too.
  void end(queue_ended notice, consumer_id except = {});
  void close(consumer_id except = {});

  /// What it is called and how it was declared; nothing of it changes. Its entry in the topology
  /// has more, which only the core needs, and an idle queue should be small.
  struct identity {
    queue_id id;
    vhost_id vhost;
    std::string vhost_name;
    std::string name;
    field_table declared;
    bool durable;
    bool exclusive;
    bool auto_delete;
    sync_policy sync;
  };

  const identity entry_;
  const queue_allowance allowance_;
  topology_ref topology_;
  queue_core core_;
  std::unique_ptr<journal_side> journal_;  // or nothing: it stores nothing
  queue_consumers consumers_;
  std::vector<credit_debt> debts_;  // to publishers who wait, while its allowance is used up
  std::vector<credit_debt> paced_;  // to publishers who wait for the consumers' sockets
  steady_time last_grant_{};
  steady_time looked_at_{};  // how many were acked until then:
  std::uint64_t acked_before_ = 0;
  std::uint64_t acked_lately_ = 0;  // in `pace_patience`
  bool dispatch_wanted_ = false;
  std::size_t undispatched_ = 0;  // messages since the last dispatch
  timer timer_;
  timer debts_timer_;
  queue_core::moment armed_for_ = queue_core::never;
};

}  // namespace baton
