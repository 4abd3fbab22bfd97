#include "tests/simulation/simulated_node.hpp"

#include <utility>

#include "actors/runtime/actor_of.hpp"
#include "actors/supervisor.hpp"
#include "actors/topology_actor.hpp"

namespace baton::simulation {

namespace {

using listener_ref = actor_ref<answer<journal_report>>;

}  // namespace

// ---- the machine

simulated_machine::simulated_machine(std::uint64_t seed) : dice_{seed ^ 0xd15c}, disk{dice_} {
  BATON_CHECK(disk.create_folder(data_folder));
  BATON_CHECK(disk.sync_folder("/"));
}

// ---- the node

simulated_node::simulated_node(simulated_machine& machine, settings configured,
                               const simulation_options& options)
    : world{options},
      machine_{machine},
      services_{std::make_unique<node_services>(std::move(configured), world)} {}

std::unique_ptr<simulated_node> simulated_node::start(simulated_machine& machine,
                                                      settings configured,
                                                      const simulation_options& options) {
  std::unique_ptr<simulated_node> made{new simulated_node{machine, std::move(configured), options}};
  if (made->recover() && made->listen()) return made;
  return nullptr;
}

/// False if the power has gone.
bool simulated_node::recover() {
  auto opened = node_storage::open(machine_.disk, services_->configured(),
                                   [this] { return machine_.next_generation(); });
  if (!machine_.disk.has_power()) return false;
  BATON_CHECK(opened);
  storage_ = *std::move(opened);
  storage_->start(*services_);
  bool is_declared = false;
  services_->topology = spawn<topology_actor>(world.at(0), *services_, storage_->take_found(),
                                              [&](result<void> declared) {
                                                BATON_CHECK(declared);
                                                is_declared = true;
                                              });
  world.run_until_idle();
  BATON_CHECK(is_declared);
  return machine_.disk.has_power();
}

bool simulated_node::listen() {
  bool listens = false;
  services_->supervisor =
      spawn<supervisor>(world.at(0), *services_,
                        supervisor::events{[&](result<std::vector<std::string>> where) {
                                             BATON_CHECK(where);
                                             listens = true;
                                           },
                                           [this] { is_drained_ = true; }});
  world.run_until_idle();
  BATON_CHECK(listens);
  return machine_.disk.has_power();
}

simulated_node::~simulated_node() {
  services_->store = {};
  services_->reader = {};
  services_->stream_reader = {};
  services_->topology = {};
  services_->supervisor = {};
  const auto writes = machine_.disk.calls(file_operation::write);
  world.stop();
  services_.reset();
  BATON_CHECK(machine_.disk.calls(file_operation::write) == writes);
}

journal_report simulated_node::look_at_journal() {
  journal_report found;
  auto asker = spawn_handlers<listener_ref>(world.at(0), [&](answer<journal_report>& got) {
    if (got.value) found = *got.value;
  });
  services_->store.send(ask_journal_report{{asker, 0}});
  world.run_until_idle();
  return found;
}

void simulated_node::close_journal() {
  const auto then = [](auto&& call) {
    return std::shared_ptr<const void>{
        nullptr, [call = std::forward<decltype(call)>(call)](const void*) { call(); }};
  };
  services_->topology.send(finish{then([this, then] {
    if (services_->store)
      services_->store.send(baton::close_journal{then([this] { is_closed_ = true; })});
  })});
}

std::string simulated_node::memory_text() const {
  const auto& node = services_->configured().node;
  return ", of it reserved: " + std::to_string(services_->reserved_bytes) +
         ", high mark: " + std::to_string(node.high_mark.of(node.memory).value);
}

}  // namespace baton::simulation
