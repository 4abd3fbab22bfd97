#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace baton {

class loop;

/// Something that a loop does once for each time it was scheduled; it is scheduled at most once at
/// a time. Intrusive, so that scheduling allocates nothing.
class loop_task {
public:
  /// On the loop that it was scheduled on.
  virtual void run_task(loop& on) = 0;

  /// Instead of `run_task`, when the loop has stopped.
  virtual void discard_task() noexcept = 0;

protected:
  loop_task() = default;
  loop_task(const loop_task&) = delete;
  loop_task& operator=(const loop_task&) = delete;
  virtual ~loop_task() = default;

private:
  friend class task_list;
  friend class loop_inbox;

  loop_task* next_task_ = nullptr;
};

/// Tasks in the order in which they became ready. One thread.
class task_list {
public:
  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t size() const noexcept { return size_; }

  void push_back(loop_task& task) noexcept {
    task.next_task_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_task_) = &task;
    last_ = &task;
    ++size_;
  }
  loop_task* pop_front() noexcept {
    loop_task* task = first_;
    if (task != nullptr) {
      first_ = task->next_task_;
      --size_;
    }
    return task;
  }
  /// Takes the one at `position`, from 0; linear, for the simulation.
  loop_task* take(std::size_t position) noexcept;

private:
  loop_task* first_ = nullptr;
  loop_task* last_ = nullptr;
  std::size_t size_ = 0;
};

/// What other threads hand to a loop: any number of producers, one consumer, one compare-and-swap a
/// task. The consumer declares itself asleep in the same word, so exactly one producer learns that
/// it has to wake it.
class loop_inbox {
public:
  /// Whether the consumer was asleep: the caller, and no other, has to wake it. Any thread.
  [[nodiscard]] bool push(loop_task& task) noexcept;

  /// Appends everything to `tasks`, in the order of arrival. Consumer only.
  void drain_into(task_list& tasks) noexcept;

  /// Declares the consumer asleep; false, and nothing is declared, when something is there.
  [[nodiscard]] bool sleep() noexcept;
  void awake() noexcept;

private:
  static loop_task* asleep() noexcept;

  // Most recent first; null: nothing; `asleep()`: nothing, and the consumer sleeps.
  std::atomic<loop_task*> newest_{nullptr};
};

}  // namespace baton
