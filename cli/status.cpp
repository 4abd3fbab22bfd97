#include "cli/status.hpp"

#include <boost/json.hpp>
#include <ostream>

#include "cli/control_client.hpp"

namespace baton {

const std::vector<question>& questions() {
  static const std::vector<question> all{
      {"status",
       "what the node is, holds and uses",
       {{"name", "node"},
        {"version", "version"},
        {"process", "process"},
        {"uptime_seconds", "up, seconds"},
        {"listeners", "listeners"},
        {"loops", "loops"},
        {"memory_budget", "memory budget", true},
        {"memory_held", "memory held", true},
        {"memory_resident", "memory resident", true},
        {"publishers_blocked", "publishers blocked"},
        {"connections", "connections"},
        {"queues", "queues"},
        {"exchanges", "exchanges"},
        {"bindings", "bindings"},
        {"journal", "journal"}}},
      {"queues",
       "queues and what waits in them",
       {{"vhost", "vhost"},
        {"name", "queue"},
        {"ready", "ready"},
        {"unsettled", "unsettled"},
        {"consumers", "consumers"},
        {"ready_bytes", "size", true},
        {"on_disk", "on disk"},
        {"published", "published"},
        {"delivered", "delivered"},
        {"acknowledged", "acknowledged"},
        {"durable", "durable"},
        {"exclusive", "exclusive"},
        {"auto_delete", "auto-delete"},
        {"arguments", "arguments"}}},
      {"exchanges",
       "exchanges",
       {{"vhost", "vhost"},
        {"name", "exchange"},
        {"type", "type"},
        {"durable", "durable"},
        {"auto_delete", "auto-delete"},
        {"internal", "internal"},
        {"arguments", "arguments"}}},
      {"bindings",
       "bindings between exchanges and queues",
       {{"vhost", "vhost"},
        {"source", "source"},
        {"destination_type", "to"},
        {"destination", "destination"},
        {"key", "key"},
        {"arguments", "arguments"}}},
      {"connections",
       "connections and their clients",
       {{"peer", "peer"},
        {"user", "user"},
        {"vhost", "vhost"},
        {"state", "state"},
        {"channels", "channels"},
        {"consumers", "consumers"},
        {"published", "published"},
        {"delivered", "delivered"},
        {"bytes_in", "in", true},
        {"bytes_out", "out", true},
        {"client", "client"},
        {"name", "name"}}},
      {"consumers",
       "subscriptions and their windows",
       {{"vhost", "vhost"},
        {"queue", "queue"},
        {"connection", "connection"},
        {"channel", "channel"},
        {"tag", "tag"},
        {"no_ack", "no-ack"},
        {"exclusive", "exclusive"},
        {"prefetch", "prefetch"},
        {"priority", "priority"},
        {"unsettled", "unsettled"},
        {"delivered", "delivered"}}},
  };
  return all;
}

int ask_command(const question& what, const std::filesystem::path& data_folder, bool as_json,
                std::ostream& out, std::ostream& err) {
  auto answer = ask_node(data_folder, {.request = std::string{what.name}});
  if (!answer) {
    err << "baton " << what.name << ": " << answer.reason().text << '\n';
    return 1;
  }
  if (answer->empty()) {
    err << "baton " << what.name << ": the node ended before it had answered\n";
    return 1;
  }
  if (as_json)
    out << *answer << '\n';
  else
    print_table(out, *answer, what.columns);
  return 0;
}

int stop_command(const std::filesystem::path& data_folder, std::ostream& out, std::ostream& err) {
  auto answer = ask_node(data_folder, {.request = "stop"});
  if (!answer) {
    err << "baton stop: " << answer.reason().text << '\n';
    return 1;
  }
  out << "stopped\n";
  return 0;
}

}  // namespace baton
