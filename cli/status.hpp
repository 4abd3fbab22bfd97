#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "cli/table.hpp"

namespace baton {

/// A subcommand that asks a running node and shows the answer.
struct question {
  std::string_view name;  // the subcommand, and the request on the control socket
  std::string_view help;
  std::vector<column> columns;
};

/// All of them, in the order of `baton --help`.
const std::vector<question>& questions();

/// Asks the node whose data folder this is and prints its answer: a table, or the JSON as it came.
/// Returns the exit code: 1 when no node answers.
int ask_command(const question& what, const std::filesystem::path& data_folder, bool as_json,
                std::ostream& out, std::ostream& err);

/// `baton stop`: asks the node to drain and end, and waits until it has.
int stop_command(const std::filesystem::path& data_folder, std::ostream& out, std::ostream& err);

}  // namespace baton
