#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "actors/runtime/runtime.hpp"
#include "transport/net/simulated_network.hpp"

namespace baton {

struct simulation_options {
  std::uint64_t seed = 1;
  std::size_t loops = 2;
  simulated_network_options network{};
};

/// What a simulation consists of besides its loops; made before them, gone after them.
struct simulated_world {
  explicit simulated_world(const simulation_options& options)
      : dice{options.seed},
        network{dice, options.network},
        outside{network.make_reactor()},
        seed{options.seed} {}

  simulation_random dice;
  manual_clock hand_clock;
  simulated_network network;
  std::unique_ptr<simulated_reactor> outside;
  const std::uint64_t seed;
};

/// A runtime without threads, sockets and clock. The seed decides which actor runs next and for how
/// many messages, when a socket has its say, when bytes arrive, when output is flushed, and when
/// time moves; so one seed is one history, and a failure is found again from it.
///
///     simulated_runtime world{{.seed = seed}};
///     ... spawn actors on world.at(0), clients on world.outside() ...
///     REQUIRE(world.run_until([&] { return client.has_its_reply(); }));
class simulated_runtime final : private simulated_world, public runtime {
public:
  explicit simulated_runtime(const simulation_options& options = {});
  ~simulated_runtime() override;

  using simulated_world::dice;
  using simulated_world::network;
  using simulated_world::seed;

  /// Sockets of test clients, which are on no loop.
  reactor& outside() noexcept { return *simulated_world::outside; }
  steady_time now() const noexcept { return hand_clock.now(); }

  /// Lets one thing happen; false when nothing can before time moves. Now and then time moves by up
  /// to 0.2 ms by itself.
  bool step();

  /// Steps until `condition` holds, moving time to the next alarm when nothing else is left to do.
  /// False, with the seed on the standard error, when it never can or `max_steps` are not enough.
  bool run_until(const std::function<bool()>& condition, std::size_t max_steps = 1'000'000);

  /// Steps until nothing is left to do at the present time. False, with the seed on the standard
  /// error, when `max_steps` are not enough.
  bool run_until_idle(std::size_t max_steps = 1'000'000);

  /// Lets that much time pass, and everything happen that happens in it. Returns as
  /// `run_until_idle`.
  bool advance(std::chrono::nanoseconds by, std::size_t max_steps = 1'000'000);

private:
  steady_time next_alarm();
  void move_time_to(steady_time when) noexcept;
  bool complain(const char* why) const;
};

}  // namespace baton
