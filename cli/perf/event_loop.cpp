#include "cli/perf/event_loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "cli/perf/clock.hpp"
#include "config/check.hpp"

namespace baton::perf {

event_loop::event_loop()
    : epoll_{epoll_create1(EPOLL_CLOEXEC)},
      wake_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)},
      receive_buffer_(receive_buffer_bytes) {
  BATON_CHECK(epoll_ >= 0 && wake_ >= 0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
}

event_loop::~event_loop() {
  close(wake_);
  close(epoll_);
}

void event_loop::add(int fd, std::uint32_t events, pollable& owner) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &owner;
  BATON_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0);
}

void event_loop::change(int fd, std::uint32_t events, pollable& owner) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &owner;
  BATON_CHECK(epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event) == 0);
}

void event_loop::remove(int fd, pollable& owner) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
  removed_.push_back(&owner);
}

void event_loop::turn(std::int64_t deadline_ns) {
  std::array<epoll_event, 256> events;
  const std::int64_t wait_ns = std::max<std::int64_t>(deadline_ns - now_ns(), 0);
  const timespec wait{wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
  const int count = epoll_pwait2(epoll_, events.data(), events.size(), &wait, nullptr);
  removed_.clear();
  for (int i = 0; i < count; ++i) {
    auto* owner = static_cast<pollable*>(events[static_cast<std::size_t>(i)].data.ptr);
    if (owner == nullptr) {
      run_posted();
    } else if (removed_.empty() ||
               std::find(removed_.begin(), removed_.end(), owner) == removed_.end()) {
      owner->on_events(events[static_cast<std::size_t>(i)].events);
    }
  }
}

void event_loop::post(std::function<void()> task) {
  {
    const std::lock_guard lock{posted_mutex_};
    posted_.push_back(std::move(task));
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto ignored = write(wake_, &one, sizeof one);
}

void event_loop::run_posted() {
  std::uint64_t wakes;
  [[maybe_unused]] const auto ignored = read(wake_, &wakes, sizeof wakes);
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock{posted_mutex_};
    tasks.swap(posted_);
  }
  for (auto& task : tasks) task();
}

void event_loop::fail(std::string text) {
  if (failure_.empty()) failure_ = text.empty() ? "unknown failure" : std::move(text);
}

std::uint64_t raise_file_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace baton::perf
