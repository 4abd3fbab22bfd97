#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/node_services.hpp"
#include "actors/stream_actor.hpp"
#include "actors/topology/stored_definitions.hpp"
#include "storage/files/file_system.hpp"
#include "storage/journal/journal.hpp"
#include "storage/journal/node_recovery.hpp"
#include "storage/stream/stream_recovery.hpp"

namespace baton {

/// What was on the disk when a node started, for its topology to put back.
struct recovered_topology {
  std::vector<definition> definitions;
  std::map<std::uint64_t, journal::recovered_node::queue> queues;  ///< by the queue's id
  std::uint64_t highest_queue = 0;
};

/// The disk's part in a node: its data folder, which it locks, and the journal and the streams in
/// it.
class node_storage {
public:
  /// Recovers what the folder holds; blocks for as long as that takes. `generation` gives another
  /// number each time, never one that was used there. An error says why the folder cannot be used.
  static result<std::unique_ptr<node_storage>> open(file_system& files, const settings& configured,
                                                    std::function<std::uint64_t()> generation);

  /// Spawns the store and the reader, each on its loop, and tells `node` of them.
  void start(node_services& node);

  /// A store for a stream's log, and what it holds: of a new stream nothing. For the topology, on
  /// its loop.
  stream_actor::disk_side open_stream(node_services& node, const queue_entry& stream);

  /// Once, for the topology.
  recovered_topology take_found() { return std::move(found_); }

private:
  node_storage(file_system& files, const std::string& data,
               std::function<std::uint64_t()> generation)
      : files_{files},
        folder_{data + "/journal"},
        streams_{data + "/streams"},
        generation_{std::move(generation)} {}

  result<void> recover(const journal_settings& configured);
  result<void> recover_streams(const std::set<std::uint64_t>& defined);

  file_system& files_;
  const std::string folder_;   // of the journal
  const std::string streams_;  // each has a folder in it
  const std::function<std::uint64_t()> generation_;
  std::unique_ptr<folder_lock> lock_;
  std::unique_ptr<journal::journal> log_;
  recovered_topology found_;
  std::map<std::uint64_t, stream_log::recovered_stream>
      found_streams_;  // until the topology has them
};

}  // namespace baton
