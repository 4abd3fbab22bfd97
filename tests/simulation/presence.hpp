#pragma once

#include <cstdint>

namespace baton::simulation {

/// What is known of whether something exists (a queue, a binding) that several clients make and
/// remove at once: they know when they have asked for it and when they were answered, and it has
/// happened in between.
class presence {
public:
  enum class state : std::uint8_t { there, absent, doubtful };
  /// What is to be known when the answer comes.
  struct request {
    std::uint64_t opposite;  // how many had asked for the opposite
    bool alone;              // all of those had been answered
  };
  /// A moment to ask about later; 0: one when nobody could be sure that it exists.
  using moment = std::uint64_t;

  explicit presence(bool exists) : now_{exists ? state::there : state::absent} {}

  state now() const noexcept { return now_; }
  bool is_there() const noexcept { return now_ == state::there; }

  /// This moment, if it exists for sure.
  moment since() const noexcept { return is_there() ? removals_.asked + 1 : 0; }
  /// Whether it has existed ever since, and is still the same.
  bool is_sure_since(moment then) const noexcept { return then == removals_.asked + 1; }
  /// Whether what was asked for at `then` can only have met what was made after this removal.
  static bool is_after(moment then, std::uint64_t removal) noexcept { return then > removal; }

  request ask_creation() noexcept {
    if (now_ == state::absent) now_ = state::doubtful;
    return creations_.ask(removals_);
  }
  void answer_creation(request asked) noexcept {
    if (creations_.answer(asked, removals_)) now_ = state::there;
  }

  request ask_removal() noexcept {
    now_ = state::doubtful;
    return removals_.ask(creations_);
  }
  void answer_removal(request asked) noexcept {
    if (removals_.answer(asked, creations_)) now_ = state::absent;
  }
  /// It is gone, and everybody knows; nothing that was asked for is under way any more.
  void vanish() noexcept {
    now_ = state::absent;
    ++removals_.asked;
  }
  /// The number of the removal that was asked for last, from 1 on.
  std::uint64_t last_removal() const noexcept { return removals_.asked; }

  /// What was asked for will not happen.
  void give_up_creation() noexcept { --creations_.open; }
  void give_up_removal() noexcept { --removals_.open; }

private:
  struct side {
    std::uint64_t asked = 0;
    std::uint64_t open = 0;

    request ask(const side& other) noexcept {
      ++asked;
      ++open;
      return {other.asked, other.open == 0};
    }
    /// Whether nobody can have undone it.
    bool answer(request r, const side& other) noexcept {
      --open;
      return r.alone && other.asked == r.opposite;
    }
  };

  state now_;
  side creations_;
  side removals_;
};

}  // namespace baton::simulation
