#include "storage/journal/node_recovery.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>
#include <variant>

#include "storage/journal/sequence_ranges.hpp"

namespace baton::journal {

namespace {

constexpr auto most_returns = std::numeric_limits<std::uint16_t>::max();

std::uint16_t returns_of(std::uint64_t count) noexcept {
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(count, most_returns));
}

sequence after(sequence first, std::uint64_t count) noexcept {
  return first + std::min(count, std::numeric_limits<sequence>::max() - first);
}

/// A queue while its records are applied.
///
/// A record that names several queues is written by the one that took the message last. So what
/// others say of it may come before it: that is kept until it comes.
class queue_replay {
public:
  explicit queue_replay(recovered_node::queue& made) : made_{made} {}

  void enqueue(const queue_place& where, place at, std::uint64_t bytes, std::uint64_t body_size) {
    seen(where.number, 1);
    if (is_done(where.number)) {
      made_.ended_early.push_back(where.number);
      return;
    }
    stored_entry e;
    e.at = at;
    e.bytes = static_cast<std::uint32_t>(bytes);
    e.body_size = static_cast<std::uint32_t>(body_size);
    e.deadline_ms = where.deadline_ms;
    e.returns = where.returns;
    if (const auto early = early_returns_.find(where.number); early != early_returns_.end()) {
      e.returns = std::max(e.returns, early->second);
      early_returns_.erase(early);
      e.redelivered = true;
    }
    e.redelivered = e.redelivered || where.redelivered || e.returns > 0;
    made_.messages.put(where.number, e);
  }

  void settle(const queue_run& run) {
    seen(run.first, run.count);
    if (run.count == 1 && made_.messages.erase(run.first)) return;
    const auto end = after(run.first, run.count);
    auto unknown = run.first;
    made_.messages.erase_range(run.first, end, [&](sequence number, const stored_entry&) {
      early_settled_.add(unknown, number);
      unknown = number + 1;
    });
    early_settled_.add(unknown, end);
    early_returns_.erase(early_returns_.lower_bound(run.first), early_returns_.lower_bound(end));
  }

  void requeue(const queue_return& back) {
    seen(back.number, 1);
    if (auto e = made_.messages.find(back.number)) {
      e->returns = returns_of(back.returns);
      e->redelivered = true;
      made_.messages.put(back.number, *e);
    } else if (!is_done(back.number)) {
      early_returns_[back.number] = returns_of(back.returns);
    }
  }

  void purge(const journal::purge& all) {
    if (all.end > 0) seen(all.end - 1, 1);
    // What is kept was there at every purge before.
    purge_end_ = std::max(purge_end_, all.end);
    purge_kept_ = {};
    for (const auto& run : all.kept) purge_kept_.add(run.first, after(run.first, run.count));
    sequence from = 0;
    const auto drop = [&](sequence end) {
      if (from < end) made_.messages.erase_range(from, end, [](sequence, const stored_entry&) {});
    };
    purge_kept_.for_each([&](sequence first, sequence end) {
      drop(std::min(first, all.end));
      from = end;
    });
    drop(all.end);
  }

private:
  void seen(sequence first, std::uint64_t count) noexcept {
    if (count > 0) made_.next = std::max(made_.next, after(after(first, count - 1), 1));
  }
  bool is_done(sequence number) const noexcept {
    return (!early_settled_.empty() && early_settled_.contains(number)) ||
           (number < purge_end_ && !purge_kept_.contains(number));
  }

  recovered_node::queue& made_;
  sequence_ranges early_settled_;
  std::map<sequence, std::uint16_t> early_returns_;
  sequence purge_end_ = 0;
  sequence_ranges purge_kept_;
};

/// Applies records one by one.
class replay {
public:
  explicit replay(recovered_node& made) : made_{made} {}

  void apply(place at, byte_view frame, const record& what) {
    std::visit([&](const auto& r) { apply_to(at, frame.size(), r); }, what);
  }

  /// The segments of what else is kept as definitions are, by its key for `live_segments`.
  const std::map<std::string, std::uint32_t>& kept() const noexcept { return kept_; }

private:
  void enter(place at, std::size_t size, const entries<queue_place>& places,
             const stored_message& message) {
    if (places.empty()) return;
    const auto bytes = reference_bytes(static_cast<std::uint32_t>(size), places.size());
    for (const auto& p : places) queue(p.queue).enqueue(p, at, bytes, message.body.size());
  }
  void settle_all(const entries<queue_run>& runs) {
    for (const auto& run : runs) queue(run.queue).settle(run);
  }

