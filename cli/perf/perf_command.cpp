#include "cli/perf/perf_command.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>

#include "cli/perf/churn.hpp"
#include "cli/perf/idle.hpp"
#include "cli/perf/load.hpp"
#include "cli/perf/measurement.hpp"
#include "cli/perf/topology_change.hpp"

namespace baton::perf {
namespace {

/// Where the command line is parsed to; lives as long as the subcommands.
struct settings {
  run_options run;
  flow_options flow;
  flow_options background;  // latency: load on another thread
  churn_options churn;
  idle_options idle;
  topology_options topology;
  std::string ack = "auto";

  settings() {
    background.producers = background.consumers = 0;
    background.ack_every = 100;
    background.prefetch = 1000;
  }
};

void add_run_options(CLI::App& command, run_options& run) {
  command
      .add_option("--uri", run.uri, "amqp://user:password@host:port/vhost, or relay://host:port")
      ->capture_default_str();
  command.add_option("--pid", run.pid, "process id of the broker: report its CPU time and memory");
  command.add_flag("--json", run.json, "print the summary as one JSON object");
  command.add_flag("--quiet", run.quiet, "no line each second");
  command.add_option("--prefix", run.prefix,
                     "of the names of all that is declared; default perf-PID");
}

void add_warmup(CLI::App& command, run_options& run) {
  command.add_option("--warmup", run.warmup_seconds, "seconds that are not measured, at first")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void add_times(CLI::App& command, run_options& run) {
  command.add_option("--duration", run.seconds, "seconds that are measured")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_warmup(command, run);
}

/// A required word, one of the names of `kinds`.
template <class Kind>
void add_kind(CLI::App& command, Kind& to, const std::map<std::string, Kind>& kinds) {
  command
      .add_option_function<std::string>(
          "what", [&to, kinds](const std::string& name) { to = kinds.at(name); }, "what to make")
      ->required()
      ->check(CLI::IsMember(kinds))
      ->type_name("");
}

void add_flow_arguments(CLI::App& command, settings& to) {
  auto& flow = to.flow;
  const auto window = CLI::Range(0, 10'000'000);
  command.add_option("--producers", flow.producers, "that publish")->capture_default_str();
  command.add_option("--consumers", flow.consumers, "that subscribe")->capture_default_str();
  command.add_option("--queues", flow.queues, "shared evenly by producers and by consumers")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--queue-pattern", flow.queue_pattern,
                  "names of queues; %p: --prefix, %i: number of the queue")
      ->capture_default_str();
  command.add_option("--exchange", flow.exchange,
                     "publish here, not to the default one; declared unless it begins with amq.");
  command.add_option("--type", flow.exchange_type, "of the exchange")->capture_default_str();
  command
      .add_option("--key", flow.key_pattern, "of publishes; %q: name of the queue, %i: its number")
      ->capture_default_str();
  command.add_option("--binding-key", flow.binding_pattern, "of bindings; default: as --key");
  command.add_option("--fanout", flow.fanout,
                     "a fanout exchange with this many queues, a consumer each");
  command
      .add_option("--producer-connections", flow.producer_connections,
                  "that producers share; 0: one each")
      ->capture_default_str();
  command
      .add_option("--consumer-connections", flow.consumer_connections,
                  "that consumers share; 0: one each")
      ->capture_default_str();
  command.add_flag("--shared-connections", flow.shared_connections,
                   "producer i and consumer i use one connection");
  command.add_option("--size", flow.size, "bytes of a body; 8 and more carry a time stamp")
      ->capture_default_str();
  command
      .add_option("--prefetch", flow.prefetch,
                  "unacknowledged deliveries of a consumer; 0: no limit")
      ->capture_default_str();
  command.add_option("--ack", to.ack, "auto, or N: one ack (multiple) for each N deliveries")
      ->capture_default_str();
  command.add_option("--confirm", flow.confirm, "publisher confirms, so many unconfirmed at most")
      ->check(window);
  command.add_flag("--mandatory", flow.mandatory, "have returned what no queue gets");
  command.add_flag("--persistent", flow.persistent, "delivery mode 2");
  command.add_flag("--durable", flow.durable, "durable queues and exchange");
  command.add_option("--queue-type", flow.queue_type, "classic, quorum or stream: x-queue-type");
  command.add_flag("--keep", to.run.keep,
                   "leave what was declared, for a run with the same --prefix");
  command.add_option("--rate", flow.rate, "messages/s of all producers; 0: as fast as it goes")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--count", flow.count,
                     "publish so many messages and stop when they have arrived: at consumers, "
                     "else (with --confirm) when they are confirmed");
  command.add_option("--threads", to.run.threads, "of the generator")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

result<void> check_flow(settings& to) {
  auto& flow = to.flow;
  if (to.ack != "auto") {
    const auto every = std::strtoul(to.ack.c_str(), nullptr, 10);
    if (every == 0 || every > 65535)
      return failure{error{"--ack " + to.ack + ": expected auto, or a number from 1 to 65535"}};
    flow.ack_every = static_cast<std::uint32_t>(every);
  }
  if (flow.prefetch != 0 && flow.ack_every > flow.prefetch)
    return failure{error{"--ack " + to.ack + " waits for more deliveries than --prefetch " +
                         std::to_string(flow.prefetch) + " lets through"}};
  if (flow.producers == 0 && flow.consumers == 0)
    return failure{error{"neither producers nor consumers"}};
  if (flow.fanout > 0 && flow.consumers == 1) flow.consumers = flow.fanout;
  return {};
}

void print(const report& summary, const run_options& run) {
  std::fputs((run.json ? summary.as_json() : summary.as_table()).c_str(), stdout);
}

result<report> run_flows(const settings& asked, const std::vector<load::request>& requests) {
  load traffic{asked.run, requests};
  auto prepared = traffic.prepare();
  auto measured = prepared ? measure(traffic, asked.run, requests)
                           : result<measurement>{failure{prepared.reason()}};
  auto finished = traffic.finish();
  if (!measured) return failure{measured.reason()};
  if (!finished) return failure{finished.reason()};
  const auto& first = *(*measured).flows[0];
  report summary;
  add_flow_options(summary, requests[0].options, traffic.plan(0));
  summary.add("seconds", (*measured).seconds);
  add_flow(summary, "", first, (*measured).seconds);
  std::uint64_t messages = 0;
  for (const auto& each : (*measured).flows)
    messages += each->delivered > 0 ? each->delivered : each->published;
  add_usage(summary, *measured, messages);
  if (requests.size() == 1)
    add_disk_usage(summary, *measured, first.published * requests[0].options.size);
  for (std::size_t i = 1; i < (*measured).flows.size(); ++i)
    add_flow(summary, "load_", *(*measured).flows[i], (*measured).seconds);
  return summary;
}

/// Makes `work` what the command does, once its options have been read.
void does(CLI::App& command, const std::shared_ptr<settings>& asked, int& exit_code,
          std::function<result<report>(settings&)> work) {
  command.callback([asked, &exit_code, work = std::move(work)] {
    auto& run = asked->run;
    const auto attempt = [&]() -> result<report> {
      auto parsed = parse_uri(run.uri);
      if (!parsed) return failure{parsed.reason()};
      auto resolved = resolve(*parsed);
      if (!resolved) return failure{resolved.reason()};
      run.to = *resolved;
      if (run.prefix.empty()) run.prefix = "perf-" + std::to_string(getpid());
      catch_interrupts();
      raise_file_limit();
      return work(*asked);
    };
    const auto summary = attempt();
    exit_code = summary ? 0 : 1;
    if (summary) {
      print(*summary, run);
    } else {
      std::fprintf(stderr, "baton perf: %s\n", summary.reason().text.c_str());
    }
  });
}

void add_throughput(CLI::App& perf, int& exit_code) {
  const auto asked = std::make_shared<settings>();
  auto& command = *perf.add_subcommand("throughput", "as many messages as go through");
  add_run_options(command, asked->run);
  add_times(command, asked->run);
  add_flow_arguments(command, *asked);
  does(command, asked, exit_code, [](settings& s) -> result<report> {
    if (auto checked = check_flow(s); !checked) return failure{checked.reason()};
    return run_flows(s, {{s.flow, s.run.threads}});
  });
}

void add_latency(CLI::App& perf, int& exit_code) {
  const auto asked = std::make_shared<settings>();
  asked->flow.rate = 1000;
  auto& command = *perf.add_subcommand(
      "latency", "time from when a message was due to its receipt, at a fixed --rate");
  add_run_options(command, asked->run);
  add_times(command, asked->run);
  add_flow_arguments(command, *asked);
  command.add_flag("--spin", asked->run.spin,
                   "poll without sleeping: takes a core, but no wake-up of ours is measured");
  command.add_option("--load-producers", asked->background.producers,
                     "others that publish on a thread and a queue of their own meanwhile");
  command.add_option("--load-consumers", asked->background.consumers, "of those messages");
  command.add_option("--load-rate", asked->background.rate,
                     "messages/s of those producers; 0: as fast as it goes");
  command.add_option("--load-size", asked->background.size, "bytes of their bodies")
      ->capture_default_str();
  does(command, asked, exit_code, [](settings& s) -> result<report> {
    if (auto checked = check_flow(s); !checked) return failure{checked.reason()};
    if (s.flow.rate <= 0) return failure{error{"perf latency needs a --rate above 0"}};
    if (s.flow.size < 8) return failure{error{"perf latency needs a --size of at least 8"}};
    std::vector<load::request> requests{{s.flow, s.run.threads}};
    if (s.background.producers + s.background.consumers > 0) requests.push_back({s.background, 1});
    return run_flows(s, requests);
  });
}

void add_churn(CLI::App& perf, int& exit_code) {
  const auto asked = std::make_shared<settings>();
  auto& command = *perf.add_subcommand("churn", "make something and undo it, again and again");
  add_kind<churn_kind>(command, asked->churn.kind,
                       {{"connections", churn_kind::connections},
                        {"channels", churn_kind::channels},
                        {"queues", churn_kind::queues},
                        {"bindings", churn_kind::bindings}});
  add_run_options(command, asked->run);
  add_times(command, asked->run);
  command.add_option("--connections", asked->churn.connections, "that work side by side")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_option("--pipeline", asked->churn.pipeline, "cycles under way on each connection")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_flag("--durable", asked->churn.durable, "durable queues");
  does(command, asked, exit_code, [](settings& s) -> result<report> {
    if (s.churn.kind == churn_kind::channels && s.churn.pipeline > 1)
      return failure{error{"channels are opened and closed one after the other: --pipeline 1"}};
    return run_churn(s.run, s.churn);
  });
}

void add_idle(CLI::App& perf, int& exit_code) {
  const auto asked = std::make_shared<settings>();
  auto& command = *perf.add_subcommand("idle", "what connections or queues cost that do nothing");
  add_kind<idle_kind>(command, asked->idle.kind,
                      {{"connections", idle_kind::connections},
                       {"channels", idle_kind::channels},
                       {"queues", idle_kind::queues}});
  add_run_options(command, asked->run);
  command.get_option("--pid")->required();
  command.add_option("--count", asked->idle.count, "how many to make")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--settle", asked->idle.settle_seconds, "seconds before memory is read")
      ->capture_default_str();
  command.add_flag("--durable", asked->idle.durable, "durable queues");
  does(command, asked, exit_code, [](settings& s) { return run_idle(s.run, s.idle); });
}

void add_topology(CLI::App& perf, int& exit_code) {
  const auto asked = std::make_shared<settings>();
  asked->flow.exchange_type = "topic";
  auto& command = *perf.add_subcommand(
      "topology", "publish through an exchange whose bindings change, in turns of on and off");
  add_run_options(command, asked->run);
  add_warmup(command, asked->run);
  add_flow_arguments(command, *asked);
  command.add_option("--bindings", asked->topology.bindings, "that exist beside the flow's own")
      ->capture_default_str();
  command.add_option("--changes", asked->topology.changes, "bindings added or removed a second")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--turn", asked->topology.turn_seconds, "seconds of each turn")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--turns", asked->topology.turns, "with changes, and as many without")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  does(command, asked, exit_code, [](settings& s) -> result<report> {
    if (auto checked = check_flow(s); !checked) return failure{checked.reason()};
    if (s.run.to.relay) return failure{error{"a relay has no topology"}};
    return run_topology(s.run, s.flow, s.topology);
  });
}

}  // namespace

void add_perf(CLI::App& app, int& exit_code) {
  auto& perf = *app.add_subcommand("perf", "load against any AMQP 0-9-1 broker");
  perf.require_subcommand(1);
  add_throughput(perf, exit_code);
  add_latency(perf, exit_code);
  add_churn(perf, exit_code);
  add_idle(perf, exit_code);
  add_topology(perf, exit_code);
}

}  // namespace baton::perf
