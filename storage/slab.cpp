#include "storage/slab.hpp"

#include <array>
#include <cstdlib>
#include <new>

#include "storage/large_body.hpp"
#include "storage/memory_account.hpp"

namespace baton {

namespace {

constexpr std::array<std::uint32_t, 5> class_capacities{256, 1024, 4096, 16384, 73728};

// Idle memory that a pool keeps for its next batches; more than that goes back to the system.
constexpr std::size_t pool_keeps_bytes = 2 << 20;

std::size_t class_of(std::size_t capacity) noexcept {
  std::size_t c = 0;
  while (c < class_capacities.size() && class_capacities[c] < capacity) ++c;
  return c;
}

}  // namespace

/// The idle slabs of one thread. The thread takes from private lists; what other threads give back
/// waits on one shared stack, which the owner empties in one exchange when a list runs dry. Pools
/// are never freed: a slab may come home after its thread has ended.
class slab_pool {
public:
  slab* take(std::size_t size_class) {
    if (idle_[size_class] == nullptr) collect_returned();
    if (auto* s = idle_[size_class]) {
      idle_[size_class] = s->next_;
      idle_bytes_ -= s->capacity_;
      s->next_ = nullptr;
      s->used_ = 0;
      s->holders_.store(1, std::memory_order_relaxed);
      return s;
    }
    return allocate(this, class_capacities[size_class]);
  }

  void give_back(slab* s) noexcept {
    if (this == of_this_thread())
      keep(s);
    else
      push_returned(s);
  }

  static slab* allocate(slab_pool* home, std::uint32_t capacity) {
    void* memory = std::malloc(sizeof(slab) + capacity);
    if (memory == nullptr) throw std::bad_alloc{};
    return new (memory) slab{home, capacity};
  }
  static void free(slab* s) noexcept {
    s->~slab();
    std::free(s);
  }

  static slab_pool* of_this_thread() noexcept {
    thread_local slab_pool* const mine = in_list_of_all(new slab_pool);
    return mine;
  }

private:
  /// A pool outlives its thread, for slabs that are still on their way back to it; the list keeps
  /// it reachable, so that leak checkers tell it from a leak.
  static slab_pool* in_list_of_all(slab_pool* pool) noexcept {
    static std::atomic<slab_pool*> all{nullptr};
    pool->next_pool_ = all.load(std::memory_order_relaxed);
    while (!all.compare_exchange_weak(pool->next_pool_, pool, std::memory_order_release,
                                      std::memory_order_relaxed)) {
    }
    return pool;
  }

  void keep(slab* s) noexcept {
    if (idle_bytes_ + s->capacity_ > pool_keeps_bytes) return free(s);
    auto& head = idle_[class_of(s->capacity_)];
    s->next_ = head;
    head = s;
    idle_bytes_ += s->capacity_;
  }

  void push_returned(slab* s) noexcept {
    s->next_ = returned_.load(std::memory_order_relaxed);
    while (!returned_.compare_exchange_weak(s->next_, s, std::memory_order_release,
                                            std::memory_order_relaxed)) {
    }
  }

  void collect_returned() noexcept {
    auto* s = returned_.exchange(nullptr, std::memory_order_acquire);
    while (s != nullptr) {
      auto* next = s->next_;
      keep(s);
      s = next;
    }
  }

  std::array<slab*, class_capacities.size()> idle_{};
  std::size_t idle_bytes_ = 0;
  slab_pool* next_pool_ = nullptr;
  alignas(64) std::atomic<slab*> returned_{nullptr};
};

slab* slab::open(std::size_t capacity) {
  auto c = class_of(capacity);
  slab* opened = c < class_capacities.size()
                     ? slab_pool::of_this_thread()->take(c)
                     : slab_pool::allocate(nullptr, static_cast<std::uint32_t>(rounded(capacity)));
  memory_account::of_this_thread().created(opened->capacity_);
  return opened;
}

slab* slab::open_exactly(std::size_t capacity) {
  auto* opened = slab_pool::allocate(nullptr, static_cast<std::uint32_t>(rounded(capacity)));
  memory_account::of_this_thread().created(opened->capacity_);
  return opened;
}

void slab::attach(large_body* body) noexcept {
  body->next_in_slab_ = bodies_;
  bodies_ = body;
}

void slab::give_back() noexcept {
  memory_account::of_this_thread().freed(capacity_);
  while (bodies_ != nullptr) {
    auto* body = bodies_;
    bodies_ = body->next_in_slab_;
    delete body;
  }
  if (home_ != nullptr)
    home_->give_back(this);
  else
    slab_pool::free(this);
}

}  // namespace baton
