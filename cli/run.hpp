#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace baton {

struct run_options {
  std::string config;  // a file or a folder; empty: the default node
  std::vector<std::string> overrides;
};

/// `baton run`: starts a node, prints one line that begins with "ready" once it can be used (and
/// tells systemd, where that started it), and waits for SIGTERM, SIGINT or `baton stop`. Then it
/// drains; a second signal ends it at once. Returns the exit code.
int run_command(const run_options& options, std::ostream& out, std::ostream& err);

}  // namespace baton
