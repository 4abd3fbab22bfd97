#include "actors/runtime/loop.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include "actors/runtime/pinned_actor.hpp"

namespace baton {

namespace {

using std::chrono::nanoseconds;

/// How many tasks run between two looks at the clock; a look costs about as much as a small task.
constexpr std::size_t tasks_between_looks = 8;

/// How many sockets have their say between two turns.
constexpr std::size_t sockets_in_turn = 64;

/// Over how long `load` looks back.
constexpr std::chrono::milliseconds load_window{100};

void add(std::atomic<std::uint64_t>& counter, std::uint64_t by) noexcept {
  // One writer, so no read-modify-write is needed.
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

/// A resumable of CAF's own (Baton's are pinned actors): wrapped, because it has no link.
class foreign_task final : public loop_task {
public:
  explicit foreign_task(caf::resumable* job) : job_{job} {}

  void run_task(loop& on) override {
    switch (job_->resume(&on, on.quantum())) {
      case caf::resumable::resume_later:
        on.schedule(*this);
        return;
      case caf::resumable::shutdown_execution_unit:
        break;
      default:
        caf::intrusive_ptr_release(job_);
    }
    delete this;
  }
  void discard_task() noexcept override {
    caf::scheduler::abstract_coordinator::cleanup_and_release(job_);
    delete this;
  }

private:
  caf::resumable* job_;
};

}  // namespace

thread_local loop* loop::current_ = nullptr;

loop::loop(caf::actor_system& system, std::size_t index, const clock& time,
           std::unique_ptr<reactor> sockets)
    : caf::execution_unit{&system},
      index_{index},
      time_{time},
      sockets_{std::move(sockets)},
      scratch_{std::make_unique_for_overwrite<std::uint8_t[]>(scratch_size)},
      now_{time.now().time_since_epoch().count()},
      awake_since_{now()},
      load_since_{now()} {}

loop::~loop() { discard_leftovers(); }

void loop::schedule(loop_task& task) noexcept {
  if (current_ == this)
    ready_.push_back(task);
  else if (inbox_.push(task)) {
    // Exactly one producer gets here for each sleep.
    statistics_.wakes.fetch_add(1, std::memory_order_relaxed);
    sockets_->wake();
  }
}

void loop::exec_later(caf::resumable* job) {
  if (auto* actor = dynamic_cast<pinned_actor*>(job))
    schedule(*actor);
  else
    schedule(*new foreign_task{job});
}

void loop::defer(flushable& work) noexcept {
  if (work.after_ != &work) return;
  work.before_ = deferred_.before_;
  work.after_ = &deferred_;
  work.before_->after_ = &work;
  deferred_.before_ = &work;
}

void loop::flush_deferred() {
  while (has_deferred()) {
    flushable& work = *deferred_.after_;
    work.unlink();
    work.flush();
  }
}

void loop::fire_alarm_if_due() {
  if (now() < alarm_) return;
  alarm_ = never;
  if (alarm_handler_ != nullptr) alarm_handler_->on_alarm(now());
}

// -- turns --------------------------------------------------------------------------------------

void loop::run() {
  as_current guard{this};
  look_at_clock();
  awake_since_ = load_since_ = now();
  while (!stop_.load(std::memory_order_acquire)) run_turn();
  end_actors();
}

void loop::run_turn() {
  add(statistics_.turns, 1);
  fire_alarm_if_due();
  run_ready_tasks();
  flush_deferred();
  wait_and_dispatch();
}

void loop::run_ready_tasks() {
  const steady_time over = now() + turn_time;
  routed_in_turn_ = 0;
  std::size_t done = 0;
  inbox_.drain_into(ready_);
  while (loop_task* task = ready_.pop_front()) {
    task->run_task(*this);
    ++done;
    if (routed_in_turn_ >= turn_routed) break;
    if (done % tasks_between_looks == 0 && time_.now() >= over) break;
    if (ready_.empty()) inbox_.drain_into(ready_);
  }
  add(statistics_.tasks, done);
  add(statistics_.routed, routed_in_turn_);
}

void loop::wait_and_dispatch() {
  if (ready_.empty() && inbox_.sleep()) {
    const steady_time from = time_.now();
    asleep_since_.store(from.time_since_epoch().count(), std::memory_order_relaxed);
    // A sleep shorter than nothing is a look.
    const nanoseconds at_most =
        alarm_ == never ? nanoseconds{-1} : std::max(nanoseconds{0}, nanoseconds{alarm_ - from});
    sockets_->wait(at_most);
    inbox_.awake();
    look_at_clock();
    asleep_since_.store(0, std::memory_order_relaxed);
    note_load(from, now());
  } else {
    sockets_->wait(nanoseconds{0});
    look_at_clock();
    note_load(now(), now());
  }
  dispatch_sockets();
}

void loop::dispatch_sockets() {
  // What sockets bring has to be handled before they bring more.
  routed_in_turn_ = 0;
  for (std::size_t i = 0; i < sockets_in_turn && routed_in_turn_ < turn_routed; ++i)
    if (sockets_->dispatch(1) == 0) break;
  add(statistics_.routed, routed_in_turn_);
}

void loop::note_load(steady_time slept_from, steady_time slept_to) noexcept {
  const nanoseconds busy = slept_from - awake_since_;
  const nanoseconds slept = slept_to - slept_from;
  if (slept.count() > 0) add(statistics_.sleeps, 1);
  add(statistics_.busy_ns, static_cast<std::uint64_t>(busy.count()));
  add(statistics_.slept_ns, static_cast<std::uint64_t>(slept.count()));
  awake_since_ = slept_to;
  busy_lately_ += busy;
  const nanoseconds window = slept_to - load_since_;
  if (window < load_window) return;
  const double share =
      static_cast<double>(busy_lately_.count()) / static_cast<double>(window.count());
  load_.store(share, std::memory_order_relaxed);
  load_since_ = slept_to;
  busy_lately_ = nanoseconds{0};
}

double loop::load() const noexcept {
  const double share = load_.load(std::memory_order_relaxed);
  const steady_time::rep since = asleep_since_.load(std::memory_order_relaxed);
  if (since == 0) return share;
  // It has noted nothing since it fell asleep; that time counts, too.
  const nanoseconds slept =
      std::max(nanoseconds{0}, time_.now().time_since_epoch() - nanoseconds{since});
  const auto window = static_cast<double>(nanoseconds{load_window}.count());
  return share * window / (window + static_cast<double>(slept.count()));
}

// -- stopping -----------------------------------------------------------------------------------

void loop::request_stop() noexcept {
  stop_.store(true, std::memory_order_release);
  sockets_->wake();
}

void loop::end_actors() noexcept {
  while (youngest_ != nullptr) {
    pinned_actor* actor = youngest_;
    actor->enter([actor] { actor->quit(caf::make_error(caf::exit_reason::user_shutdown)); });
  }
}

void loop::discard_leftovers() noexcept {
  as_current guard{this};
  do {
    inbox_.awake();
    inbox_.drain_into(ready_);
    while (loop_task* task = ready_.pop_front()) {
      task->discard_task();
      inbox_.drain_into(ready_);
    }
    end_actors();
  } while (!ready_.empty());
}

// -- one step at a time -------------------------------------------------------------------------

std::size_t loop::ready_tasks() noexcept {
  look_at_clock();
  inbox_.drain_into(ready_);
  return ready_.size();
}

void loop::run_ready(std::size_t position) {
  look_at_clock();
  if (loop_task* task = ready_.take(position)) task->run_task(*this);
}

}  // namespace baton
