#include "cli/check.hpp"

#include <ostream>
#include <string>

#include "config/load.hpp"
#include "config/reference.hpp"

namespace baton {
namespace {

/// "1 queue", "2 queues".
std::string counted(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace

int check_command(const std::vector<std::filesystem::path>& paths, std::ostream& out,
                  std::ostream& err) {
  const auto loaded = load(paths);
  if (!loaded) {
    for (const auto& each : loaded.reason()) err << to_string(each) << '\n';
    err << counted(loaded.reason().size(), "mistake") << '\n';
    return 1;
  }
  out << "node " << loaded->node.name << ": " << counted(loaded->listeners.size(), "listener")
      << ", " << counted(loaded->users.size(), "user") << ", "
      << counted(loaded->exchanges.size(), "exchange") << ", "
      << counted(loaded->queues.size(), "queue") << ", "
      << counted(loaded->bindings.size(), "binding") << '\n';
  return 0;
}

int reference_command(std::ostream& out) {
  out << reference();
  return out ? 0 : 1;
}

}  // namespace baton
