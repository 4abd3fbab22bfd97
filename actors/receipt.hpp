#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace baton {

/// What a receipt completes: a run of publishes of one AMQP channel, up to
/// `receipt::max_publishes` of them, whatever number of queues they were routed to.
struct receipt_run {
  std::uint16_t channel = 0;
  std::uint32_t incarnation = 0;  // of the AMQP channel: its number may have been opened anew
  std::uint64_t first = 0;        // publish sequence of the first, counted for each AMQP channel
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;  // credit that comes back with it
};

/// What became of the credit that a run had cost.
enum class credit_state : std::uint8_t {
  returned,  ///< it is there again
  apart,     ///< it has a notice of its own: messages are taken over before they are stored
  paced,     ///< a queue keeps it back for a moment, until its consumers' sockets have caught up
  withheld,  ///< a queue at its share of memory keeps it back
};

/// The publisher's side of its receipts. Called on whichever thread lets go last.
class receipt_owner {
public:
  /// Every queue has taken over what was published in `run`, and what is to be stored is stored.
  /// Unless the credit has come back with it, `credit_paid` follows with the same `credit`; if that
  /// is `apart`, or messages were stored, it may also have come before.
  virtual void completed(receipt_run run, credit_state credit) noexcept = 0;
  virtual void credit_paid(std::uint64_t bytes, credit_state credit) noexcept = 0;
  /// A queue has refused some; arrives ahead of the `completed` that covers them.
  virtual void refused(std::uint16_t channel, std::uint32_t incarnation,
                       std::vector<std::uint64_t> sequences) noexcept = 0;

  receipt_owner() = default;
  receipt_owner(const receipt_owner&) = delete;
  receipt_owner& operator=(const receipt_owner&) = delete;
  virtual ~receipt_owner() = default;
};

namespace detail {

struct receipt_state {
  receipt_state(std::shared_ptr<receipt_owner> to, receipt_run of)
      : owner{std::move(to)}, run{of} {}

  // Each holder counts as one that has not stored its messages (low half), and, until it has taken
  // them over, as one that owes the credit (high half).
  static constexpr std::uint64_t unstored = 1;
  static constexpr std::uint64_t untaken = std::uint64_t{1} << 32;

  std::atomic<std::uint64_t> holders{unstored + untaken};
  // Queues that keep credit back, and one more for all holders together.
  std::atomic<std::uint32_t> creditors{1};
  // Where completion and credit part: the later one frees this.
  std::atomic<std::uint32_t> notices{2};
  std::atomic<credit_state> credit{credit_state::returned};
  std::shared_ptr<receipt_owner> owner;
  receipt_run run;

