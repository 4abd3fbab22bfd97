#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "config/result.hpp"

namespace baton::perf {

/// Something with a file descriptor in an event loop.
class pollable {
public:
  virtual ~pollable() = default;
  virtual void on_events(std::uint32_t epoll_events) = 0;
};

/// One thread's sockets: epoll, the receive buffer that all its connections share (an idle
/// connection holds none), a wake-up from other threads, and the first thing that went wrong.
class event_loop {
public:
  event_loop();
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;
  ~event_loop();

  void add(int fd, std::uint32_t events, pollable& owner);
  void change(int fd, std::uint32_t events, pollable& owner);
  /// Events that were already fetched for `owner` are dropped.
  void remove(int fd, pollable& owner);

  /// Waits for events at most until `deadline_ns` (clock.hpp), to the microsecond, and hands them
  /// out. A deadline in the past polls.
  void turn(std::int64_t deadline_ns);
  /// From any thread: runs `task` in the loop's next turn and gives its answer.
  template <class Task>
  auto ask(Task task) -> std::future<decltype(task())> {
    auto packaged = std::make_shared<std::packaged_task<decltype(task())()>>(std::move(task));
    auto answer = packaged->get_future();
    post([packaged] { (*packaged)(); });
    return answer;
  }

  /// The run is over because of `text`; the first call counts.
  void fail(std::string text);
  bool failed() const noexcept { return !failure_.empty(); }
  error why() const { return error{failure_}; }

  std::vector<std::uint8_t>& receive_buffer() noexcept { return receive_buffer_; }

private:
  void post(std::function<void()> task);
  void run_posted();

  static constexpr std::size_t receive_buffer_bytes = 512 * 1024;

  int epoll_ = -1;
  int wake_ = -1;
  std::vector<std::uint8_t> receive_buffer_;
  std::vector<pollable*> removed_;  // during one turn
  std::string failure_;
  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;
};

/// Raises this process's limit of open files to what it may have; returns the limit.
std::uint64_t raise_file_limit();

}  // namespace baton::perf
