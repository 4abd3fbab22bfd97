#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/field_value.hpp"
#include "config/place.hpp"
#include "config/units.hpp"

/// All that can be configured about a node, as plain values with their defaults. What a key is
/// called in a file, its range and its text in the reference are declared in keys.cpp; a file
/// becomes these structs through `load()` (load.hpp). Every limit of the node has its name here.
namespace baton {

/// Names of virtual hosts, exchanges, queues, users and routing keys: what AMQP 0-9-1's short
/// strings can carry. Fixed by the protocol, hence no key.
inline constexpr std::size_t max_name_bytes = 255;

/// The virtual host that always exists, and that definitions belong to which name no other.
inline constexpr const char* default_vhost = "/";

/// Which loop new connections, and with them the queues that they declare, go to.
enum class placement {
  together,  ///< the first loop that is not busy: fewest hops between loops
  spread,    ///< the loops in turns: most loops at work
};

struct node_settings {
  std::string name = "baton";  ///< what this node is called in logs, server properties and by peers
  std::filesystem::path data = "baton-data";  ///< folder of the journal and of the control socket
  std::uint32_t loops = 0;  ///< threads that run actors and sockets; 0: one a core
  baton::placement placement = placement::together;
  byte_count memory = 1_GiB;  ///< budget for everything that the node holds
  percent queue_share{25};    ///< of `memory`: at it at the latest, a queue's publishers wait
  percent high_mark{60};      ///< of `memory`: at it, all publishers wait; consumers go on
  std::chrono::milliseconds drain_timeout = std::chrono::seconds{30};  ///< at stop, for clients
  std::string product = "Baton";  ///< `product` in server properties; some clients want "RabbitMQ"
  bool strict_arguments = false;  ///< refuse unknown arguments of declares (else: keep and warn)
};

/// When a persistent message in a durable queue counts as safe, and is confirmed.
enum class sync_policy : std::uint8_t {
  always,    ///< when a sync has put it on the disk
  interval,  ///< the same, but syncs come in an interval
  never,     ///< when it has been written: it survives the node's end, not the machine's
};

struct journal_settings {
  sync_policy sync = sync_policy::always;
  std::chrono::milliseconds sync_interval{100};
  byte_count segment_size = 64_MiB;
  std::uint32_t reserved_segments = 2;  ///< files kept aside, so that a full disk can be emptied
  byte_count max_unsynced = 32_MiB;     ///< written beyond the last sync, whatever the policies
  percent compact_below{25};            ///< a segment of which less is needed is written anew
};

/// Queues whose policy is another than `journal.sync`.
struct sync_settings {
  std::string vhost = default_vhost;
  std::string queues;  ///< regular expression, searched for in the queue's name
  sync_policy sync = sync_policy::always;
  place where;
};

enum class protocol {
  amqp,
};

struct listener_settings {
  baton::protocol protocol = protocol::amqp;
  std::string address = "127.0.0.1";  ///< IPv4, IPv6 or a host name; "0.0.0.0", "::": all
  std::uint16_t port = 5672;          ///< 0: any free one, named in the log
  std::uint32_t backlog = 1024;       ///< connections that the kernel keeps waiting to be accepted
  std::uint32_t max_connections = 65'536;  ///< through this listener at a time
  place where;
};

struct limit_settings {
  // What tune offers, and what one client may send.
  byte_count frame_max = 128_KiB;         ///< largest AMQP frame offered in tune
  byte_count initial_frame_max = 64_KiB;  ///< largest frame before tune-ok (tokens in start-ok)
  std::uint16_t channel_max = 2047;       ///< open AMQP channels of a connection, offered in tune
  std::chrono::seconds heartbeat{60};     ///< offered in tune, the client's answer counts; 0: none
  byte_count max_message_size = 128_MiB;  ///< a content header that announces more gets 406

  // Time.
  std::chrono::milliseconds handshake_timeout = std::chrono::seconds{10};  ///< accept to open-ok
  std::chrono::milliseconds close_timeout = std::chrono::seconds{30};  ///< close to the client's ok
  std::chrono::milliseconds login_failure_delay = std::chrono::seconds{1};  ///< before the refusal

