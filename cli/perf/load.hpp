#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/perf/event_loop.hpp"
#include "cli/perf/flow.hpp"
#include "cli/perf/flow_plan.hpp"
#include "cli/perf/process_usage.hpp"
#include "cli/perf/target.hpp"
#include "config/result.hpp"

namespace baton::perf {

/// What all commands share.
struct run_options {
  std::string uri = "amqp://guest:guest@127.0.0.1:5672/";
  target to;                  // from uri
  std::string prefix;         // of all names that this run declares
  double seconds = 10;        // measured
  double warmup_seconds = 2;  // before that
  std::uint32_t threads = 1;
  std::optional<int> pid;  // of the broker
  bool json = false;
  bool quiet = false;  // no line each second
  bool keep = false;   // what it has declared stays
  bool spin = false;   // poll instead of sleeping: no wake-up is part of a latency
};

/// A thread with an event loop.
class load_thread {
public:
  /// `pace` is called once a turn with the time, and returns when to be called again.
  using pacer = std::function<std::int64_t(std::int64_t)>;

  load_thread() = default;
  load_thread(const load_thread&) = delete;
  load_thread& operator=(const load_thread&) = delete;
  ~load_thread() { join(); }

  event_loop& loop() noexcept { return loop_; }
  void run(pacer pace, bool spin = false);
  bool running() const noexcept { return thread_.joinable(); }
  void join();

private:
  event_loop loop_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

/// Flows of messages through a broker, each on threads of its own.
class load {
public:
  struct request {
    flow_options options;
    std::uint32_t threads = 1;
  };
  load(const run_options& run, const std::vector<request>& requests);
  ~load();

  /// Declares, connects and subscribes.
  result<void> prepare();
  void start();
  /// What flow `index` did since it was last asked, and whether all is well.
  result<std::unique_ptr<tally>> take(std::size_t index);
  /// Flow `index` has published its count.
  bool published_all(std::size_t index);
  const flow_plan& plan(std::size_t index) const noexcept { return flows_[index]->plan; }
  /// Ends all connections, then deletes what was declared.
  result<void> finish();

private:
  struct worker {
    load_thread thread;
    std::unique_ptr<flow> traffic;
  };
  struct flow_state {
    flow_options options;
    flow_plan plan;
    std::vector<std::unique_ptr<worker>> workers;
  };

  void close_connections();

  run_options run_;
  std::vector<std::unique_ptr<flow_state>> flows_;
  bool declared_ = false;
};

/// Set by SIGINT and SIGTERM, which end a run early but in order.
extern std::atomic<bool> interrupted;
void catch_interrupts();

}  // namespace baton::perf
