#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace baton {

/// The publishes of a transaction that wait for its commit. They were checked and routed when they
/// came; `Publish` is whatever the channel needs to hand them on. What the client settles meanwhile
/// is set aside in the channel's `unsettled_table`.
///
/// Everything is bounded: `fits` is asked with the sum of both before either takes more.
template <class Publish>
class transaction {
public:
  explicit transaction(std::uint64_t max_bytes) : max_bytes_{max_bytes} {}

  std::uint64_t bytes() const noexcept { return bytes_; }
  std::size_t size() const noexcept { return publishes_.size(); }

  /// Whether `more` bytes may join, with `aside` bytes of settlements beside.
  bool fits(std::uint64_t more, std::uint64_t aside = 0) const noexcept {
    return bytes_ + aside <= max_bytes_ && more <= max_bytes_ - bytes_ - aside;
  }
  /// Keeps a publish that `fits`.
  void add(Publish taken, std::uint64_t bytes) {
    publishes_.push_back(std::move(taken));
    bytes_ += bytes;
  }

  /// tx.commit: the publishes, in the order in which they came; the next transaction begins. Until
  /// commit-ok is sent no other command may come (`committing`, 504).
  std::vector<Publish> commit() {
    committing_ = true;
    bytes_ = 0;
    return std::exchange(publishes_, {});
  }
  void committed() noexcept { committing_ = false; }
  bool committing() const noexcept { return committing_; }

  /// tx.rollback: forgets them.
  void rollback() noexcept {
    publishes_.clear();
    bytes_ = 0;
  }

private:
  std::vector<Publish> publishes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t max_bytes_;
  bool committing_ = false;
};

}  // namespace baton
