#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "storage/message.hpp"

namespace baton {

/// Messages of a stream with consecutive offsets: what it took in one turn. On the disk they are
/// one record.
struct stream_chunk {
  static constexpr std::size_t max_messages = 512;
  static constexpr std::uint64_t max_bytes = 64 << 10;  ///< the last message may exceed it

  std::uint64_t first = 0;
  std::uint64_t time_ms = 0;  ///< when it was taken, since 1970
  std::uint64_t bytes = 0;    ///< footprint of its messages
  std::vector<message> messages;

  stream_chunk() = default;
  stream_chunk(stream_chunk&&) noexcept = default;
  stream_chunk& operator=(stream_chunk&& other) noexcept {
    clear();
    first = other.first;
    time_ms = other.time_ms;
    bytes = std::exchange(other.bytes, 0);
    messages.swap(other.messages);
    return *this;
  }
  ~stream_chunk() { clear(); }

  std::uint64_t end() const noexcept { return first + messages.size(); }

  /// A large body ends its chunk, so that a record has at most one that it borrows.
  bool full() const noexcept {
    return messages.size() >= max_messages || bytes >= max_bytes ||
           (!messages.empty() && messages.back().large() != nullptr);
  }
  void add(message taken) {
    bytes += taken.footprint();
    messages.push_back(std::move(taken));
  }
  void clear() noexcept {
    slab_releases releases;
    for (auto& m : messages) std::move(m).release_through(releases);
    messages.clear();
    bytes = 0;
  }
};

/// The chunk that has `offset`, or else the next one behind it; nullptr: there is none. `chunks`
/// are in order.
template <class Chunks>
auto* find_chunk(Chunks& chunks, std::uint64_t offset) noexcept {
  const auto at = std::partition_point(chunks.begin(), chunks.end(),
                                       [&](const auto& c) { return c.end() <= offset; });
  return at == chunks.end() ? nullptr : &*at;
}

}  // namespace baton
