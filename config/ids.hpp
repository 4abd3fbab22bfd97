#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace baton {

/// A number that names one thing of one kind; numbers of different kinds do not mix.
template <class Tag, class Number = std::uint64_t>
struct id {
  using number_type = Number;

  Number value = 0;

  friend constexpr auto operator<=>(id, id) = default;
};

/// Given once by the topology, never reused while the node runs.
using queue_id = id<struct queue_tag>;
using exchange_id = id<struct exchange_tag>;
/// One for each accepted socket or attached in-process end, never reused while the node runs.
using connection_id = id<struct connection_tag>;
/// One for each subscription, never reused while the node runs.
using consumer_id = id<struct consumer_tag>;

/// The number that a queue gives a message on arrival, once for ever; the first is 1.
using sequence = std::uint64_t;

}  // namespace baton

template <class Tag, class Number>
struct std::hash<baton::id<Tag, Number>> {
  std::size_t operator()(baton::id<Tag, Number> name) const noexcept {
    return std::hash<Number>{}(name.value);
  }
};
