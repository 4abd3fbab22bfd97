#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "actors/runtime/actor_ref.hpp"
#include "actors/runtime/loop.hpp"
#include "actors/runtime/loop_scheduler.hpp"
#include "config/result.hpp"
#include "transport/net/clock.hpp"

namespace baton {

/// A number of loops, each with its timer, in one actor system. `threaded_runtime` runs them on
/// threads, `simulated_runtime` one step at a time from a seed; actors cannot tell.
///
/// Besides those that share the work there are loops for one actor each, which may block them: the
/// one that writes the journal, and the one that reads it.
class runtime {
public:
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  virtual ~runtime();

  caf::actor_system& system() noexcept;
  std::size_t size() const noexcept { return loops_.size(); }
  loop& at(std::size_t index) noexcept { return *loops_[index]; }
  loop& writing() noexcept { return *blocking_[0]; }
  loop& reading() noexcept { return *blocking_[1]; }
  const clock& time() const noexcept { return time_; }

  /// Waits until `whom` has ended; at once for an empty handle. Not on a loop, not in a simulation.
  void await(const any_actor_ref& whom);

  /// Stops all loops; each ends its turn, then its actors, the youngest first. Nothing that is sent
  /// from now on arrives. An orderly node has ended its actors before.
  void stop();

protected:
  static constexpr std::size_t blocking_loops = 2;

  /// All loops, the blocking ones last.
  template <class Visit>
  void for_each_loop(Visit&& visit) {
    for (auto* one : loops_) visit(*one);
    for (auto* one : blocking_) visit(*one);
  }

  runtime(std::size_t loops, bool has_threads, const clock& time,
          const loop_scheduler::make_loop& make);

private:
  struct actors;

  const clock& time_;
  std::unique_ptr<actors> actors_;
  std::vector<loop*> loops_;
  std::vector<loop*> blocking_;
};

/// Loops on threads of their own, on the machine's sockets and clock.
class threaded_runtime final : public runtime {
public:
  /// 0 loops: one for each core. Throws `std::runtime_error` when the machine refuses.
  explicit threaded_runtime(std::size_t loops = 0);
  ~threaded_runtime() override { stop(); }
};

}  // namespace baton
