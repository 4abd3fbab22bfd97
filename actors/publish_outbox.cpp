#include "actors/publish_outbox.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace baton {

void publish_outbox::add(queue_id queue, const publish_ref& to, message taken, const receipt& run,
                         std::uint64_t number, record_share joint) {
  const auto index = queue.value % slots;
  auto& s = slots_[index];
  if (is_occupied(index) &&
      (s.queue != queue || !s.pending.done.same_run(run) || s.pending.messages.full()))
    send(index);
  auto& p = s.pending;
  if (!is_occupied(index)) {
    occupied_[index / 64] |= std::uint64_t{1} << index % 64;
    s.queue = queue;
    s.to = to;
    p.done = run.share();
    p.first = number;
  } else if (!p.sequences.empty()) {
    p.sequences.push_back(number);
  } else if (number != p.first + p.messages.size()) {
    for (std::size_t i = 0; i < p.messages.size(); ++i) p.sequences.push_back(p.first + i);
    p.sequences.push_back(number);
  }
  if (joint) p.joints.emplace_back(static_cast<std::uint32_t>(p.messages.size()), std::move(joint));
  p.messages.add(std::move(taken));
}

void publish_outbox::add(std::span<const queue_entry* const> queues, message taken,
                         const receipt& run, std::uint64_t number, const store_ref& store) {
  if (queues.empty()) return;
  const bool persistent = taken.persistent();
  record_share joint;
  if (store && queues.size() > 1)
    if (const auto storing =
            std::count_if(queues.begin(), queues.end(),
                          [&](const auto* q) { return shares_records(*q, persistent); });
        storing > 1)
      joint =
          record_share::open(store, taken, static_cast<std::size_t>(storing), run.share(), number);
  const auto share_for = [&](const queue_entry& q) {
    return joint && shares_records(q, persistent) ? joint.share() : record_share{};
  };
  for (const auto* q : queues.first(queues.size() - 1))
    add(q->id, queue_endpoint::of(*q).to, taken.fork(), run, number, share_for(*q));
  const auto& last = *queues.back();
  add(last.id, queue_endpoint::of(last).to, std::move(taken), run, number, share_for(last));
}

void publish_outbox::flush() {
  for (std::size_t word = 0; word < occupied_.size(); ++word)
    while (occupied_[word] != 0)
      send(word * 64 + static_cast<std::size_t>(std::countr_zero(occupied_[word])));
}

void publish_outbox::send(std::size_t index) {
  occupied_[index / 64] &= ~(std::uint64_t{1} << index % 64);
  auto& s = slots_[index];
  s.pending.count = s.pending.messages.size();
  auto to = std::exchange(s.to, {});
  to.send(std::exchange(s.pending, {}));
}

}  // namespace baton
