#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/channel/prefetch_windows.hpp"
#include "actors/handles.hpp"
#include "actors/joint_record.hpp"
#include "actors/management/reports.hpp"
#include "actors/promise.hpp"
#include "actors/queue/consumer_options.hpp"
#include "actors/queue/lease.hpp"
#include "actors/queue/queue_core.hpp"
#include "actors/receipt.hpp"
#include "actors/runtime/actor_ref.hpp"
#include "actors/stream/stream_core.hpp"
#include "actors/topology/refusal.hpp"
#include "actors/topology/topology_core.hpp"
#include "config/field_value.hpp"
#include "config/ids.hpp"
#include "storage/journal/journal.hpp"
#include "storage/message.hpp"
#include "transport/net/stream.hpp"

/// The catalogue of all messages between actors: what each asks, what it costs in credit and what
/// answers it. Whom they go to is in handles.hpp.
///
/// Credit is named where it is spent. What names none never waits: its bytes are accounted already,
/// or it is small and bounded by the number of AMQP channels.
namespace baton {

/// Where an entry of the topology leads: to a queue, or to the consumer of direct replies.
struct queue_endpoint final : queue_target {
  explicit queue_endpoint(queue_ref led_to) : to{led_to}, queue{std::move(led_to)} {}
  explicit queue_endpoint(publish_ref led_to) : to{std::move(led_to)} {}

  static const queue_endpoint& of(const queue_entry& entry) noexcept {
    return static_cast<const queue_endpoint&>(*entry.target);
  }

  publish_ref to;
  queue_ref queue;  // empty: a reply name
};

// ---- to queues

/// Takes the messages over, in order. Spends the publisher's credit, which the receipt gives back.
/// Answered by the receipt; before it, `publishes_refused` where the queue takes some not, or all
/// if it fails. What a queue that was deleted has not handled is gone with it, but not refused.
struct publish {
  batch messages;
  receipt done;
  /// Publish sequence of each message; empty: consecutive from `first`.
  std::vector<std::uint64_t> sequences;
  std::uint64_t first = 0;
  /// Of the messages, also when they have been taken out.
  std::size_t count = 0;
  /// Messages that several queues store, by their index, ascending.
  std::vector<std::pair<std::uint32_t, record_share>> joints;

  std::uint64_t sequence_of(std::size_t i) const {
    return sequences.empty() ? first + i : sequences[i];
  }

  /// See `envelope`.
  void receiver_failed() {
    if (!done) return;
    std::vector<std::uint64_t> lost(count);
    for (std::size_t i = 0; i < count; ++i) lost[i] = sequence_of(i);
    done.owner().refused(done.channel(), done.incarnation(), std::move(lost));
  }
};

/// Ends leases of one consumer, each exactly once; what it does not hold is ignored. Returns the
/// consumer's window.
struct settle {
  consumer_id consumer;
  std::vector<settlement> runs;
};

/// The consumer's connection has written so many bytes of deliveries to its socket.
struct grant {
  consumer_id consumer;
  std::uint64_t bytes = 0;
};

/// From a queue to itself: whatever has arrived before it is handed out together.
struct dispatch_now {};

/// A consumer on its way to the queue that it wants: told `queue_gone` when the queue has ended
/// before it could take it, so that nobody waits for the answer of an actor that has just died.
class new_consumer {
public:
  new_consumer(consumer_ref who) : who_{std::move(who)} {}
  new_consumer(new_consumer&& other) noexcept : who_{std::exchange(other.who_, {})} {}
  new_consumer& operator=(new_consumer&&) = delete;
  ~new_consumer();

