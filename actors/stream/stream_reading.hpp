#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/result.hpp"
#include "storage/byte_view.hpp"

namespace baton {

/// Where a reader of a stream begins.
struct stream_start {
  enum class kind : std::uint8_t {
    first,   ///< the oldest message that is kept
    last,    ///< the first message of what the stream took last
    next,    ///< what comes from now on
    offset,  ///< `value`; from the oldest on where that is gone, waits where it is still to come
    time,    ///< the first message that was taken at `value`, in ms since 1970, or later
  };
  kind from = kind::next;
  std::uint64_t value = 0;

  friend bool operator==(const stream_start&, const stream_start&) = default;
};

/// What a reader of a stream asks for beyond what every consumer may.
struct stream_reading {
  stream_start start;
  /// Only messages whose header `x-stream-filter-value` is one of these; empty: all.
  std::vector<std::string> filter;
  bool match_unfiltered = false;  ///< with a filter, also those that have no such header

  bool wants(std::optional<std::string_view> filter_value) const noexcept;

  friend bool operator==(const stream_reading&, const stream_reading&) = default;
};

/// From the arguments of a basic.consume, still encoded: `x-stream-offset` (first, last, next, an
/// offset, a timestamp, or an age like "1h"), `x-stream-filter` (a string or an array of them),
/// `x-stream-match-unfiltered`. `now_ms`: since 1970. An error says which one is wrong and what was
/// expected.
result<stream_reading> parse_stream_reading(byte_view arguments, std::uint64_t now_ms);

}  // namespace baton
