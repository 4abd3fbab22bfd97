#pragma once

#include <atomic>
#include <cstdint>

namespace baton {

/// Counts the bytes that one thread has created and freed; the supervisor adds up all threads'
/// accounts. Memory that one thread creates and another frees leaves one account too high and the
/// other too low: only the sum means anything. Written by its own thread alone, read by any.
class memory_account {
public:
  void created(std::uint64_t bytes) noexcept { add(static_cast<std::int64_t>(bytes)); }
  void freed(std::uint64_t bytes) noexcept { add(-static_cast<std::int64_t>(bytes)); }

  /// Bytes created here less bytes freed here; may be negative.
  std::int64_t balance() const noexcept { return balance_.load(std::memory_order_relaxed); }

  /// The account of the calling thread: registered at first use, kept for the life of the program.
  static memory_account& of_this_thread() noexcept;

  /// What the whole program holds: the sum over all threads that ever had an account.
  static std::uint64_t total() noexcept;

private:
  // One writer: a load and a store, not a locked addition.
  void add(std::int64_t bytes) noexcept {
    balance_.store(balance_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  friend struct account_registry;
  std::atomic<std::int64_t> balance_{0};
  memory_account* next_ = nullptr;
};

}  // namespace baton
