#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/check.hpp"
#include "cli/journal.hpp"
#include "cli/perf/perf_command.hpp"
#include "cli/queue.hpp"
#include "cli/run.hpp"
#include "cli/status.hpp"
#include "config/load.hpp"

namespace {

using namespace baton;

/// Where the node that is asked keeps its data: said outright, or as its configuration says.
struct node_choice {
  std::string config;
  std::string data;
  bool as_json = false;

  void add_to(CLI::App& command) {
    command.add_option("--config", config, "the node's TOML file, or folder of them");
    command.add_option("--data", data, "the node's data folder; overrides --config");
  }

  /// Throws where the configuration does not say: the default folder may be another node's.
  std::filesystem::path folder() const {
    if (!data.empty()) return data;
    if (config.empty()) return default_settings().node.data;
    const auto loaded = load({config});
    if (loaded) return loaded->node.data;
    std::string all = "cannot tell the data folder: ";
    for (const auto& each : loaded.reason()) (all += '\n') += to_string(each);
    throw std::runtime_error{all};
  }
};

int dispatch(int argc, char** argv) {
  CLI::App app{"Baton, a message router.", "baton"};
  app.set_version_flag("--version", "baton " BATON_VERSION);
  app.require_subcommand(1);
  int exit_code = 0;

  run_options run;
  auto* run_app =
      app.add_subcommand("run", "run a node; without a file, a default one on the loopback");
  run_app->add_option("--config", run.config, "TOML file, or folder of *.toml files");
  run_app->add_option("--set", run.overrides, "key=value over the file's, e.g. node.name=north");
  run_app->callback([&] { exit_code = run_command(run, std::cout, std::cerr); });

  std::vector<std::string> checked, checked_overrides;
  auto* check_app = app.add_subcommand("check", "find every mistake in a configuration");
  check_app->add_option("file", checked, "TOML file, or folder of *.toml files")->required();
  check_app->add_option("--set", checked_overrides, "as for run");
  check_app->callback([&] {
    exit_code =
        check_command({checked.begin(), checked.end()}, checked_overrides, std::cout, std::cerr);
  });

  app.add_subcommand("reference", "print every key of the configuration")->callback([] {
    reference_command(std::cout);
  });

  node_choice choice;
  for (const auto& what : questions()) {
    auto* ask = app.add_subcommand(std::string{what.name}, "show " + std::string{what.help});
    choice.add_to(*ask);
    ask->add_flag("--json", choice.as_json, "JSON instead of a table");
    ask->callback([&] {
      exit_code = ask_command(what, choice.folder(), choice.as_json, std::cout, std::cerr);
    });
  }
  auto* stop = app.add_subcommand("stop", "drain a running node and end it");
  choice.add_to(*stop);
  stop->callback([&] { exit_code = stop_command(choice.folder(), std::cout, std::cerr); });

  json::control_request about;
  auto* queue = app.add_subcommand("queue", "look into one queue of a running node, or change it");
  queue->require_subcommand(1);
  const auto add_queue = [&](const char* name, const char* help) {
    auto* added = queue->add_subcommand(name, help);
    added->add_option("name", about.queue, "the queue")->required();
    added->add_option("--vhost", about.vhost, "its virtual host")->capture_default_str();
    choice.add_to(*added);
    added->add_flag("--json", choice.as_json, "JSON instead of text");
    added->callback([&, name] {
      about.request = std::string{name} + "_queue";
      exit_code = queue_command(about, choice.folder(), choice.as_json, std::cout, std::cerr);
    });
    return added;
  };
  add_queue("purge", "drop the messages that wait in it; those that are out to consumers stay");
  auto* drop = add_queue("delete", "end it, with all that it holds");
  drop->add_flag("--if-unused", about.if_unused, "not if it has consumers");
  drop->add_flag("--if-empty", about.if_empty, "not if messages wait in it");
  auto* peek = add_queue("peek", "show the next messages without taking them");
  peek->add_option("--count", about.count, "how many, at most 1000")->capture_default_str();
  peek->add_option("--body-bytes", about.body_bytes, "how much of each body, at most 1 MiB")
      ->capture_default_str();

  std::string journal_folder;
  auto* journal = app.add_subcommand("journal", "look into a journal on the disk; writes nothing");
  journal->require_subcommand(1);
  const auto add_journal = [&](const char* name, const char* help, auto* command) {
    auto* added = journal->add_subcommand(name, help);
    added->add_option("folder", journal_folder, "the journal's folder, or a node's data folder")
        ->required();
    added->callback([&, command] { exit_code = command(journal_folder, std::cout, std::cerr); });
  };
  add_journal("dump", "a line for each record", &dump_journal_command);
  add_journal("verify", "read everything and say what is damaged", &verify_journal_command);

  perf::add_perf(app, exit_code);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& what) {
    return app.exit(what) == 0 ? 0 : 1;  // --help and --version end up here too
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return dispatch(argc, argv);
  } catch (const std::exception& what) {
    std::cerr << "baton: " << what.what() << '\n';
    return 1;
  }
}
