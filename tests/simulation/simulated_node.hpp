#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/node_services.hpp"
#include "actors/node_storage.hpp"
#include "actors/runtime/simulated_runtime.hpp"
#include "storage/files/simulated_file_system.hpp"
#include "tests/simulation/credit_books.hpp"

namespace baton::simulation {

/// What outlives a node: its disk.
class simulated_machine {
public:
  explicit simulated_machine(std::uint64_t seed);

  /// For `settings::node.data`.
  static constexpr const char* data_folder = "/data";

  std::uint64_t next_generation() noexcept { return ++generations_; }

private:
  simulation_random dice_;

public:
  simulated_file_system disk;

private:
  std::uint64_t generations_ = 0;
};

/// One life of a node, as node.cpp puts it together, on simulated loops. Destroying it is a kill:
/// whatever was in its memory is gone, and the disk is as it was.
class simulated_node {
public:
  /// Recovers what the machine's disk holds, and listens. Nothing if the power has gone meanwhile.
  static std::unique_ptr<simulated_node> start(simulated_machine& machine, settings configured,
                                               const simulation_options& options);
  ~simulated_node();

  credit_books look_at_credit() { return {world, *services_}; }
  /// Asks the store, and lets the node come to rest.
  journal_report look_at_journal();

  void request_stop() { services_->supervisor.send(stop_node{}); }
  bool is_drained() const noexcept { return is_drained_; }
  /// What an orderly stop does last, once clients have gone. To be stepped until it is done.
  void close_journal();
  bool is_closed() const noexcept { return is_closed_; }

  std::string memory_text() const;

  simulated_runtime world;

private:
  simulated_node(simulated_machine& machine, settings configured,
                 const simulation_options& options);
  bool recover();
  bool listen();

  simulated_machine& machine_;
  std::unique_ptr<node_storage> storage_;
  std::unique_ptr<node_services> services_;
  bool is_drained_ = false;
  bool is_closed_ = false;
};

}  // namespace baton::simulation
