#pragma once

#include <string>
#include <utility>
#include <variant>

#include "config/check.hpp"

namespace baton {

/// What went wrong, for a person: names what, where and what was expected.
struct error {
  std::string text;

  friend bool operator==(const error&, const error&) = default;
};

/// Wraps an error on its way into a `result`: `return failure{error{"..."}};`
template <class E>
struct failure {
  E value;
};
template <class E>
failure(E) -> failure<E>;

/// A value, or the reason why there is none. For everything that peers, clients and disks can do;
/// our own broken invariants are `BATON_CHECK`s.
template <class T, class E = error>
class [[nodiscard]] result {
public:
  using value_type = T;
  using error_type = E;

  result(T value) : state_{std::in_place_index<0>, std::move(value)} {}
  template <class F>
  result(failure<F> why) : state_{std::in_place_index<1>, std::move(why.value)} {}

  explicit operator bool() const noexcept { return state_.index() == 0; }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// The value; asking a failed result for it is a broken invariant.
  T& value() & {
    BATON_CHECK(state_.index() == 0);
    return std::get<0>(state_);
  }
  const T& value() const& {
    BATON_CHECK(state_.index() == 0);
    return std::get<0>(state_);
  }

  /// The reason; asking a good result for it is a broken invariant.
  E& reason() & {
    BATON_CHECK(state_.index() == 1);
    return std::get<1>(state_);
  }
  const E& reason() const& {
    BATON_CHECK(state_.index() == 1);
    return std::get<1>(state_);
  }

private:
  std::variant<T, E> state_;
};

/// A result without a value: it went well, or why not.
template <class E>
class [[nodiscard]] result<void, E> {
public:
  using error_type = E;

  result() = default;
  template <class F>
  result(failure<F> why) : state_{std::in_place_index<1>, std::move(why.value)} {}

  explicit operator bool() const noexcept { return state_.index() == 0; }

  E& reason() & {
    BATON_CHECK(state_.index() == 1);
    return std::get<1>(state_);
  }
  const E& reason() const& {
    BATON_CHECK(state_.index() == 1);
    return std::get<1>(state_);
  }

private:
  std::variant<std::monostate, E> state_;
};

}  // namespace baton
