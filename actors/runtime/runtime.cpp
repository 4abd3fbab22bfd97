#include "actors/runtime/runtime.hpp"

#include <algorithm>
#include <future>
#include <stdexcept>
#include <thread>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include "actors/runtime/timer.hpp"

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

/// Watches one actor and keeps a promise when it has ended.
struct nothing {};
class waiter final : public actor_of<waiter, actor_ref<nothing>> {
public:
  waiter(caf::actor_config& config, any_actor_ref whom, std::shared_ptr<std::promise<void>> ended)
      : actor_of{config}, whom_{std::move(whom)}, ended_{std::move(ended)} {}

  const char* name() const override { return "waiter"; }
  void handle(nothing&) {}

protected:
  void on_start() override { watch(whom_); }
  void on_down(const caf::actor_addr&, const std::string&) override {
    // Shared, because the one who waits may be done before this call is.
    ended_->set_value();
    quit();
  }

private:
  const any_actor_ref whom_;
  const std::shared_ptr<std::promise<void>> ended_;
};

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
    : time_{time}, actors_{std::make_unique<actors>(loops + blocking_loops, has_threads, make)} {
  for (const auto& one : actors_->scheduler->loops()) {
    (loops_.size() < loops ? loops_ : blocking_).push_back(one.get());
    const timer_ref timer = spawn<timer_actor>(*one);
    one->set_timer(static_cast<timer_actor*>(timer.actor()));
  }
}

runtime::~runtime() { stop(); }

caf::actor_system& runtime::system() noexcept { return actors_->system; }

void runtime::stop() {
  loops_.clear();
  blocking_.clear();
  actors_.reset();
}

void runtime::await(const any_actor_ref& whom) {
  if (!whom) return;
  auto ended = std::make_shared<std::promise<void>>();
  const auto end = ended->get_future();
  spawn<waiter>(whom.home(), whom, std::move(ended));
  end.wait();
}

threaded_runtime::threaded_runtime(std::size_t loops)
    : runtime{loops > 0 ? loops : std::max<std::size_t>(std::thread::hardware_concurrency(), 1),
              true, the_machine_clock(), make_threaded_loop} {}

}  // namespace baton
