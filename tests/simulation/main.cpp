/// The simulation: whole nodes on simulated sockets and clocks, against a model; see README.md.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/support/log.hpp"
#include "tests/simulation/run.hpp"

namespace {

constexpr std::uint64_t usual_runs = 10'000;
constexpr std::size_t shown_events = 60;
constexpr std::uint64_t most_failures = 5;
constexpr const char* kept_seeds = "tests/simulation/seeds.txt";

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto end = text.data() + text.size();
  if (auto [at, failed] = std::from_chars(text.data(), end, value);
      failed != std::errc{} || at != end)
    return std::nullopt;
  return value;
}

/// Seeds that have failed once: the first word of each line, unless it begins with '#'.
std::vector<std::uint64_t> seeds_in(const char* path) {
  std::vector<std::uint64_t> found;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);)
    if (auto seed = number(std::string_view{line}.substr(0, line.find(' '))))
      found.push_back(*seed);
  return found;
}

/// What all runs together have done, to see that they do enough.
struct totals {
  std::uint64_t published = 0;
  std::uint64_t restarts = 0;
  std::uint64_t blocked = 0;
};

/// Whether all invariants hold under this seed; else tells which does not, and how it came to that.
bool passes(std::uint64_t seed, bool tell_all, bool with_troubles, totals& all) {
  const auto first = baton::simulation::run(seed, tell_all, with_troubles);
  all.published += first.published;
  all.restarts += first.restarts;
  all.blocked += first.blocked;
  if (first.broken.empty() && !tell_all) return true;
  const auto told = tell_all ? first : baton::simulation::run(seed, true, with_troubles);
  const auto skipped =
      tell_all || told.history.size() < shown_events ? 0 : told.history.size() - shown_events;
  if (skipped > 0) std::printf("... %zu events before\n", skipped);
  for (auto i = skipped; i < told.history.size(); ++i) std::printf("%s\n", told.history[i].c_str());
  if (!first.broken.empty())
    std::printf("seed %llu: %s\n\n", static_cast<unsigned long long>(seed), first.broken.c_str());
  return first.broken.empty();
}

int usage() {
  std::fprintf(stderr,
               "simulation [--runs N] [--first SEED]   the kept seeds, then N others from SEED on\n"
               "simulation --seed SEED                 one, with all that happens\n"
               "--troubles 1: in some runs the disk fails now and then, or is full\n"
               "BATON_SIMULATION_RUNS is the default of N; without it, %llu\n",
               static_cast<unsigned long long>(usual_runs));
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  std::uint64_t runs = usual_runs, first = 1;
  std::optional<std::uint64_t> only;
  bool with_troubles = false;
  if (const char* wanted = std::getenv("BATON_SIMULATION_RUNS"))
    runs = number(wanted).value_or(usual_runs);
  for (int i = 1; i < count; i += 2) {
    const std::string_view option{arguments[i]};
    const auto value = i + 1 < count ? number(arguments[i + 1]) : std::nullopt;
    if (!value) return usage();
    if (option == "--runs")
      runs = *value;
    else if (option == "--first")
      first = *value;
    else if (option == "--troubles")
      with_troubles = *value != 0;
    else if (option == "--seed")
      only = *value;
    else
      return usage();
  }
  baton::logging_settings quiet;
  quiet.level = baton::log_level::error;
  baton::log::open(quiet);

  std::vector<std::uint64_t> seeds;
  if (only) {
    seeds.push_back(*only);
  } else {
    seeds = seeds_in(kept_seeds);
    for (std::uint64_t i = 0; i < runs; ++i) seeds.push_back(first + i);
  }
  std::uint64_t passed = 0, failed = 0;
  totals all;
  for (auto seed : seeds) {
    if (failed == most_failures) break;
    ++(passes(seed, only.has_value(), with_troubles, all) ? passed : failed);
  }
  if (failed == most_failures && passed + failed < seeds.size())
    std::printf("given up after %llu failures, %zu seeds not run\n",
                static_cast<unsigned long long>(failed), seeds.size() - passed - failed);
  baton::log::close();
  std::printf("%llu messages, %llu restarts, connections were blocked %llu times\n",
              static_cast<unsigned long long>(all.published),
              static_cast<unsigned long long>(all.restarts),
              static_cast<unsigned long long>(all.blocked));
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(passed),
              static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}
