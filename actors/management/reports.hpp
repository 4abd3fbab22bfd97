#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/field_value.hpp"

/// What actors tell about themselves when asked: plain values, the same for the control socket, for
/// the HTTP API and for tests. Nobody keeps them up to date on the data path.
namespace baton {

/// What a consumer may still be handed.
struct consumer_credit {
  std::uint64_t consumer = 0;
  std::int64_t bytes = 0;  // below 0: the last message was larger than what was left
};

struct queue_report {
  std::string vhost;
  std::string name;
  bool durable = false;
  bool exclusive = false;
  bool auto_delete = false;
  field_table arguments;
  std::uint64_t ready = 0;      // messages that wait
  std::uint64_t unsettled = 0;  // messages out on lease
  std::uint64_t consumers = 0;
  std::uint64_t ready_bytes = 0;   // payload of `ready`
  std::uint64_t on_disk = 0;       // of `ready`, those that are not in memory
  std::uint64_t published = 0;     // since the queue was declared, as all that follow
  std::uint64_t delivered = 0;     // to consumers and getters, redeliveries included
  std::uint64_t acknowledged = 0;  // or delivered without asking for acks
  std::uint64_t redelivered = 0;
  std::uint64_t dropped = 0;  // by a length limit
  std::uint64_t expired = 0;
  std::uint64_t undeliverable = 0;  // returned once more than the delivery limit allows
  std::vector<consumer_credit> credit;
};

/// A ready message of a queue, as it stands there.
struct peeked_message {
  std::uint64_t number = 0;  // its sequence in the queue
  std::string exchange;
  std::string routing_key;
  bool redelivered = false;
  std::uint32_t returns = 0;
  bool on_disk = false;
  std::optional<std::uint64_t> expires_in_ms;
  std::string properties;  // as they were published, encoded as AMQP 0-9-1 does
  std::uint64_t body_size = 0;
  std::string body;  // its first bytes
};

struct queue_peek {
  std::uint64_t ready = 0;               // all that wait
  std::vector<peeked_message> messages;  // the next ones
};

struct consumer_report {
  std::uint64_t id = 0;
  std::string vhost;
  std::string queue;
  std::string connection;
  std::uint16_t channel = 0;
  std::string tag;
  bool no_ack = false;
  bool exclusive = false;
  std::uint32_t prefetch = 0;  // 0: unlimited
  std::int32_t priority = 0;
  std::uint64_t unsettled = 0;
  std::uint64_t delivered = 0;
  std::uint64_t owed = 0;  // bytes it was handed, whose credit has not gone back to its queue
};

struct connection_report {
  std::uint64_t id = 0;
  std::string peer;
  std::string local;
  std::string user;
  std::string vhost;
  std::string name;    // connection_name of the client's properties
  std::string client;  // product and version of the client's properties
  std::string state;   // opening, running, blocked, closing
  std::uint64_t channels = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t published = 0;
  std::uint64_t delivered = 0;
  std::uint64_t in_flight = 0;  // bytes it has published, whose credit has not come back
  std::vector<consumer_report> consumers;
};

struct exchange_report {
  std::string vhost;
  std::string name;
  std::string type;
  bool durable = false;
  bool auto_delete = false;
  bool internal = false;
  field_table arguments;
};

struct binding_report {
  std::string vhost;
  std::string source;
  std::string destination;
  bool to_exchange = false;
  std::string key;
  field_table arguments;
};

struct journal_report {
  std::uint64_t segments = 0;
  std::uint64_t live_bytes = 0;      // of messages that queues still need
  std::uint64_t pending_bytes = 0;   // not written yet
  std::uint64_t unsynced_bytes = 0;  // written, and kept in memory until they are synced
  std::uint64_t bytes_written = 0;   // since the node was started, as all that follow
  std::uint64_t groups = 0;
  std::uint64_t syncs = 0;
  std::uint64_t failures = 0;  // of writes and syncs
  bool full = false;           // the disk takes nothing more; publishers wait
};

struct node_report {
  std::string name;
  std::string version;
  std::uint64_t process = 0;  // its process id
  std::uint64_t uptime_seconds = 0;
  std::uint64_t loops = 0;
  std::uint64_t memory_budget = 0;  // bytes
  std::uint64_t memory_held = 0;    // bytes in messages and buffers, as accounted
  std::uint64_t memory_resident = 0;
  bool publishers_blocked = false;
  std::uint64_t connections = 0;
  std::uint64_t queues = 0;
  std::uint64_t exchanges = 0;
  std::uint64_t bindings = 0;
  std::vector<std::string> listeners;
  journal_report journal;
};

}  // namespace baton
