#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "config/ids.hpp"
#include "storage/message.hpp"

namespace baton {

/// A queue's loan of one message to one consumer. The queue keeps the message until the lease is
/// settled, except for a consumer without acknowledgements: there it has let go already.
struct lease {
  sequence number = 0;
  message content;
  std::uint32_t returns = 0;  ///< how often it was released before, 0 on the first hand-out
  bool redelivered = false;   ///< it was handed out before
};

/// Leases for one consumer that travel together, at most `batch::max_messages`; the last one may
/// take it over `batch::max_bytes`. When it goes, messages of one slab are released together; the
/// leases stay unsettled.
class lease_batch {
public:
  lease_batch() = default;
  explicit lease_batch(consumer_id to) noexcept : to_{to} {}
  lease_batch(lease_batch&& other) noexcept
      : to_{other.to_}, leases_{std::move(other.leases_)}, bytes_{std::exchange(other.bytes_, 0)} {
    other.leases_.clear();
  }
  lease_batch& operator=(lease_batch&& other) noexcept {
    clear();
    to_ = other.to_;
    leases_.swap(other.leases_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~lease_batch() { clear(); }

  consumer_id consumer() const noexcept { return to_; }
  bool empty() const noexcept { return leases_.empty(); }
  std::size_t size() const noexcept { return leases_.size(); }
  /// Footprint of its messages: what it costs in the consumer's byte credit.
  std::uint64_t bytes() const noexcept { return bytes_; }
  bool full() const noexcept {
    return leases_.size() >= batch::max_messages || bytes_ >= batch::max_bytes;
  }

  void reserve(std::size_t leases) { leases_.reserve(leases); }
  /// `footprint` is that of its message.
  void add(lease taken, std::uint64_t footprint) {
    bytes_ += footprint;
    leases_.push_back(std::move(taken));
  }

  lease& operator[](std::size_t i) { return leases_[i]; }
  const lease& operator[](std::size_t i) const { return leases_[i]; }
  auto begin() { return leases_.begin(); }
  auto end() { return leases_.end(); }
  auto begin() const { return leases_.begin(); }
  auto end() const { return leases_.end(); }

  void clear() noexcept {
    slab_releases releases;
    for (auto& l : leases_) std::move(l.content).release_through(releases);
    leases_.clear();
    bytes_ = 0;
  }

private:
  consumer_id to_;
  std::vector<lease> leases_;
  std::uint64_t bytes_ = 0;
};

/// How a lease ends.
enum class outcome : std::uint8_t {
  accept,   ///< done with it: the queue forgets the message
  reject,   ///< not wanted: dead-lettered where the queue says so, else forgotten
  release,  ///< back to its place, marked redelivered
};

/// Ends `count` leases with adjacent sequences, from `first` on.
struct settlement {
  sequence first = 0;
  std::uint32_t count = 1;
  outcome how = outcome::accept;

  friend bool operator==(const settlement&, const settlement&) = default;
};

}  // namespace baton
