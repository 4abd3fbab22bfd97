#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace baton {

class large_body;
class slab_pool;

/// Memory of one batch: its messages and their small bodies side by side, filled once by one thread
/// and then only read. Each message in it holds it; with the last one it goes back, whole, to the
/// pool of the thread that made it, from whichever thread.
///
/// A slab is not copied and not resized. Capacities are rounded up to a few classes so that pools
/// can hand them out again; what exceeds the largest class is allocated and freed singly.
class slab {
public:
  slab(const slab&) = delete;
  slab& operator=(const slab&) = delete;

  /// A slab for at least `capacity` bytes, from the calling thread's pool. It begins with one
  /// holder: whoever fills it.
  static slab* open(std::size_t capacity);
  /// A slab for `capacity` bytes and no more, allocated and freed singly: for what will stay long.
  static slab* open_exactly(std::size_t capacity);

  /// Bytes that can still be taken.
  std::size_t room() const noexcept { return capacity_ - used_; }
  std::size_t capacity() const noexcept { return capacity_; }

  /// Takes `size` bytes, aligned for any record; there must be room for them.
  std::byte* take(std::size_t size) noexcept {
    auto* at = data() + used_;
    used_ += static_cast<std::uint32_t>(rounded(size));
    return at;
  }
  /// How many messages (or whoever fills it) hold it at the moment.
  std::uint32_t holders() const noexcept { return holders_.load(std::memory_order_relaxed); }
  /// What `take(size)` uses up.
  static constexpr std::size_t rounded(std::size_t size) noexcept {
    return (size + 7) & ~std::size_t{7};
  }

  /// Keeps a large body alive as long as this slab lives.
  void attach(large_body* body) noexcept;

  void hold(std::uint32_t times = 1) noexcept {
    holders_.fetch_add(times, std::memory_order_relaxed);
  }
  /// The last release gives the memory back.
  void release(std::uint32_t times = 1) noexcept {
    if (holders_.fetch_sub(times, std::memory_order_acq_rel) == times) give_back();
  }

private:
  friend class slab_pool;
  slab(slab_pool* home, std::uint32_t capacity) noexcept : home_{home}, capacity_{capacity} {}

  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  void give_back() noexcept;

  slab_pool* home_;  // nullptr: allocated singly
  slab* next_ = nullptr;
  large_body* bodies_ = nullptr;
  std::atomic<std::uint32_t> holders_{1};
  std::uint32_t capacity_;
  std::uint32_t used_ = 0;
};

/// Gathers holds of one slab after another, so that a run of forks of neighbours costs one atomic
/// operation. Whoever forks keeps the originals until this has been flushed, which its end does.
class slab_holds {
public:
  slab_holds() = default;
  slab_holds(const slab_holds&) = delete;
  slab_holds& operator=(const slab_holds&) = delete;
  ~slab_holds() { flush(); }

  void add(slab* held) noexcept {
    if (held != last_) {
      flush();
      last_ = held;
    }
    ++count_;
  }
  void flush() noexcept {
    if (count_ > 0) last_->hold(std::exchange(count_, 0));
  }

private:
  slab* last_ = nullptr;
  std::uint32_t count_ = 0;
};

/// Gathers releases of one slab after another, so that a run of messages that lie in one slab costs
/// one atomic operation. Releases what is left when it goes.
class slab_releases {
public:
  slab_releases() = default;
  slab_releases(const slab_releases&) = delete;
  slab_releases& operator=(const slab_releases&) = delete;
  ~slab_releases() { flush(); }

  void add(slab* held) noexcept {
    if (held != last_) {
      flush();
      last_ = held;
    }
    ++count_;
  }
  void flush() noexcept {
    if (count_ > 0) last_->release(std::exchange(count_, 0));
  }

private:
  slab* last_ = nullptr;
  std::uint32_t count_ = 0;
};

}  // namespace baton
