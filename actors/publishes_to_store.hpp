#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "actors/interfaces.hpp"
#include "storage/journal/journal.hpp"

namespace baton {

/// A row of publishes that waits for the journal: its credit goes back when it has been written,
/// and it is confirmed when it is safe. Refused, if it ends before.
class publishes_to_store {
public:
  /// `row`: its messages have been taken over already; `count` is how many there were.
  publishes_to_store(publish&& row, std::size_t count)
      : done_{std::move(row.done)},
        sequences_{std::move(row.sequences)},
        first_{row.first},
        count_{count} {}
  publishes_to_store(publishes_to_store&&) noexcept = default;
  publishes_to_store& operator=(publishes_to_store&&) = delete;
  ~publishes_to_store() {
    if (done_)
      refuse(done_);
    else if (storing_)
      refuse(storing_);
  }

  void written() {
    if (done_) storing_ = std::move(done_).taken_over();
  }
  void safe() {
    done_.release();
    storing_ = {};
  }

private:
  template <class Receipt>
  void refuse(const Receipt& of) {
    if (sequences_.empty())
      for (std::size_t i = 0; i < count_; ++i) sequences_.push_back(first_ + i);
    of.owner().refused(of.channel(), of.incarnation(), std::move(sequences_));
  }

  receipt done_;
  storing_receipt storing_;
  std::vector<std::uint64_t> sequences_;
  std::uint64_t first_;
  std::size_t count_;
};

/// A queue's records of messages, as the journal knows their owner.
class messages_to_store final : public journal::record_owner {
public:
  /// One record for each of `sequences`, in order.
  messages_to_store(store_ref store, queue_id id, queue_ref queue, std::vector<sequence> sequences,
                    std::vector<publishes_to_store> publishes)
      : store_{std::move(store)},
        id_{id},
        queue_{std::move(queue)},
        sequences_{std::move(sequences)},
        publishes_{std::move(publishes)} {}

  void written(std::span<const journal::record_place> where) noexcept override {
    stored notice{store_, id_};
    notice.records.reserve(where.size());
    for (std::size_t i = 0; i < where.size(); ++i)
      notice.records.push_back({sequences_[i], where[i].at, where[i].size});
    queue_.send(std::move(notice));
    for (auto& p : publishes_) p.written();
  }
  void safe() noexcept override {
    for (auto& p : publishes_) p.safe();
    publishes_.clear();
  }

private:
  store_ref store_;
  queue_id id_;
  queue_ref queue_;
  std::vector<sequence> sequences_;
  std::vector<publishes_to_store> publishes_;
};

}  // namespace baton
