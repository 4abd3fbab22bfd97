#include "config/keys.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

namespace baton {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// As a person writes it: 10_000_000, 64KiB, 1min.
template <class T>
std::string written(T value) {
  if constexpr (!std::is_integral_v<T>) {
    return to_string(value);
  } else {
    auto digits = std::to_string(value);
    for (auto at = digits.size(); at > 3;) digits.insert(at -= 3, "_");
    return digits;
  }
}

template <class T>
rule<T> within(T min, T max) {
  return {written(min) + " to " + written(max),
          [min, max](const T& value) { return min <= value && value <= max; }};
}

/// The characters that no name holds: they would break lines of logs and tables.
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

rule<std::string> a_name() {
  return {"1 to 255 printable bytes", [](const std::string& name) {
            return !name.empty() && name.size() <= max_name_bytes &&
                   std::none_of(name.begin(), name.end(), is_control);
          }};
}

/// What no host name and no address can hold is a slip; what can, the system resolves at start.
rule<std::string> a_host() {
  return {"an IP address or a host name", [](const std::string& name) {
            return !name.empty() && name.size() <= max_name_bytes &&
                   std::all_of(name.begin(), name.end(), [](unsigned char c) {
                     return std::isalnum(c) || std::string_view{".-_:%"}.find(
                                                   static_cast<char>(c)) != std::string_view::npos;
                   });
          }};
}

rule<std::string> at_most_255() {
  return {"at most 255 bytes",
          [](const std::string& text) { return text.size() <= max_name_bytes; }};
}

rule<std::string> one_of(std::vector<std::string> words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " or ") + toml_string(word);
  return {text, [words = std::move(words)](const std::string& value) {
            return std::find(words.begin(), words.end(), value) != words.end();
          }};
}

bool is_pattern(const std::string& text) {
  if (text.size() > max_name_bytes) return false;
  try {
    std::regex{text};
    return true;
  } catch (const std::regex_error&) {
    return false;
  }
}

/// An empty one matches nothing.
rule<std::string> a_pattern() { return {"a regular expression of at most 255 bytes", is_pattern}; }

rule<std::string> a_pattern_of_something() {
  return {"a regular expression of 1 to 255 bytes",
          [](const std::string& text) { return !text.empty() && is_pattern(text); }};
}

rule<std::filesystem::path> not_empty() {
  return {"not empty", [](const std::filesystem::path& value) { return !value.empty(); }};
}

}  // namespace

template <>
const std::vector<std::pair<std::string_view, placement>>& names_of() {
  static const std::vector<std::pair<std::string_view, placement>> names{
      {"together", placement::together}, {"spread", placement::spread}};
  return names;
}

template <>
const std::vector<std::pair<std::string_view, sync_policy>>& names_of() {
  static const std::vector<std::pair<std::string_view, sync_policy>> names{
      {"always", sync_policy::always},
      {"interval", sync_policy::interval},
      {"never", sync_policy::never}};
  return names;
}

template <>
const std::vector<std::pair<std::string_view, protocol>>& names_of() {
  static const std::vector<std::pair<std::string_view, protocol>> names{{"amqp", protocol::amqp}};
  return names;
}

template <>
const std::vector<std::pair<std::string_view, log_level>>& names_of() {
  static const std::vector<std::pair<std::string_view, log_level>> names{
      {"trace", log_level::trace},
      {"debug", log_level::debug},
      {"info", log_level::info},
      {"warning", log_level::warning},
      {"error", log_level::error}};
  return names;
}

template <>
const std::vector<key<node_settings>>& keys_of() {
  using s = node_settings;
  static const std::vector<key<s>> keys{
      {"name", &s::name, "What this node is called: in logs, in server properties, by its peers.",
       a_name()},
      {"data", &s::data,
       "The folder that the node keeps its files in; made if it is not there. Also where `baton "
       "status` and the like find the node.",
       not_empty()},
      {"loops", &s::loops, "Threads that run actors and sockets; 0: one for each core.",
       within(0u, 1024u)},
      {"placement", &s::placement,
       "Where new connections go: the first loop that is not busy, so that few messages change "
       "loops, or the loops in turns."},
      {"memory", &s::memory, "The budget for everything that the node holds in memory.",
       within(16_MiB, 65536_GiB)},
      {"queue_share", &s::queue_share,
       "Of `memory`: a queue that holds this much makes its own publishers wait; less, where "
       "others hold much. Unless set, at most `high_mark`.",
       within(percent{1}, percent{100})},
      {"high_mark", &s::high_mark,
       "Of `memory`: when this much is in use all publishers wait, and consumers go on.",
       within(percent{1}, percent{95})},
      {"drain_timeout", &s::drain_timeout,
       "How long a node that is told to stop waits for its clients to finish.",
       within<milliseconds>(milliseconds{0}, hours{24})},
      {"product", &s::product,
       "`product` in the server's properties; some clients look for \"RabbitMQ\".", a_name()},
      {"strict_arguments", &s::strict_arguments,
       "Refuse arguments of declares that Baton does not know, in place of a warning."},
  };
  return keys;
}

