#include "storage/memory_account.hpp"

namespace baton {

// A list that only grows. An account outlives its thread: what the thread created may be freed
// elsewhere later, and the sum must stay right.
struct account_registry {
  static inline std::atomic<memory_account*> first{nullptr};

  static memory_account* enroll() {
    auto* account = new memory_account;
    account->next_ = first.load(std::memory_order_relaxed);
    while (!first.compare_exchange_weak(account->next_, account, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
    return account;
  }

  static std::int64_t sum() noexcept {
    std::int64_t bytes = 0;
    for (auto* a = first.load(std::memory_order_acquire); a != nullptr; a = a->next_)
      bytes += a->balance();
    return bytes;
  }
};

memory_account& memory_account::of_this_thread() noexcept {
  thread_local memory_account* const mine = account_registry::enroll();
  return *mine;
}

std::uint64_t memory_account::total() noexcept {
  // Threads go on while we add: a sum may be off by what is in flight, even below zero.
  auto bytes = account_registry::sum();
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

}  // namespace baton