  consumer_ref take() && { return std::exchange(who_, {}); }

private:
  consumer_ref who_;
};

/// Begins a subscription. Answered by `subscribed`, ahead of the first `deliver`, or by
/// `queue_gone`.
struct subscribe {
  consumer_id consumer;
  new_consumer to;
  consumer_options options;
};

/// Ends a subscription; its leases stay out. Answered by `unsubscribed`, behind the last `deliver`
/// and, where it was the last consumer of an auto-delete queue, after the queue's name is free.
struct unsubscribe {
  consumer_id consumer;
};

/// The consumer (or whoever fetched under this id) is gone with its AMQP channel: what it holds
/// comes back to its place, marked redelivered. Not answered.
struct abandon {
  consumer_id consumer;
};

/// From a consumer of an AMQP channel, which has one window over all its consumers: what it may be
/// handed. An offer is answered by `demand_given_back`, behind the last `deliver`, unless the
/// consumer has gone.
struct demand {
  demand_change change;
};

/// AMQP 0-9-1's basic.get. `holder` holds the lease until it is settled or abandoned.
struct fetch {
  consumer_id holder;
  bool no_ack = false;
  promise<fetched> reply;
};
struct fetched {
  std::optional<lease> message;
  std::uint64_t remaining = 0;  // ready messages after this one
};

struct queue_counts {
  std::optional<refusal> refused;
  std::uint64_t messages = 0;  // ready; or how many were purged, or went with the queue
  std::uint64_t consumers = 0;
};

struct purge_queue {
  promise<queue_counts> reply;
};

/// The queue decides whether it may go, and if so tells topology, which answers when the name is
/// free.
struct delete_queue {
  bool if_unused = false;
  bool if_empty = false;
  promise<queue_counts> reply;
};

/// A declare of a queue that exists: its `x-expires` starts anew, and it counts.
struct touch_queue {
  promise<queue_counts> reply;
};

/// From topology: the connection that it was exclusive to is gone, or its virtual host. It ends at
/// once and tells nobody but its consumers: topology has removed it already.
struct end_queue {};

struct ask_queue_report {
  promise<queue_report> reply;
};

/// Looks at the messages that come next, without any effect on them.
struct peek_queue {
  std::size_t count = 0;
  std::size_t body_bytes = 0;  // more of a body is not wanted
  promise<queue_peek> reply;
};

/// From the store: records of messages have been written there. What is not taken out is not
/// needed: the queue has ended, and its references end too.
class stored {
public:
  stored(store_ref store, queue_id queue) : store_{std::move(store)}, queue_{queue} {}
  stored(stored&&) noexcept = default;
  stored& operator=(stored&&) = delete;
  ~stored();

  std::vector<slot_store::written_record> take() && { return std::exchange(records, {}); }