template <>
const std::vector<key<journal_settings>>& keys_of() {
  using s = journal_settings;
  static const std::vector<key<s>> keys{
      {"sync", &s::sync,
       "When a persistent message in a durable queue is confirmed: when it has been synced to the "
       "disk, the same at intervals, or when it has been written, which survives the end of the "
       "node but not of the machine."},
      {"sync_interval", &s::sync_interval, "How long a confirm waits at most with \"interval\".",
       within<milliseconds>(milliseconds{1}, seconds{60})},
      {"segment_size", &s::segment_size,
       "Size of the files that the journal is written to, one after the other.",
       within(1_MiB, 2_GiB)},
      {"reserved_segments", &s::reserved_segments,
       "Files that are kept ready, so that consumers can empty a full disk.", within(1u, 1024u)},
      {"max_unsynced", &s::max_unsynced,
       "Bytes that may be written before they are synced, whatever the policies. They are kept in "
       "memory until then. Unless set, at most an eighth of `node.memory`.",
       within(1_MiB, 1_GiB)},
      {"compact_below", &s::compact_below,
       "The oldest file is written anew where less of it is still needed.",
       within(percent{1}, percent{95})},
  };
  return keys;
}

template <>
const std::vector<key<sync_settings>>& keys_of() {
  using s = sync_settings;
  static const std::vector<key<s>> keys{
      key<s>{"queues", &s::queues, "Names of queues; the first table that names a queue holds.",
             a_pattern_of_something()}
          .required(),
      {"vhost", &s::vhost, "The virtual host that they are in.", a_name()},
      {"sync", &s::sync, "In place of `journal.sync`."},
  };
  return keys;
}

