#pragma once

#include "actors/topology/topology_core.hpp"
#include "config/place.hpp"
#include "config/settings.hpp"

namespace baton {

/// What came of declaring a configuration, in the order vhosts, users, exchanges, queues, bindings.
struct configured_outcome {
  /// Each definition that the topology refuses, with its place and, where it conflicts with
  /// something that is there, with that one's place too. What only misses a refused one is left
  /// out.
  mistakes refused;
  /// Unknown arguments that are kept.
  mistakes warnings;
};

/// Declares what a configuration defines. One that is refused does not keep the others from being
/// declared, so that all that is wrong is known at once. Users must have their password hashes.
configured_outcome declare_configured(topology_core& core, const settings& wanted,
                                      const topology_core::make_target& make);

/// The same on a node that holds nothing, and without making anything: what `baton check` can tell
/// before anybody starts.
configured_outcome check_configured(const settings& wanted);

/// The limits of a topology, as they are configured.
topology_limits limits_of(const limit_settings& limits);

}  // namespace baton
