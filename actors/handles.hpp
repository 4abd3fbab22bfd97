#pragma once

#include "actors/runtime/actor_ref.hpp"

/// The handles of all actors: each lists the messages that its actor accepts, the hottest first;
/// sending anything else does not compile. What the messages are: interfaces.hpp.
namespace baton {

struct publish;
struct settle;
struct grant;
struct dispatch_now;
struct subscribe;
struct unsubscribe;
struct abandon;
struct demand;
struct fetch;
struct purge_queue;
struct delete_queue;
struct touch_queue;
struct end_queue;
class stored;
struct messages_read;
struct relocate;
struct finish;
struct ask_queue_report;
struct peek_queue;
using queue_ref =
    actor_ref<publish, settle, grant, dispatch_now, stored, subscribe, unsubscribe, abandon, demand,
              fetch, purge_queue, delete_queue, touch_queue, end_queue, messages_read, relocate,
              finish, ask_queue_report, peek_queue>;

/// Whatever takes published messages: a queue, or the consumer of a direct reply-to.
using publish_ref = actor_ref<publish>;

struct deliver;
struct subscribed;
struct unsubscribed;
struct short_of_demand;
struct demand_given_back;
struct queue_gone;
using consumer_ref = actor_ref<deliver, publish, subscribed, unsubscribed, short_of_demand,
                               demand_given_back, queue_gone>;

template <class T>
struct answer;

struct published;
struct publishes_refused;
struct credit_paid;
struct login_checked;
struct publishers_go_on;
struct end_connection;
struct ask_connection_report;
struct queue_counts;
struct fetched;
struct defined;
using connection_ref = actor_ref<published, publishes_refused, credit_paid, answer<fetched>,
                                 answer<queue_counts>, answer<defined>, login_checked,
                                 publishers_go_on, end_connection, ask_connection_report>;

struct define;
struct queue_ended;
struct connection_ended;
struct relocate_queues;
struct define_anew;
struct definitions_safe;
struct finish;
struct ask_topology_report;
using topology_ref = actor_ref<define, queue_ended, connection_ended, relocate_queues, define_anew,
                               definitions_safe, finish, ask_topology_report>;

struct append;
struct commit_now;
struct drop_references;
struct close_journal;
struct leave_log;
struct ask_journal_report;
using store_ref =
    actor_ref<append, commit_now, drop_references, close_journal, leave_log, ask_journal_report>;

struct read_messages;
struct leave_journal;
using reader_ref = actor_ref<read_messages, leave_journal>;

struct chunks_written;
struct chunks_safe;
struct chunks_synced;
struct chunks_read;
/// A stream, for its store and the reader.
using stream_ref = actor_ref<chunks_written, chunks_safe, chunks_synced, chunks_read>;

struct read_chunks;
struct leave_segments;
using stream_reader_ref = actor_ref<read_chunks, leave_segments>;

struct connection_closed;
struct memory_is_short;
struct stop_node;
struct ask_node_report;
using supervisor_ref = actor_ref<connection_closed, memory_is_short, stop_node, ask_node_report>;

}  // namespace baton