  std::vector<slot_store::written_record> records;

private:
  store_ref store_;
  queue_id queue_;
};

/// What a queue wants messages from the disk for.
enum class read_purpose : std::uint8_t { hand_out, relocate, peek };

/// From the reader: the answer to `read_messages`, in the order in which they were sent. Those that
/// could not be read are empty.
struct messages_read {
  std::vector<queue_core::read_message> messages;
  read_purpose purpose = read_purpose::hand_out;
  bool is_final = false;  // all that was to be written anew by then has been, and the queue told
};

/// From the store, by way of the topology: the messages in this segment are to be written anew, so
/// that it can be freed. Some of them will do; it asks again.
struct relocate {
  std::uint32_t segment = 0;
};

/// The node stops, and nobody publishes or consumes any more: the store is told what it has not
/// been told yet. Whoever has done that lets go; the last one has it reach whoever waits. To
/// topology, and from there to all queues.
struct finish {
  std::shared_ptr<const void> done;
};

// ---- to consumers

struct subscribed {
  std::optional<refusal> refused;
};

/// Spends the consumer's bytes of credit and, unless it is no-ack, its window.
struct deliver {
  lease_batch leases;
};

struct unsubscribed {};

/// Messages wait for this consumer, which lacks nothing but demand. Comes once until its demand
/// changes.
struct short_of_demand {};

struct demand_given_back {
  std::uint32_t unused = 0;
};

/// The queue has ended: no more will come. Leases that are out may still be settled, to no effect.
struct queue_gone {};

inline new_consumer::~new_consumer() {
  if (who_) who_.send(queue_gone{});
}

// ---- to connections

/// All queues have taken over, or have refused, what was published in `run`.
struct published {
  receipt_run run;
  credit_state credit = credit_state::returned;
};

/// A queue refuses some publishes. Arrives ahead of the `published` that covers them.
struct publishes_refused {
  std::uint16_t channel = 0;
  std::uint32_t incarnation = 0;
  std::vector<std::uint64_t> sequences;
};

/// Credit that a queue had kept back.
struct credit_paid {
  std::uint64_t bytes = 0;
  credit_state credit = credit_state::withheld;
};

struct login_checked {
  bool accepted = false;
};

/// Memory is below the high mark again.
struct publishers_go_on {};

/// The node stops, or an operator ends this connection: 320 with this text.
struct end_connection {
  std::string text;
};

struct ask_connection_report {
  promise<connection_report> reply;
};

// ---- to topology

struct exchange_deletion {
  vhost_id vhost;
  std::string name;
  bool if_unused = false;
};
struct unbinding {
  binding_request of;
};
/// A consumer of direct replies takes a name that publishes can be routed to, or gives it back.
struct reply_name {
  vhost_id vhost;
  std::string name;
  publish_ref to;  // empty: gives it back
};

/// Changes what exists. Answered once the new snapshot is published, so that whatever the asker
/// routes afterwards, on any connection, sees it.
struct define {
  requester who;
  std::variant<queue_declaration, binding_request, exchange_declaration, exchange_deletion,
               unbinding, reply_name>
      request;
  loop* home = nullptr;  // where a new queue is born
  promise<defined> reply;
};
struct defined {
  std::optional<refusal> refused;
  shared<queue_entry> queue;  // that was declared
  bool existed = false;       // the queue counts for itself: ask it
};

/// From a queue that has closed itself. Topology frees the name, then answers for it.
struct queue_ended {
  vhost_id vhost;
  queue_id queue;
  std::uint64_t messages = 0;
  promise<queue_counts> reply;  // of delete_queue
  consumer_ref last_consumer;   // of unsubscribe
};

/// A connection is gone: what was exclusive to it goes too. Answered when it has.
struct connection_ended {
  connection_id connection;
  promise<defined> reply;
};

struct topology_report {
  std::vector<exchange_report> exchanges;
  std::vector<binding_report> bindings;
  std::vector<queue_ref> queues;
};
struct ask_topology_report {
  promise<topology_report> reply;
};

/// From the store: these queues are to be told `relocate`.
struct relocate_queues {
  std::uint32_t segment = 0;
  std::vector<std::uint64_t> queues;
};
/// From the store: the oldest segment is kept by definitions alone; they are to be written anew.
struct define_anew {};
/// From the store: what was defined up to this publication is safe.
struct definitions_safe {
  std::uint64_t publication = 0;
};

// ---- to the store

/// Writes records to the journal, behind all that has been appended before. Whoever wants to know
/// what becomes of them owns them.
struct append {
  journal::journal_entry entry;
};

/// From the store to itself: whatever has arrived before it is written as one group.
struct commit_now {};

/// References to records end with the queue that had them.
struct drop_references {
  std::vector<journal::reference_drop> gone;
};

inline stored::~stored() {
  if (records.empty()) return;
  drop_references notice;
  for (const auto& r : records) notice.gone.push_back({r.at.segment, queue_.value, 1, r.bytes});
  store_.send(std::move(notice));
}

/// The node stops: everything is written and synced, and the log is marked as complete. Then the
/// last one to let go of `done` has it reach whoever waits.
struct close_journal {
  std::shared_ptr<const void> done;
};

/// Its stream is gone: the store lets go of the log, calls `then` on its loop, where files may be
/// removed, and ends.
struct leave_log {
  std::function<void()> then;
};

struct ask_journal_report {
  promise<journal_report> reply;
};

// ---- to the reader

/// Reads messages of one queue from the journal. Answered by `messages_read`, all at once.
struct read_messages {
  queue_ref to;
  queue_id queue;
  std::vector<queue_core::wanted_message> wanted;
  read_purpose purpose = read_purpose::hand_out;
};

/// The queue has nothing more on the disk.
struct leave_journal {
  queue_id queue;
};

// ---- to streams

/// From its store: these chunks lie there.
struct chunks_written {
  std::vector<stream_core::unwritten::chunk> chunks;
  std::vector<journal::record_place> where;  // of each
};
/// All below is as safe as was asked for: readers may have it.
struct chunks_safe {
  std::uint64_t end = 0;
};
/// All below is on the disk, and is not written anew.
struct chunks_synced {
  std::uint64_t end = 0;
};
/// From the reader: the answer to `read_chunks`.
struct chunks_read {
  stream_read asked;
  stream_found found;
};

// ---- to the reader of streams

/// Reads from a stream's log. Answered by `chunks_read`.
struct read_chunks {
  stream_ref to;
  queue_id stream;
  stream_read wanted;
};

/// What a stream does not need of its log: the pages of segments that all of its readers have left
/// behind, and the files of those that are gone.
struct leave_segments {
  queue_id stream;
  std::vector<std::uint32_t> left_behind;
  std::uint32_t gone_before = 0;  // UINT32_MAX: the stream is gone
};

// ---- to the supervisor

struct connection_closed {
  connection_id connection;
};

/// Memory has reached the high mark, says a connection that now waits. It is told when it may go on
/// (`publishers_go_on`).
struct memory_is_short {
  connection_id connection;
};

/// Drains and ends the node.
struct stop_node {};

struct supervisor_report {
  node_report node;
  std::vector<connection_ref> connections;
};
struct ask_node_report {
  promise<supervisor_report> reply;
};

}  // namespace baton
