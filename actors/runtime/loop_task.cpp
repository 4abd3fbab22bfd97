#include "actors/runtime/loop_task.hpp"

namespace baton {

loop_task* task_list::take(std::size_t position) noexcept {
  loop_task* before = nullptr;
  loop_task* task = first_;
  for (; position > 0 && task != nullptr; --position) {
    before = task;
    task = task->next_task_;
  }
  if (task == nullptr) return nullptr;
  (before == nullptr ? first_ : before->next_task_) = task->next_task_;
  if (task == last_) last_ = before;
  --size_;
  return task;
}

loop_task* loop_inbox::asleep() noexcept { return reinterpret_cast<loop_task*>(std::uintptr_t{1}); }

bool loop_inbox::push(loop_task& task) noexcept {
  loop_task* newest = newest_.load(std::memory_order_relaxed);
  do task.next_task_ = newest == asleep() ? nullptr : newest;
  while (!newest_.compare_exchange_weak(newest, &task, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  return newest == asleep();
}

void loop_inbox::drain_into(task_list& tasks) noexcept {
  if (newest_.load(std::memory_order_relaxed) == nullptr) return;
  loop_task* newest = newest_.exchange(nullptr, std::memory_order_acq_rel);
  if (newest == asleep()) return;
  loop_task* oldest = nullptr;
  while (newest != nullptr) {
    loop_task* older = newest->next_task_;
    newest->next_task_ = oldest;
    oldest = newest;
    newest = older;
  }
  while (oldest != nullptr) {
    loop_task* younger = oldest->next_task_;
    tasks.push_back(*oldest);
    oldest = younger;
  }
}

bool loop_inbox::sleep() noexcept {
  loop_task* expected = nullptr;
  return newest_.compare_exchange_strong(expected, asleep(), std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
}

void loop_inbox::awake() noexcept {
  loop_task* expected = asleep();
  newest_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel,
                                  std::memory_order_relaxed);
}

}  // namespace baton
