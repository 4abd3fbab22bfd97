#include "actors/support/blocking_worker.hpp"

namespace baton {

blocking_worker::~blocking_worker() {
  {
    std::scoped_lock lock{guard_};
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool blocking_worker::run(job work) {
  {
    std::scoped_lock lock{guard_};
    if (waiting_.size() >= max_waiting) return false;
    waiting_.push_back(std::move(work));
    if (!thread_.joinable()) thread_ = std::thread{[this] { this->work(); }};
  }
  changed_.notify_one();
  return true;
}

void blocking_worker::work() {
  std::unique_lock lock{guard_};
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next();
    next = nullptr;
    lock.lock();
  }
}

}  // namespace baton
