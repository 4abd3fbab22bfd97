#include "cli/perf/perf_command.hpp"

#include <CLI/CLI.hpp>

#include "tests/catch.hpp"

namespace {

/// The exit code of `baton <line>`; -1 when the line is refused before anything runs.
int run_line(const std::string& line) {
  CLI::App app{"baton"};
  int exit_code = 0;
  baton::perf::add_perf(app, exit_code);
  try {
    app.parse(line);
  } catch (const CLI::ParseError&) {
    return -1;
  }
  return exit_code;
}

}  // namespace

TEST_CASE("perf refuses options that cannot be meant before it connects", "[perf]") {
  CHECK(run_line("perf") == -1);
  CHECK(run_line("perf nonsense") == -1);
  CHECK(run_line("perf churn everything") == -1);
  CHECK(run_line("perf throughput --queues 0") == -1);
  CHECK(run_line("perf throughput --duration -1") == -1);
  CHECK(run_line("perf throughput --unknown") == -1);
  CHECK(run_line("perf idle connections --count 0") == -1);
}

TEST_CASE("perf refuses combinations that would wait for ever", "[perf]") {
  CHECK(run_line("perf throughput --ack 100 --prefetch 10") == 1);
  CHECK(run_line("perf throughput --ack sometimes") == 1);
  CHECK(run_line("perf throughput --producers 0 --consumers 0") == 1);
  CHECK(run_line("perf latency --rate 0") == 1);
  CHECK(run_line("perf latency --size 4") == 1);
  CHECK(run_line("perf idle queues") == -1);  // whose memory?
  CHECK(run_line("perf throughput --uri nonsense") == 1);
}

TEST_CASE("perf says so when nothing listens", "[perf]") {
  CHECK(run_line("perf throughput --uri amqp://127.0.0.1:1 --quiet") == 1);
  CHECK(run_line("perf churn connections --uri amqp://127.0.0.1:1 --quiet") == 1);
}