  void apply_to(place at, std::size_t size, const enqueue& r) {
    enter(at, size, r.places, r.message);
  }
  void apply_to(place at, std::size_t size, const relocate& r) {
    enter(at, size, r.places, r.message);
  }
  void apply_to(place, std::size_t, const settle& r) { settle_all(r.runs); }
  void apply_to(place at, std::size_t size, const move& r) {
    settle_all(r.runs);
    enter(at, size, r.places, r.message);
  }
  void apply_to(place, std::size_t, const requeue& r) {
    for (const auto& back : r.returns) queue(back.queue).requeue(back);
  }
  void apply_to(place, std::size_t, const purge& r) { queue(r.queue).purge(r); }
  void apply_to(place at, std::size_t, const tx& r) {
    for_each_part(at, r, [&](place part_at, byte_view frame, const record& part) {
      apply(part_at, frame, part);
    });
  }
  void apply_to(place at, std::size_t, const define& r) {
    if (r.value)
      made_.definitions.insert_or_assign(
          std::string{r.key}, recovered_node::definition{std::string{as_text(*r.value)}, at});
    else if (const auto found = made_.definitions.find(std::string{r.key});
             found != made_.definitions.end())
      made_.definitions.erase(found);
  }
  void apply_to(place at, std::size_t, const peer_progress& r) {
    made_.peers[r.peer] = r;
    kept_[live_segments::key_of(record_kind::peer_progress, r.peer)] = at.segment;
  }
  void apply_to(place at, std::size_t, const stream_end& r) {
    kept_[live_segments::key_of(record_kind::stream_end, r.queue)] = at.segment;
  }
  void apply_to(place, std::size_t, const group& r) {
    if (!r.after_crash) return;
    for (auto& [id, q] : made_.queues) q.messages.mark_all_redelivered();
  }
  void apply_to(place, std::size_t, const checkpoint&) {}
  void apply_to(place, std::size_t, const chunk&) {}  // belongs into a stream's log

  queue_replay& queue(std::uint64_t id) {
    if (recent_ != nullptr && id == recent_id_) return *recent_;
    auto found = queues_.find(id);
    if (found == queues_.end()) {
      found = queues_.try_emplace(id, made_.queues[id]).first;
      made_.highest_queue = std::max(made_.highest_queue, id);
    }
    recent_id_ = id;
    recent_ = &found->second;
    return *recent_;
  }

  recovered_node& made_;
  std::map<std::string, std::uint32_t> kept_;
  std::unordered_map<std::uint64_t, queue_replay> queues_;
  std::uint64_t recent_id_ = 0;
  queue_replay* recent_ = nullptr;
};

/// Calls `use(const reference_drop&)` for what a queue needs of each segment, once or several
/// times.
template <class Use>
void for_each_reference(std::uint64_t queue, const stored_index& messages, Use&& use) {
  reference_drop sum;
  sum.queue = queue;
  messages.for_each([&](sequence, const stored_entry& e) {
    if (e.at.segment != sum.segment && sum.references > 0) {
      use(sum);
      sum.references = sum.bytes = 0;
    }
    sum.segment = e.at.segment;
    ++sum.references;
    sum.bytes += e.bytes;
  });
  if (sum.references > 0) use(sum);
}

}  // namespace

void recovered_node::forget(std::uint64_t id) {
  const auto found = queues.find(id);
  if (found == queues.end()) return;
  for_each_reference(id, found->second.messages,
                     [&](const reference_drop& gone) { live.drop(gone); });
  queues.erase(found);
}

result<recovered_node> recover_node(file_system& files, const std::string& folder) {
  recovered_node made;
  std::map<std::string, std::uint32_t> kept;
  {
    replay applied{made};
    auto state = recover_log(files, folder, [&](place at, byte_view frame, const record& r) {
      applied.apply(at, frame, r);
    });
    if (!state) return failure{state.reason()};
    made.log = *std::move(state);
    kept = applied.kept();
  }
  for (const auto segment : made.log.segments) made.live.begin(segment);
  for (const auto& [id, q] : made.queues)
    for_each_reference(id, q.messages, [&](const reference_drop& needed) {
      made.live.add(needed.segment, needed.queue, needed.references, needed.bytes);
    });
  for (const auto& [key, d] : made.definitions) made.live.define(key, d.at.segment);
  for (const auto& [key, segment] : kept) made.live.define(key, segment);
  return made;
}

}  // namespace baton::journal
