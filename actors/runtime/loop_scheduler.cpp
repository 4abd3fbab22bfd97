#include "actors/runtime/loop_scheduler.hpp"

#include <pthread.h>
#include <signal.h>

#include <caf/actor_system.hpp>
#include <caf/group.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/message.hpp>

#include "config/check.hpp"

namespace baton {

namespace {

[[noreturn]] void refuse() { throw broken_invariant{"CAF's clock is not used: see timer.hpp"}; }

/// While it lives, threads that are started receive no signals: those are the main thread's.
class signals_blocked {
public:
  signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_;
};

}  // namespace

void refusing_clock::set_ordinary_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                                          std::uint64_t) {
  refuse();
}
void refusing_clock::set_multi_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                                       std::uint64_t) {
  refuse();
}
void refusing_clock::set_request_timeout(time_point, caf::abstract_actor*, caf::message_id) {
  refuse();
}
void refusing_clock::schedule_message(time_point, caf::strong_actor_ptr, caf::mailbox_element_ptr) {
  refuse();
}
void refusing_clock::schedule_message(time_point, caf::group, caf::strong_actor_ptr, caf::message) {
  refuse();
}

loop_scheduler::loop_scheduler(caf::actor_system& system, std::size_t loops, bool has_threads,
                               const make_loop& make)
    : abstract_coordinator{system}, has_threads_{has_threads} {
  for (std::size_t i = 0; i < loops; ++i) loops_.push_back(make(system, i));
}

void loop_scheduler::start() {
  // Not the base's: it would start a thread for `caf::aout`, which Baton does not use.
  if (!has_threads_) return;
  const signals_blocked blocked;
  for (const auto& one : loops_)
    threads_.emplace_back([this, runs = one.get()] {
      const std::string name = "loop-" + std::to_string(runs->index());
      pthread_setname_np(pthread_self(), name.c_str());
      system().thread_started();
      runs->run();
      system().thread_terminates();
    });
}

void loop_scheduler::stop() {
  for (const auto& one : loops_) one->request_stop();
  for (std::thread& one : threads_) one.join();
  threads_.clear();
  // Twice: what one loop drops may have sent something to one before it.
  for (int round = 0; round < 2; ++round)
    for (const auto& one : loops_) one->discard_leftovers();
}

}  // namespace baton
