#pragma once

#include <cstdint>
#include <vector>

#include "actors/queue/chunk_directory.hpp"

namespace baton {

/// A basic.ack or basic.nack to the publisher.
struct confirmation {
  std::uint64_t tag = 0;
  bool multiple = false;  ///< all up to `tag` that were not settled before
  bool refused = false;   ///< nack

  friend bool operator==(const confirmation&, const confirmation&) = default;
};

/// Publisher confirms of one AMQP channel: batches complete in any order, the publisher hears about
/// each publish exactly once, in as few frames as the order of completions allows.
///
/// `multiple` never covers a publish that is still open, nor one whose opposite answer is still to
/// be sent. What completed behind an open one is confirmed singly, at once: nobody waits for
/// others.
class confirm_tracker {
public:
  confirm_tracker() = default;
  ~confirm_tracker();
  confirm_tracker(const confirm_tracker&) = delete;
  confirm_tracker& operator=(const confirm_tracker&) = delete;

  /// Numbers one more publish, from 1 on.
  std::uint64_t publish();
  /// Publishes that have not completed.
  std::uint64_t open() const noexcept { return open_; }

  /// `count` (up to 64) publishes from `first` on have completed; bit i of `refused` is set when
  /// the one with sequence `first + i` was refused. Each completes once.
  void complete(std::uint64_t first, std::uint32_t count, std::uint64_t refused = 0);

  /// Appends what the publisher has to be told since the last call, in the order of the tags.
  void take(std::vector<confirmation>& out);

private:
  /// 64 publishes: numbered and not yet completed; completed and not yet told; refused.
  struct chunk {
    std::uint64_t number = 0;
    std::uint64_t open = 0;
    std::uint64_t untold = 0;
    std::uint64_t refused = 0;
  };

  /// The lowest sequence that has not completed.
  std::uint64_t first_open() const noexcept;
  void close_if_done(chunk& c) noexcept;

  std::uint64_t next_ = 1;
  std::uint64_t open_ = 0;
  chunk* tail_ = nullptr;
  chunk_directory<chunk> chunks_;
  std::vector<std::uint64_t> touched_;  // the numbers of chunks with something untold
};

}  // namespace baton
