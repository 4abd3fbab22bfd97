#include "cli/check.hpp"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <string>

#include "actors/topology/configured.hpp"
#include "config/reference.hpp"

namespace baton {
namespace {

/// "1 queue", "2 queues".
std::string counted(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace

int check_command(const std::vector<std::filesystem::path>& paths, const overrides& set,
                  std::ostream& out, std::ostream& err) {
  mistakes warnings;
  const auto topology = [&](const settings& node, mistakes& found) {
    auto outcome = check_configured(node);
    warnings = std::move(outcome.warnings);
    // A definition that is wrong by itself is refused too, and that is no news.
    std::erase_if(outcome.refused, [&](const mistake& refused) {
      return std::ranges::find(found, refused.where, &mistake::where) != found.end();
    });
    std::ranges::move(outcome.refused, std::back_inserter(found));
  };
  const auto loaded = load(paths, set, topology);
  for (const auto& each : warnings)
    err << to_string(each.where) << ": warning: " << each.text << '\n';
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
