#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace baton::simulation {

struct outcome {
  std::string broken;                // the first invariant that did not hold; empty: all did
  std::vector<std::string> history;  // all that happened, if asked for
  std::uint64_t published = 0;
  std::uint64_t restarts = 0;
  std::uint64_t blocked = 0;  // so often a client was told connection.blocked
};

/// One node and its clients from start to stop: the seed decides the node's limits, what clients do
/// and in which order everything happens. `with_troubles`: in some runs the disk fails now and
/// then.
outcome run(std::uint64_t seed, bool with_history, bool with_troubles);

}  // namespace baton::simulation