  // Numbers of things.
  std::uint32_t max_connections = 65'536;  ///< of the node
  std::uint32_t max_consumers_per_connection = 65'536;
  /// Of an AMQP channel's consumers, beyond which deliveries wait; and of its basic.gets.
  std::uint32_t max_unacknowledged = 262'144;
  std::uint32_t max_vhosts = 1'024;
  std::uint32_t max_exchanges = 250'000;
  std::uint32_t max_queues = 250'000;
  std::uint32_t max_bindings = 2'000'000;

  // Bytes in flight.
  byte_count publish_credit = 256_KiB;   ///< published on a connection, not yet accepted by queues
  byte_count publish_reserve = 1_MiB;    ///< that a blocked connection reads on, for its acks
  byte_count delivery_credit = 256_KiB;  ///< leased to a consumer, not yet written to its socket
  byte_count max_unsent = 4_MiB;         ///< waiting for a socket; beyond it the client is not read
  byte_count max_incomplete_per_connection = 128_MiB;  ///< of messages whose bodies are arriving
  byte_count max_incomplete_per_node = 256_MiB;        ///< the same, of all connections
  byte_count stream_tail = 4_MiB;       ///< newest messages of a stream that are kept in memory
  byte_count stream_cache = 8_MiB;      ///< messages of a stream that were read back from the disk
  byte_count max_transaction = 64_MiB;  ///< publishes and acks that wait for tx.commit on a channel
};

enum class log_level {
  trace,
  debug,
  info,
  warning,
  error,
};

struct logging_settings {
  log_level level = log_level::info;
  std::filesystem::path file;       ///< empty: standard error
  std::uint32_t repeat_limit = 10;  ///< lines of one kind in each `repeat_interval`; 0: all
  std::chrono::milliseconds repeat_interval = std::chrono::minutes{1};
};

struct vhost_settings {
  std::string name;
  place where;
};

/// What a user may do in one virtual host: regular expressions that the names of exchanges and
/// queues are searched for; an empty one allows nothing.
struct permission_settings {
  std::string vhost = default_vhost;
  std::string configure = ".*";
  std::string write = ".*";
  std::string read = ".*";
  place where;
};

struct user_settings {
  std::string name;
  std::string password;       ///< plain, also when it came from `password_file`; or empty:
  std::string password_hash;  ///< as libsodium's crypto_pwhash_str makes it (Argon2id); or empty
  std::filesystem::path password_file;  ///< already read into `password`
  bool loopback_only = false;           ///< may only come from this machine
  std::vector<std::string> tags;        ///< e.g. "administrator"
  /// None: everything, in every virtual host.
  std::vector<permission_settings> permissions;
  place where;
};

struct exchange_settings {
  std::string vhost = default_vhost;
  std::string name;
  std::string type = "direct";  ///< direct, fanout, topic or headers
  bool durable = true;
  bool auto_delete = false;
  bool internal = false;
  field_table arguments;
  place where;
};

struct queue_settings {
  std::string vhost = default_vhost;
  std::string name;
  bool durable = true;
  bool auto_delete = false;
  field_table arguments;
  place where;
};

/// From `exchange` to exactly one of `queue` and `to_exchange`.
struct binding_settings {
  std::string vhost = default_vhost;
  std::string exchange;
  std::string queue;
  std::string to_exchange;
  std::string key;
  field_table arguments;
  place where;
};

struct settings {
  node_settings node;
  journal_settings journal;
  limit_settings limits;
  logging_settings logging;
  std::vector<listener_settings> listeners;
  std::vector<vhost_settings> vhosts;  ///< besides `default_vhost`, which always exists
  std::vector<user_settings> users;
  std::vector<exchange_settings> exchanges;
  std::vector<queue_settings> queues;
  std::vector<binding_settings> bindings;
  std::vector<sync_settings> syncs;  ///< the first that names a queue holds
};

/// A node without a configuration: a listener on 127.0.0.1:5672, and the user guest, password
/// guest, from this machine only. A file without listeners, or without users, gets the same ones.
settings default_settings();

}  // namespace baton
