#pragma once

namespace CLI {
class App;
}

namespace baton::perf {

/// Adds the subcommand `perf` and all below it. After parsing, the one that was asked for has run
/// and its exit code is in `exit_code`: 0, or 1 with the reason on stderr.
void add_perf(CLI::App& app, int& exit_code);

}  // namespace baton::perf
