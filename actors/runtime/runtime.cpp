#include "actors/runtime/runtime.hpp"

#include <algorithm>
#include <future>
#include <stdexcept>
#include <thread>

#include "actors/runtime/timer.hpp"
#include "caf/actor_system.hpp"
#include "caf/actor_system_config.hpp"

namespace baton {

namespace {

const machine_clock& the_machine_clock() {
  static const machine_clock clock;
  return clock;
}

std::unique_ptr<loop> make_threaded_loop(caf::actor_system& system, std::size_t index) {
  auto sockets = make_system_reactor(the_machine_clock());
  if (!sockets) throw std::runtime_error{sockets.reason().text};
  return std::make_unique<loop>(system, index, the_machine_clock(), std::move(*sockets));
}

}  // namespace

struct runtime::actors {
  actors(std::size_t loops, bool has_threads, const loop_scheduler::make_loop& make)
      : config{}, system{configure(loops, has_threads, make)} {
    system.await_actors_before_shutdown(false);
  }

  caf::actor_system_config& configure(std::size_t loops, bool has_threads,
                                      const loop_scheduler::make_loop& make) {
    config.module_factories.push_back([=, this](caf::actor_system& host) {
      scheduler = new loop_scheduler{host, loops, has_threads, make};
      return static_cast<caf::actor_system::module*>(scheduler);
    });
    return config;
  }

  caf::actor_system_config config;
  loop_scheduler* scheduler = nullptr;
  caf::actor_system system;
};

runtime::runtime(std::size_t loops, bool has_threads, const clock& time,
                 const loop_scheduler::make_loop& make)
    : time_{time}, actors_{std::make_unique<actors>(loops, has_threads, make)} {
  for (const auto& one : actors_->scheduler->loops()) {
    loops_.push_back(one.get());
    const timer_ref timer = spawn<timer_actor>(*one);
    one->set_timer(static_cast<timer_actor*>(timer.actor()));
  }
}

runtime::~runtime() { stop(); }

caf::actor_system& runtime::system() noexcept { return actors_->system; }

void runtime::stop() {
  loops_.clear();
  actors_.reset();
}

void runtime::await_end(const caf::strong_actor_ptr& whom) {
  // Shared, because the one who sets it may still be at it when the wait is over.
  const auto ended = std::make_shared<std::promise<void>>();
  whom->get()->attach_functor([ended] { ended->set_value(); });
  ended->get_future().wait();
}

threaded_runtime::threaded_runtime(std::size_t loops)
    : runtime{loops > 0 ? loops : std::max<std::size_t>(std::thread::hardware_concurrency(), 1),
              true, the_machine_clock(), make_threaded_loop} {}

}  // namespace baton