template <>
const std::vector<key<listener_settings>>& keys_of() {
  using s = listener_settings;
  static const std::vector<key<s>> keys{
      {"protocol", &s::protocol, "What is spoken there."},
      {"address", &s::address, "Where it listens; \"0.0.0.0\" and \"::\": on all addresses.",
       a_host()},
      {"port", &s::port, "The TCP port; 0: any free one, which the log names."},
      {"backlog", &s::backlog, "Connections that the kernel keeps until the node accepts them.",
       within(1u, 65'535u)},
      {"max_connections", &s::max_connections, "Open connections that came in here.",
       within(1u, 10'000'000u)},
  };
  return keys;
}

template <>
const std::vector<key<limit_settings>>& keys_of() {
  using s = limit_settings;
  static const std::vector<key<s>> keys{
      {"frame_max", &s::frame_max, "The largest AMQP frame, offered to clients in tune.",
       within(4_KiB, 16_MiB)},
      {"initial_frame_max", &s::initial_frame_max,
       "The largest frame before tune-ok: it has to hold the client's credentials.",
       within(4_KiB, 1_MiB)},
      {"channel_max", &s::channel_max,
       "AMQP channels that a connection may have open at a time, offered in tune.",
       within<std::uint16_t>(1, 65'535)},
      {"heartbeat", &s::heartbeat,
       "The interval offered in tune; the client's answer counts. 0: none.",
       within(seconds{0}, seconds{65'535})},
      {"max_message_size", &s::max_message_size,
       "The largest message body. Unless set, at most an eighth of `node.memory`.",
       within(1_B, 512_MiB)},
      {"handshake_timeout", &s::handshake_timeout,
       "From the accepted connection to connection.open-ok.",
       within<milliseconds>(milliseconds{100}, hours{1})},
      {"close_timeout", &s::close_timeout,
       "How long the node waits for close-ok after it has sent connection.close or channel.close.",
       within<milliseconds>(milliseconds{100}, hours{1})},
      {"login_failure_delay", &s::login_failure_delay,
       "How long a client whose login is refused waits for the answer: 403, or the end of its "
       "connection where it would not understand that. Nobody else waits with it.",
       within<milliseconds>(milliseconds{0}, seconds{60})},
      {"max_connections", &s::max_connections, "Open connections of the node.",
       within(1u, 10'000'000u)},
      {"max_consumers_per_connection", &s::max_consumers_per_connection,
       "Consumers of all AMQP channels of a connection.", within(1u, 1'000'000u)},
      {"max_unacknowledged", &s::max_unacknowledged,
       "Unacknowledged deliveries of an AMQP channel's consumers; more wait in their queues, "
       "whatever the prefetch. As many more may come by basic.get; the next is refused (406). Far "
       "more than any client acknowledges at once, and still only some 16 MiB.",
       within(1u, 10'000'000u)},
      {"max_vhosts", &s::max_vhosts, "Virtual hosts of the node.", within(1u, 1'000'000u)},
      {"max_exchanges", &s::max_exchanges, "Exchanges of the node.", within(16u, 100'000'000u)},
      {"max_queues", &s::max_queues, "Queues of the node.", within(1u, 100'000'000u)},
      {"max_bindings", &s::max_bindings, "Bindings of the node.", within(1u, 1'000'000'000u)},
      {"publish_credit", &s::publish_credit,
       "Bytes of messages that a connection may have under way to its queues.",
       within(64_KiB, 1_GiB)},
      {"publish_reserve", &s::publish_reserve,
       "Bytes of messages that are read from a connection after it was blocked, so that what "
       "comes behind them (acks) is seen. Unless set, at most what `node.memory` has above "
       "`node.high_mark`.",
       within(64_KiB, 1_GiB)},
      {"delivery_credit", &s::delivery_credit,
       "Bytes of messages that a consumer may have under way to its socket.",
       within(64_KiB, 1_GiB)},
      {"max_unsent", &s::max_unsent,
       "Bytes that may wait for a client to read them, before nothing more is read from it.",
       within(64_KiB, 1_GiB)},
      {"max_incomplete_per_connection", &s::max_incomplete_per_connection,
       "Bytes of messages whose bodies have not arrived in full, of one connection. Unless set, "
       "`max_message_size`.",
       within(1_B, 16_GiB)},
      {"max_incomplete_per_node", &s::max_incomplete_per_node,
       "The same, of all connections. Unless set, a quarter of `node.memory`, and room for one "
       "connection at least.",
       within(1_B, 65536_GiB)},
      {"stream_tail", &s::stream_tail,
       "Bytes of its newest messages that a stream keeps in memory for readers that have not got "
       "them yet; the others read from the disk. Unless set, at most a sixteenth of `node.memory`.",
       within(64_KiB, 1_GiB)},
      {"stream_cache", &s::stream_cache,
       "Bytes that a stream keeps of what was read back from the disk. Unless set, at most a "
       "sixteenth of `node.memory`.",
       within(64_KiB, 1_GiB)},
      {"max_transaction", &s::max_transaction,
       "Bytes of the publishes and acks that wait for the tx.commit of an AMQP channel. Unless "
       "set, at "
       "most an eighth of `node.memory`.",
       within(64_KiB, 16_GiB)},
  };
  return keys;
}

template <>
const std::vector<key<logging_settings>>& keys_of() {
  using s = logging_settings;
  static const std::vector<key<s>> keys{
      {"level", &s::level, "The least important lines that are written."},
      {"file", &s::file, "Where to; empty: standard error."},
      {"repeat_limit", &s::repeat_limit,
       "Lines of one kind in each `repeat_interval`, the rest is counted; 0: all are written.",
       within(0u, 1'000'000u)},
      {"repeat_interval", &s::repeat_interval, "See `repeat_limit`.",
       within<milliseconds>(milliseconds{100}, hours{24})},
  };
  return keys;
}

template <>
const std::vector<key<vhost_settings>>& keys_of() {
  using s = vhost_settings;
  static const std::vector<key<s>> keys{
      key<s>{"name", &s::name, "\"/\" is always there and need not be named.", a_name()}.required(),
  };
  return keys;
}

template <>
const std::vector<key<permission_settings>>& keys_of() {
  using s = permission_settings;
  static const std::vector<key<s>> keys{
      {"vhost", &s::vhost, "The virtual host that the user may enter.", a_name()},
      {"configure", &s::configure,
       "Names of the exchanges and queues that the user may declare and delete; empty: none.",
       a_pattern()},
      {"write", &s::write, "Names that the user may publish and bind to.", a_pattern()},
      {"read", &s::read, "Names that the user may consume, purge and bind from.", a_pattern()},
  };
  return keys;
}

template <>
const std::vector<key<user_settings>>& keys_of() {
  using s = user_settings;
  static const std::vector<key<s>> keys{
      key<s>{"name", &s::name, "What the user logs in as.", a_name()}.required(),
      {"password", &s::password, "In plain text. Every user has exactly one of these three."},
      {"password_hash", &s::password_hash,
       "As libsodium's crypto_pwhash_str makes it: \"$argon2id$...\"."},
      {"password_file", &s::password_file, "A file with the plain password and nothing else."},
      {"loopback_only", &s::loopback_only, "The user may only log in from this machine."},
      {"tags", &s::tags, "Words such as \"administrator\"."},
      {"permission", &s::permissions,
       "What the user may do; none: everything, in every virtual host."},
  };
  return keys;
}

template <>
const std::vector<key<exchange_settings>>& keys_of() {
  using s = exchange_settings;
  static const std::vector<key<s>> keys{
      key<s>{"name", &s::name, "Names that begin with \"amq.\" are reserved.", a_name()}.required(),
      {"vhost", &s::vhost, "The virtual host that it is in.", a_name()},
      {"type", &s::type, "How it routes.", one_of({"direct", "fanout", "topic", "headers"})},
      {"durable", &s::durable, "It outlives the node's end."},
      {"auto_delete", &s::auto_delete, "It goes when its last binding has gone."},
      {"internal", &s::internal, "Only other exchanges publish to it."},
      {"arguments", &s::arguments, "Such as `alternate-exchange`."},
  };
  return keys;
}

template <>
const std::vector<key<queue_settings>>& keys_of() {
  using s = queue_settings;
  static const std::vector<key<s>> keys{
      key<s>{"name", &s::name, "Names that begin with \"amq.\" are reserved.", a_name()}.required(),
      {"vhost", &s::vhost, "The virtual host that it is in.", a_name()},
      {"durable", &s::durable, "It outlives the node's end."},
      {"auto_delete", &s::auto_delete, "It goes when its last consumer has gone."},
      {"arguments", &s::arguments,
       "Such as `x-max-length`; integers, dates and so on keep their "
       "types."},
  };
  return keys;
}

template <>
const std::vector<key<binding_settings>>& keys_of() {
  using s = binding_settings;
  static const std::vector<key<s>> keys{
      key<s>{"exchange", &s::exchange, "Where messages come from.", a_name()}.required(),
      {"queue", &s::queue, "The queue that they go to; or:", at_most_255()},
      {"to_exchange", &s::to_exchange, "The exchange that they go to.", at_most_255()},
      {"key", &s::key, "The routing key, or the pattern of a topic exchange.", at_most_255()},
      {"vhost", &s::vhost, "The virtual host of both.", a_name()},
      {"arguments", &s::arguments, "What a headers exchange matches."},
  };
  return keys;
}

template <>
const std::vector<key<settings>>& keys_of() {
  using s = settings;
  static const std::vector<key<s>> keys{
      {"node", &s::node, "The node itself."},
      {"journal", &s::journal, "How durable messages are kept on the disk."},
      {"limits", &s::limits, "What clients may use; nothing grows without a limit."},
      {"logging", &s::logging, "What the node says about itself."},
      {"listener", &s::listeners,
       "Where clients connect, any number of times; without one, one with these defaults."},
      {"vhost", &s::vhosts, "Virtual hosts: name spaces of exchanges and queues."},
      {"user", &s::users,
       "Who may log in; without one, guest with the password guest, from this machine only."},
      {"exchange", &s::exchanges, "Declared when the node starts."},
      {"queue", &s::queues, "Declared when the node starts."},
      {"binding", &s::bindings, "Made when the node starts, of what is declared here."},
      {"sync", &s::syncs, "Queues whose messages are synced otherwise than `journal.sync` says."},
  };
  return keys;
}

std::string find_elsewhere(std::string_view name) {
  for (const auto& section : keys_of<settings>())
    for (const auto& each : section.description().children)
      if (each.name == name) return section.name() + "." + each.name;
  return {};
}

}  // namespace baton
