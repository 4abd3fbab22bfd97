#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <caf/actor_clock.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include "actors/runtime/loop.hpp"

namespace baton {

/// In place of CAF's clock, which has a mutex and a thread: it knows the time and refuses timeouts.
/// Baton's timers are `timer` and `timer_actor`.
class refusing_clock final : public caf::actor_clock {
public:
  void set_ordinary_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                            std::uint64_t) override;
  void set_multi_timeout(time_point, caf::abstract_actor*, caf::atom_value, std::uint64_t) override;
  void set_request_timeout(time_point, caf::abstract_actor*, caf::message_id) override;
  void cancel_ordinary_timeout(caf::abstract_actor*, caf::atom_value) override {}
  void cancel_request_timeout(caf::abstract_actor*, caf::message_id) override {}
  void cancel_timeouts(caf::abstract_actor*) override {}
  void schedule_message(time_point, caf::strong_actor_ptr, caf::mailbox_element_ptr) override;
  void schedule_message(time_point, caf::group, caf::strong_actor_ptr, caf::message) override;
  void cancel_all() override {}
};

/// CAF's scheduler module, on Baton's loops. CAF's own actors run on loop 0; Baton's choose their
/// loop when they are spawned.
class loop_scheduler final : public caf::scheduler::abstract_coordinator {
public:
  using make_loop = std::function<std::unique_ptr<loop>(caf::actor_system&, std::size_t index)>;

  loop_scheduler(caf::actor_system& system, std::size_t loops, bool has_threads,
                 const make_loop& make);

  const std::vector<std::unique_ptr<loop>>& loops() const noexcept { return loops_; }

  void start() override;
  /// Lets each loop end its turn and its actors, then drops what was still under way between them.
  void stop() override;
  void enqueue(caf::resumable* job) override { loops_.front()->exec_later(job); }
  caf::actor_clock& clock() noexcept override { return clock_; }

private:
  std::vector<std::unique_ptr<loop>> loops_;
  std::vector<std::thread> threads_;
  const bool has_threads_;
  refusing_clock clock_;
};

}  // namespace baton
