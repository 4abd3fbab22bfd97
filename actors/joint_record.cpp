#include "actors/joint_record.hpp"

#include <algorithm>
#include <atomic>
#include <span>

#include "actors/interfaces.hpp"
#include "actors/publishes_to_store.hpp"

namespace baton {

namespace {

struct placed_in {
  queue_ref queue;
  queue_id id;
  sequence number = 0;
};

/// Tells each queue where the record lies.
class joint_owner final : public journal::record_owner {
public:
  joint_owner(store_ref store, std::vector<placed_in> queues, publishes_to_store publishes)
      : store_{std::move(store)}, queues_{std::move(queues)}, publishes_{std::move(publishes)} {}

  void written(std::span<const journal::record_place> where) noexcept override {
    const auto& record = where.front();
    const auto bytes = journal::reference_bytes(record.size, queues_.size());
    for (const auto& each : queues_) {
      stored notice{store_, each.id};
      notice.records.push_back({each.number, record.at, static_cast<std::uint32_t>(bytes), true});
      each.queue.send(std::move(notice));
    }
    publishes_.written();
  }
  void safe() noexcept override { publishes_.safe(); }

private:
  store_ref store_;
  std::vector<placed_in> queues_;
  publishes_to_store publishes_;
};

}  // namespace

class record_share::state {
public:
  state(store_ref store, message content, std::size_t queues, publishes_to_store publish)
      : store_{std::move(store)},
        content_{std::move(content)},
        publish_{std::move(publish)},
        places_(queues) {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  /// Called by whoever lets go of the last share: all places are there.
  ~state() {
    const auto count = used_.load(std::memory_order_relaxed);
    if (count == 0) {
      publish_.safe();
      return;
    }
    journal::journal_entry entry;
    entry.sync = sync_policy::never;
    std::vector<journal::queue_place> places;
    std::vector<placed_in> queues;
    for (auto& p : std::span{places_}.first(count)) {
      places.push_back(p.where);
      queues.push_back({std::move(p.queue), queue_id{p.where.queue}, p.where.number});
      entry.sync = std::min(entry.sync, p.sync);
    }
    journal::record_writer writer;
    writer.add_enqueue(places, content_);
    entry.records = writer.take();
    entry.owner = std::make_unique<joint_owner>(store_, std::move(queues), std::move(publish_));
    store_.send(append{std::move(entry)});
  }

  void put(queue_ref queue, const journal::queue_place& where, sync_policy sync) {
    places_[used_.fetch_add(1, std::memory_order_relaxed)] = {std::move(queue), where, sync};
  }

private:
  struct place_and_policy {
    queue_ref queue;
    journal::queue_place where;
    sync_policy sync = sync_policy::always;
  };

  const store_ref store_;
  const message content_;
  publishes_to_store publish_;
  std::vector<place_and_policy> places_;
  std::atomic<std::size_t> used_{0};
};

record_share record_share::open(store_ref store, const message& content, std::size_t queues,
                                receipt done, std::uint64_t publish) {
  baton::publish covered;
  covered.done = std::move(done);
  covered.first = publish;
  return record_share{std::make_shared<state>(std::move(store), content.fork(), queues,
                                              publishes_to_store{std::move(covered), 1})};
}

void record_share::put(queue_ref queue, const journal::queue_place& where, sync_policy sync) && {
  std::exchange(state_, nullptr)->put(std::move(queue), where, sync);
}

}  // namespace baton
