#include "cli/run.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <ostream>

#include "actors/node.hpp"
#include "actors/support/log.hpp"
#include "cli/service_manager.hpp"
#include "config/load.hpp"

namespace baton {

namespace {

/// Signals that end a node, kept from all threads that are started from here on and taken one by
/// one with `next()`.
class stop_signals {
public:
  stop_signals() {
    sigemptyset(&set_);
    for (int s : {SIGTERM, SIGINT, stopped_by_itself}) sigaddset(&set_, s);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }
  int next() const {
    int which = 0;
    sigwait(&set_, &which);
    return which;
  }
  /// What a node that was stopped by `baton stop` wakes the main thread with.
  static constexpr int stopped_by_itself = SIGUSR1;

private:
  sigset_t set_;
};

/// A connection costs a descriptor: take as many as the system allows.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const auto& p : parts) all += (all.empty() ? "" : ", ") + p;
  return all;
}

}  // namespace

int run_command(const run_options& options, std::ostream& out, std::ostream& err) {
  stop_signals signals;
  raise_descriptor_limit();

  std::vector<std::filesystem::path> paths;
  if (!options.config.empty()) paths.push_back(options.config);
  auto loaded = load(paths, options.overrides);
  if (!loaded) {
    for (const auto& mistake : loaded.reason()) err << to_string(mistake) << '\n';
    return 1;
  }
  log::open(loaded->logging);
  if (options.config.empty())
    log::info("default configuration",
              "no configuration given: user guest, password guest, from this machine only");

  node running{*std::move(loaded)};
  running.on_stopped([] { kill(getpid(), stop_signals::stopped_by_itself); });
  if (auto started = running.start(); !started) {
    err << "baton run: cannot start\n" << started.reason().text << '\n';
    log::close();
    return 1;
  }
  out << "ready: " << running.name() << " listens on " << joined(running.listeners()) << std::endl;
  service_manager::notify("READY=1");

  if (signals.next() != stop_signals::stopped_by_itself) {
    service_manager::notify("STOPPING=1");
    log::info("stop", "asked to stop: draining; once more to stop at once");
    running.request_stop();
    if (signals.next() != stop_signals::stopped_by_itself) {
      log::warning("stop", "stopping at once");
      log::close();
      _exit(1);
    }
  }
  running.join();
  log::info("stop", "stopped");
  log::close();
  return 0;
}

}  // namespace baton
