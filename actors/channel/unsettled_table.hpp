#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "actors/queue/chunk_directory.hpp"
#include "actors/queue/lease.hpp"
#include "config/ids.hpp"
#include "config/result.hpp"

namespace baton {

/// A delivery of one AMQP channel that its client has not settled: whose lease it is.
struct unsettled_delivery {
  sequence number = 0;
  consumer_id consumer;     ///< as the queue knows it, for basic.get too
  std::uint32_t queue = 0;  ///< the owner's own index of the queue

  friend bool operator==(const unsettled_delivery&, const unsettled_delivery&) = default;
};

/// Deliveries that end together: neighbours in one queue, of one consumer.
struct settled_run {
  std::uint32_t queue = 0;
  consumer_id consumer;
  settlement leases;
};

/// 406: the client names a delivery tag that is not outstanding.
struct unknown_delivery_tag {
  std::uint64_t tag = 0;
};
/// `unknown delivery tag 2`
std::string to_string(unknown_delivery_tag why);

/// The deliveries of one AMQP 0-9-1 channel that wait for the client's ack, by delivery tag.
///
/// Tags are consecutive from 1. Memory is in proportion to what is outstanding (24 bytes each),
/// however long the oldest one waits. A `Sink` is called as `sink(const settled_run&)`; deliveries
/// that are neighbours by tag and by sequence come as one run.
///
/// In a transaction, what the client settles is set aside until it commits.
class unsettled_table {
public:
  unsettled_table() = default;
  ~unsettled_table();
  unsettled_table(const unsettled_table&) = delete;
  unsettled_table& operator=(const unsettled_table&) = delete;

  /// The tag of a delivery that is about to be sent and will be settled.
  std::uint64_t record(const unsettled_delivery& sent) {
    const auto tag = next_++;
    if (tail_ == nullptr || tail_->number != tag / chunk::size) open_tail(tag / chunk::size);
    tail_->outstanding |= bit_of(tag);
    tail_->deliveries[tag % chunk::size] = sent;
    ++count_;
    return tag;
  }
  /// The tag of a delivery that nobody will settle (no-ack).
  std::uint64_t skip() noexcept { return next_++; }

  /// Deliveries that are not settled, those set aside included. The channel compares it with its
  /// limit before it takes more.
  std::uint64_t size() const noexcept { return count_; }

  /// basic.ack, nack, reject. Without `multiple`: that one. With it: all outstanding up to `tag`,
  /// which must be outstanding itself; tag 0: all, which may be none.
  template <class Sink>
  result<void, unknown_delivery_tag> settle(std::uint64_t tag, bool multiple, outcome how,
                                            Sink&& sink) {
    if (!names_outstanding(tag, multiple)) return failure{unknown_delivery_tag{tag}};
    end(tag, multiple, how, sink);
    return {};
  }

  /// All that is outstanding ends so: basic.recover, or (after `rollback`) the channel closes.
  template <class Sink>
  void settle_all(outcome how, Sink&& sink) {
    end(0, true, how, sink);
  }

  /// `settle` in a transaction: the deliveries are no longer outstanding, but do not end yet.
  result<void, unknown_delivery_tag> set_aside(std::uint64_t tag, bool multiple, outcome how);

  /// tx.commit: what was set aside ends, in the order in which the client said so.
  template <class Sink>
  void commit(Sink&& sink) {
    run_of<Sink> run{sink};
    for (const auto& a : aside_) {
      auto& c = *chunks_.find(a.number);
      run.add(c, a.mask, a.how);
      c.aside &= ~a.mask;
      settled(c, a.mask);
    }
    run.close();
    aside_.clear();
  }

  /// tx.rollback: what was set aside is outstanding again, under the same tags.
  void rollback() noexcept;

  /// What the transaction holds here, in bytes.
  std::uint64_t aside_bytes() const noexcept { return aside_.size() * sizeof(part); }

private:
  struct chunk {
    static constexpr std::uint32_t size = 64;

    std::uint64_t number = 0;
    std::uint64_t outstanding = 0;
    std::uint64_t aside = 0;
    std::array<unsettled_delivery, size> deliveries;
  };
  /// Some deliveries of one chunk, and how they will end.
  struct part {
    std::uint64_t number;
    std::uint64_t mask;
    outcome how;
  };

  /// Joins neighbours before they reach the sink.
  template <class Sink>
  class run_of {
  public:
    explicit run_of(Sink& sink) : sink_{sink} {}

    void add(const chunk& c, std::uint64_t mask, outcome how) {
      for (; mask != 0; mask &= mask - 1) {
        const auto& d = c.deliveries[static_cast<unsigned>(std::countr_zero(mask))];
        if (d.number == run_.leases.first + run_.leases.count && d.queue == run_.queue &&
            d.consumer == run_.consumer && how == run_.leases.how) {
          ++run_.leases.count;
          continue;
        }
        close();
        run_ = {d.queue, d.consumer, {d.number, 1, how}};
      }
    }
    void close() {
      if (run_.leases.count > 0) sink_(std::as_const(run_));
      run_.leases.count = 0;
    }

  private:
    Sink& sink_;
    settled_run run_{0, {}, {0, 0, outcome::accept}};
  };

  /// Calls `use(chunk&, mask)` for the outstanding deliveries that `tag` and `multiple` name.
  template <class Use>
  void for_named(std::uint64_t tag, bool multiple, Use&& use) {
    if (!multiple) return use(*chunks_.find(tag / chunk::size), bit_of(tag));
    const auto last = tag == 0 ? next_ : tag;
    std::uint64_t number = 0;
    while (auto* c = chunks_.at_or_after(number)) {
      if (c->number > last / chunk::size) return;
      number = c->number + 1;
      auto mask = c->outstanding;
      if (c->number == last / chunk::size) mask &= bit_of(last) | (bit_of(last) - 1);
      if (mask != 0) use(*c, mask);
    }
  }

  template <class Sink>
  void end(std::uint64_t tag, bool multiple, outcome how, Sink& sink) {
    run_of<Sink> run{sink};
    for_named(tag, multiple, [&](chunk& c, std::uint64_t mask) {
      run.add(c, mask, how);
      c.outstanding &= ~mask;
      settled(c, mask);
    });
    run.close();
  }

  static std::uint64_t bit_of(std::uint64_t tag) noexcept {
    return std::uint64_t{1} << (tag % chunk::size);
  }
  bool names_outstanding(std::uint64_t tag, bool multiple) const noexcept;
  void open_tail(std::uint64_t number);
  void settled(chunk& c, std::uint64_t mask) noexcept;

  std::uint64_t next_ = 1;
  std::uint64_t count_ = 0;
  chunk* tail_ = nullptr;
  chunk_directory<chunk> chunks_;
  std::vector<part> aside_;
};

}  // namespace baton
