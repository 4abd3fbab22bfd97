#pragma once

#include <algorithm>
#include <cstdint>

namespace baton {

/// How much of the node's memory one queue may hold before its own publishers wait.
///
/// Its share, while it alone holds much. As memory fills up, less, in proportion to what is left
/// below a line that lies under the node's high mark, where all publishers have to wait. So however
/// many queues nobody consumes from, they come to rest below the line, and something is left for
/// those whose messages come and go: with a share of half the line, n queues rest at 1/(n + 1) of
/// it each, and as much is left.
class queue_allowance {
public:
  /// What is less than that holds up nobody's publishers.
  static constexpr std::uint64_t floor = 64 << 10;

  queue_allowance(std::uint64_t share, std::uint64_t line) noexcept
      : share_{share}, line_{line}, of_what_is_left_{ratio(share, line)} {}

  /// The allowance while the node holds `held_by_node` bytes in all.
  std::uint64_t bytes(std::uint64_t held_by_node) const noexcept {
    const auto left = line_ - std::min(line_, held_by_node);
    const auto fair = static_cast<std::uint64_t>(of_what_is_left_ * static_cast<double>(left));
    return std::min(share_, std::max(fair, floor));
  }

private:
  /// A queue alone comes to rest where it holds `share` and `line - share` is left.
  static double ratio(std::uint64_t share, std::uint64_t line) noexcept {
    const auto alone = static_cast<double>(std::min(share, line / 10 * 9));
    return alone / (static_cast<double>(line) - alone);
  }

  std::uint64_t share_;
  std::uint64_t line_;
  double of_what_is_left_;
};

}  // namespace baton
