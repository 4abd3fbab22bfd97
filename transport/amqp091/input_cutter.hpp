#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "config/check.hpp"
#include "storage/byte_view.hpp"
#include "transport/amqp091/wire.hpp"

namespace baton::amqp091 {

/// What a step did with the bytes that it was shown.
struct progress {
  std::size_t consumed = 0;  ///< 0: nothing can be done yet ...
  std::size_t needed = 0;    ///< ... before this many bytes from the same start are there

  /// Nothing can be done however many bytes come: keep them until `resume`.
  static constexpr progress paused() noexcept {
    return {0, std::numeric_limits<std::size_t>::max()};
  }
};

/// Cuts a stream of bytes, arriving in pieces of any size, into units that a `step` consumes.
///
/// Steps see the caller's own memory wherever a unit is whole in it. Only a unit that is cut by the
/// end of a piece is copied, together with just as much of the next piece as makes it whole; when
/// nothing is cut, no memory is held.
class input_cutter {
public:
  /// `step(byte_view) -> progress`, called as long as there is something to consume.
  template <class Step>
  void feed(byte_view input, Step&& step) {
    while (true) {
      if (held() == 0) {
        feed_directly(input, step);
        return;
      }
      top_up(input);
      if (held() < needed_) return;
      const progress made = step(held_view());
      if (made.consumed == 0) {
        BATON_CHECK(made.needed > held());
        needed_ = made.needed;
        if (input.empty()) return;
      } else {
        drop(made.consumed);
      }
    }
  }

  /// Looks again at what was kept while paused.
  template <class Step>
  void resume(Step&& step) {
    needed_ = 0;
    feed({}, step);
  }

  /// Bytes kept for later.
  std::size_t held() const noexcept { return rest_.size() - begin_; }

private:
  template <class Step>
  void feed_directly(byte_view input, Step& step) {
    while (!input.empty()) {
      const progress made = step(input);
      if (made.consumed == 0) {
        BATON_CHECK(made.needed > input.size());
        needed_ = made.needed;
        rest_.append(input);
        return;
      }
      input = input.subspan(made.consumed);
    }
  }
  void top_up(byte_view& input) {
    if (input.empty() || needed_ <= held()) return;
    const auto taken = std::min(input.size(), needed_ - held());
    rest_.append(input.first(taken));
    input = input.subspan(taken);
  }
  byte_view held_view() const noexcept { return rest_.view().subspan(begin_); }
  void drop(std::size_t size) noexcept {
    begin_ += size;
    needed_ = 0;
    if (held() > 0) return;
    rest_.release();
    begin_ = 0;
  }

  output_buffer rest_;
  std::size_t begin_ = 0;  // what is before it in rest_ was consumed
  std::size_t needed_ = 0;
};

}  // namespace baton::amqp091
