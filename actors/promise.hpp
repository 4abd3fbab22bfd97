#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "actors/runtime/actor_ref.hpp"

namespace baton {

/// The answer to what a promise was made for. Without a value: whoever should have answered had
/// ended before, or ended instead.
template <class T>
struct answer {
  std::uint64_t ticket = 0;
  std::optional<T> value;
};

/// Travels with a question and is kept exactly once: with a value by whoever answers, or without
/// one when it is destroyed on the way. So nobody waits for an actor that has just died.
template <class T>
class promise {
public:
  promise() = default;

  /// `ticket` means something to the asker only; it comes back with the answer.
  promise(actor_ref<answer<T>> asker, std::uint64_t ticket)
      : asker_{std::move(asker)}, ticket_{ticket} {}
  promise(promise&& other) noexcept
      : asker_{std::exchange(other.asker_, {})}, ticket_{other.ticket_} {}
  promise& operator=(promise&& other) noexcept {
    std::swap(asker_, other.asker_);
    std::swap(ticket_, other.ticket_);
    return *this;
  }
  ~promise() {
    if (asker_) asker_.send(answer<T>{ticket_, std::nullopt});
  }

  explicit operator bool() const noexcept { return static_cast<bool>(asker_); }

  void keep(T value) && {
    if (auto asker = std::exchange(asker_, {})) asker.send(answer<T>{ticket_, std::move(value)});
  }

private:
  actor_ref<answer<T>> asker_;
  std::uint64_t ticket_ = 0;
};

}  // namespace baton