  void drop(std::uint64_t what) noexcept {
    const auto left = holders.fetch_sub(what, std::memory_order_acq_rel) - what;
    const bool stored = left % untaken == 0;
    const bool taken = what >= untaken && left < untaken;
    if (stored && taken && creditors.load(std::memory_order_acquire) == 1) {
      owner->completed(run, credit_state::returned);
      delete this;
      return;
    }
    if (!stored) {
      if (taken) drop_creditor();
      return;
    }
    // Told before the creditors' count falls: a debt paid at the same time must come second.
    owner->completed(run, credit.load(std::memory_order_relaxed));
    if (taken) drop_creditor();
    drop_notice();
  }
  void drop_creditor() noexcept {
    if (creditors.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    owner->credit_paid(run.bytes, credit.load(std::memory_order_relaxed));
    drop_notice();
  }
  /// The strongest of all reasons holds.
  void keep_credit_apart(credit_state why) noexcept {
    auto now = credit.load(std::memory_order_relaxed);
    while (now < why && !credit.compare_exchange_weak(now, why, std::memory_order_relaxed)) {
    }
  }

private:
  void drop_notice() noexcept {
    if (notices.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

}  // namespace detail

/// Credit that a queue keeps back from a publisher. Letting go of the last one for a run pays it.
class credit_debt {
public:
  credit_debt(credit_debt&& other) noexcept : state_{std::exchange(other.state_, nullptr)} {}
  credit_debt& operator=(credit_debt&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~credit_debt() {
    if (state_ != nullptr) state_->drop_creditor();
  }

private:
  friend class receipt;
  explicit credit_debt(detail::receipt_state* state) noexcept : state_{state} {}

  detail::receipt_state* state_;
};

/// What is left of a receipt once its messages were taken over: the credit goes back, the run is
/// complete only when they are stored. Letting go says that they are.
class storing_receipt {
public:
  storing_receipt() = default;
  storing_receipt(storing_receipt&& other) noexcept
      : state_{std::exchange(other.state_, nullptr)} {}
  storing_receipt& operator=(storing_receipt&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~storing_receipt() {
    if (state_ != nullptr) state_->drop(detail::receipt_state::unstored);
  }

  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// As `receipt::owner`, `channel` and `incarnation`.
  receipt_owner& owner() const noexcept { return *state_->owner; }
  std::uint16_t channel() const noexcept { return state_->run.channel; }
  std::uint32_t incarnation() const noexcept { return state_->run.incarnation; }

private:
  friend class receipt;
  explicit storing_receipt(detail::receipt_state* state) noexcept : state_{state} {}

  detail::receipt_state* state_ = nullptr;
};

/// One holder of the counted completion of a published run. Each batch that carries a part of the
/// run holds one, from the publisher to the queue, which lets go when it has taken the messages
/// over (or has sent word that it refuses some); what is to be stored goes on as a
/// `storing_receipt`. The last one to go completes the run, also when a
/// batch was destroyed on the way because its queue had just died: no publisher waits for ever.
class receipt {
public:
  static constexpr std::uint32_t max_publishes = 1024;

  receipt() = default;
  receipt(receipt&& other) noexcept : state_{std::exchange(other.state_, nullptr)} {}
  receipt& operator=(receipt&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~receipt() { release(); }

  /// The first holder; `owner` is kept until the run is complete and its credit paid.
  static receipt open(std::shared_ptr<receipt_owner> owner, receipt_run run) {
    return receipt{new detail::receipt_state{std::move(owner), run}};
  }

  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// A second holder.
  receipt share() const noexcept {
    state_->holders.fetch_add(both, std::memory_order_relaxed);
    return receipt{state_};
  }

  /// The run, which grows while the publisher fills it and is fixed once the publisher has let go.
  /// Only for the publisher, on its own thread.
  receipt_run& run() noexcept { return state_->run; }

  /// Who is to be told of refused publishes, and of which AMQP channel: fixed from the start, may
  /// be asked by any holder.
  receipt_owner& owner() const noexcept { return *state_->owner; }
  std::uint16_t channel() const noexcept { return state_->run.channel; }
  std::uint32_t incarnation() const noexcept { return state_->run.incarnation; }
  bool same_run(const receipt& other) const noexcept { return state_ == other.state_; }

  /// Keeps the publisher's credit back until the debt is let go too. `why`: paced or withheld.
  credit_debt owe(credit_state why) const noexcept {
    state_->creditors.fetch_add(1, std::memory_order_relaxed);
    state_->keep_credit_apart(why);
    return credit_debt{state_};
  }

  /// The messages were taken over, but are not stored yet.
  storing_receipt taken_over() && noexcept {
    state_->keep_credit_apart(credit_state::apart);
    state_->drop(detail::receipt_state::untaken);
    return storing_receipt{std::exchange(state_, nullptr)};
  }

  void release() noexcept {
    if (state_ != nullptr) std::exchange(state_, nullptr)->drop(both);
  }

private:
  static constexpr std::uint64_t both =
      detail::receipt_state::unstored + detail::receipt_state::untaken;

  explicit receipt(detail::receipt_state* s) noexcept : state_{s} {}

  detail::receipt_state* state_ = nullptr;
};

}  // namespace baton
