#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace baton {

/// A value that many hold and one writer changes by copy on write. Holders see `const T`; whoever
/// calls `edit()` gets a value that nobody else holds: this one if it is the only holder, else a
/// copy. So a writer pays for a copy once after each publication, not once a change.
///
/// Counting is atomic, for holders on several loops; one `shared` object itself belongs to one
/// thread at a time. Costs one allocation, and 8 bytes a holder.
template <class T>
class shared {
public:
  shared() noexcept = default;
  shared(const shared& other) noexcept : box_{other.box_} {
    if (box_ != nullptr) box_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  shared(shared&& other) noexcept : box_{std::exchange(other.box_, nullptr)} {}
  shared& operator=(shared other) noexcept {
    std::swap(box_, other.box_);
    return *this;
  }
  ~shared() { release(); }

  template <class... Arguments>
  static shared make(Arguments&&... arguments) {
    shared made;
    made.box_ = new box{T{std::forward<Arguments>(arguments)...}};
    return made;
  }

  explicit operator bool() const noexcept { return box_ != nullptr; }
  const T* get() const noexcept { return box_ == nullptr ? nullptr : &box_->value; }
  const T& operator*() const noexcept { return box_->value; }
  const T* operator->() const noexcept { return &box_->value; }
  /// Identity, not value.
  friend bool operator==(const shared& a, const shared& b) noexcept { return a.box_ == b.box_; }

  /// The value, held by nobody else. The holder must not be empty.
  T& edit() {
    // Acquire: whatever former holders read happened before they let go.
    if (box_->holders.load(std::memory_order_acquire) != 1) {
      box* copy = new box{box_->value};
      release();
      box_ = copy;
    }
    return box_->value;
  }

private:
  struct box {
    explicit box(T initial) : value{std::move(initial)} {}
    T value;
    std::atomic<std::uint32_t> holders{1};
  };

  void release() noexcept {
    if (box_ != nullptr && box_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete box_;
  }

  box* box_ = nullptr;
};

}  // namespace baton
