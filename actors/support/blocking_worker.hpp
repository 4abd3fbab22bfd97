#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace baton {

/// A thread for what blocks and must not run on a loop: password hashing, name look-ups. Jobs run
/// in order, one at a time; how many wait is bounded. The thread starts with the first job.
class blocking_worker {
public:
  using job = std::function<void()>;
  static constexpr std::size_t max_waiting = 1024;

  blocking_worker() = default;
  blocking_worker(const blocking_worker&) = delete;
  blocking_worker& operator=(const blocking_worker&) = delete;
  /// Finishes the job under way and drops those that wait.
  ~blocking_worker();

  /// False: too many wait; the job is dropped. From any thread.
  bool run(job work);

private:
  void work();

  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<job> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace baton
