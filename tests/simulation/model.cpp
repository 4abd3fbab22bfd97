#include "tests/simulation/model.hpp"

#include <algorithm>
#include <utility>

namespace baton::simulation {

namespace {

std::string name_of(model::message_id id) { return "message " + std::to_string(id); }

std::string name_of(model::message_id id, std::size_t queue) {
  return name_of(id) + " of queue q" + std::to_string(queue);
}

/// Never to be seen again, whatever becomes of the node.
template <class Copy>
void finish(Copy& c) {
  c.now = model::copy_state::done;
  c.ended = model::depth::safe;
  c.unread = false;
}

}  // namespace

// ---- messages

model::message_id model::publish(message made) {
  made.life = life_;
  const auto& m = messages_.emplace_back(made);
  for (std::size_t q = 0; q < queues(); ++q) copies_.push_back({routed(m, q)});
  return messages_.size() - 1;
}

/// What has to be there so that the message finds the queue.
const presence& model::way_to(const message& m, std::size_t queue) const {
  return m.to == to_all ? queues_[queue].binding : queues_[queue].name;
}

model::copy_state model::routed(const message& m, std::size_t queue) const {
  if (m.to != to_all && m.to != queue) return copy_state::none;
  switch (way_to(m, queue).now()) {
    case presence::state::there:
      return queues_[queue].open_purges > 0 || queues_[queue].kind.limited ? copy_state::unknown
                                                                           : copy_state::ready;
    case presence::state::absent:
      return copy_state::none;
    case presence::state::doubtful:
      break;
  }
  return copy_state::unknown;
}

void model::confirm(message_id id) {
  auto& m = messages_[id];
  take(id);
  m.where = message::place::arrived;
  for (std::size_t q = 0; q < queues(); ++q)
    if (auto& c = at(id, q); is_stored(m, q))
      c.stored = std::max(c.stored, queues_[q].kind.syncs ? depth::safe : depth::written);
  if (!m.mandatory || m.returned) return;
  for (std::size_t q = 0; q < queues(); ++q)
    if (at(id, q).now != copy_state::none) return;
  broken_(name_of(id) + " was not returned, though it had no queue to go to");
}

void model::refuse(message_id id) {
  auto& m = messages_[id];
  take(id);
  m.where = message::place::arrived;
  bool may_be = false;
  for (std::size_t q = 0; q < queues(); ++q) {
    auto& c = at(id, q);
    if (!queues_[q].kind.refuses || c.now == copy_state::none) continue;
    if (c.seen) broken_(name_of(id, q) + " was refused, though it was delivered");
    finish(c);
    may_be = true;
  }
  if (!may_be) broken_(name_of(id) + " was refused, though no queue of it may do so");
}

void model::give_return(message_id id) {
  auto& m = messages_[id];
  if (!m.mandatory || std::exchange(m.returned, true) || m.where != message::place::under_way)
    broken_(name_of(id) + " was returned, though it was not mandatory or not under way");
  for (std::size_t q = 0; q < queues(); ++q) {
    auto& c = at(id, q);
    if (c.now == copy_state::none) continue;
    if (c.now != copy_state::unknown || c.seen)
      broken_(name_of(id, q) + " was returned, though the queue was there");
    finish(c);
  }
}

void model::doubt_publish(message_id id) {
  if (messages_[id].taken) return;
  for (std::size_t q = 0; q < queues(); ++q)
    if (at(id, q).now == copy_state::ready && !at(id, q).seen) at(id, q).now = copy_state::unknown;
}

void model::withdraw(message_id id) {
  messages_[id].where = message::place::withdrawn;
  for (std::size_t q = 0; q < queues(); ++q) {
    auto& c = at(id, q);
    if (c.seen) broken_(name_of(id, q) + " was delivered before its transaction ended");
    if (c.now != copy_state::none) finish(c);
  }
}

void model::settle(message_id id, std::size_t queue, channel_id by) {
  auto& c = at(id, queue);
  if (c.by != by) return;
  c.now = copy_state::done;
  c.ended = depth::nowhere;
  c.unread = true;
}

void model::note_read(message_id id, std::size_t queue, channel_id by) {
  if (auto& c = at(id, queue); c.by == by && c.now == copy_state::done) c.unread = false;
}

void model::give_back(message_id id, std::size_t queue, moment since, channel_id by, when then) {
  auto& c = at(id, queue);
  if (c.by != by) return;
  const auto& q = queues_[queue];
  const bool purged = then == when::now ? q.open_purges > 0 : since.purge != q.purges + 1;
  c.now = is_sure_since(queue, since) && !purged && !q.kind.limited ? copy_state::ready
                                                                    : copy_state::unknown;
}

void model::doubt_settlement(message_id id, std::size_t queue, channel_id by) {
  if (auto& c = at(id, queue); c.by == by && c.now == copy_state::done) c.now = copy_state::unknown;
}

bool model::deliver(message_id id, std::size_t queue, bool redelivered, delivery how, moment since,
                    channel_id to) {
  auto& c = at(id, queue);
  const bool seen = std::exchange(c.seen, true);
  c.seen_in = life_;
  // What comes back after a restart was on the disk, and is.
  if (messages_[id].life < life_) c.stored = depth::safe;
  const bool is_taken = c.now == copy_state::held || c.now == copy_state::done;
  const char* wrong = nullptr;
  if (c.now == copy_state::none) {
    wrong = " was not routed there";
  } else if (how == delivery::overtaken) {
    return false;
  } else if (seen && !redelivered && may_have_failed_(to)) {
    failed_.insert(to);  // this was the first delivery, and it went to the other since
    return false;
  } else if (is_taken && c.by != to && may_have_failed_(to)) {
    if (c.by == 0 || !may_have_failed_(c.by)) {
      failed_.insert(to);  // it was given to the other since
      return false;
    }
    // Which of the two has lost it only time will tell.
    c.now = copy_state::unknown;
    c.by = 0;
    return how == delivery::held;
  } else if (is_taken && c.by != 0 && c.by != to && may_have_failed_(c.by)) {
    failed_.insert(c.by);
  } else if (is_taken) {
    wrong = c.now == copy_state::held ? " was delivered while another delivery of it is held"
                                      : " was delivered after it was settled";
  } else if (presence::is_after(since.removal, c.removal) && c.removal > 0) {
    wrong = " was delivered after its queue was deleted";
  } else if (!redelivered && since.purge > c.purge && c.purge > 0) {
    wrong = " was delivered after its queue was purged";
  }
  if (wrong == nullptr && seen && !redelivered)
    wrong = " was delivered again without redelivered=1";
  if (wrong == nullptr && !redelivered && c.mark == redelivery::certain)
    wrong = " came without redelivered=1 though its node had not been stopped in order";
  if (wrong == nullptr && !seen && redelivered && !queues_[queue].redelivers &&
      c.mark == redelivery::by_history && !may_have_failed_(0))
    wrong = " came with redelivered=1 though nobody can have had it before";
  c.now = how == delivery::no_ack ? copy_state::done : copy_state::held;
  c.ended = depth::nowhere;
  c.unread = false;
  c.by = how == delivery::no_ack ? 0 : to;
  if (wrong != nullptr) broken_(name_of(id, queue) + wrong);
  return how == delivery::held;
}

std::size_t model::missing(const std::function<void(std::string)>& what) const {
  std::size_t found = 0;
  for (message_id id = 0; id < messages_.size(); ++id) {
    for (std::size_t q = 0; q < queues(); ++q) {
      const auto& c = copies_[id * queues() + q];
      if (!must_have(messages_[id], c)) continue;
      const bool held = c.now == copy_state::held;
      if (!held && (c.now != copy_state::ready || queues_[q].loses)) continue;
      ++found;
      if (what) what(name_of(id, q) + (held ? " is held" : " was not delivered"));
    }
  }
  return found;
}

// ---- the node

template <class Function>
void model::for_each_copy(std::size_t queue, Function&& function) {
  for (message_id id = 0; id < messages_.size(); ++id) function(messages_[id], at(id, queue));
}

bool model::is_untouched(message_id id, std::size_t queue) const {
  return messages_[id].life < life_ && copies_[id * queues() + queue].seen_in < life_ &&
         !queues_[queue].redelivers && !may_have_failed_(0);
}

void model::come_to_rest(depth as) {
  if (as == depth::nowhere) return;
  for (std::size_t q = 0; q < queues(); ++q)
    for_each_copy(q, [&](const message& m, copy& c) {
      if (m.taken && is_stored(m, q)) c.stored = std::max(c.stored, as);
      if (c.now == copy_state::done && !c.unread) c.ended = std::max(c.ended, as);
    });
}

void model::restart(ending how, bool may_be_closed) {
  ++life_;
  failed_.clear();
  for (std::size_t q = 0; q < queues(); ++q) {
    auto& known = queues_[q];
    for_each_copy(q, [&](const message& m, copy& c) { outlive(m, q, c, how, may_be_closed); });
    known.redelivers = known.loses = false;
    if (known.kind.durable) continue;
    known.name.vanish();
    known.binding.vanish();
  }
  for (auto& m : messages_)
    if (m.where == message::place::under_way) m.where = message::place::arrived;
}

/// What is left of a copy when its node has ended and another one has recovered.
void model::outlive(const message& m, std::size_t queue, copy& c, ending how,
                    bool may_be_closed) const {
  if (c.now == copy_state::none) return;
  c.by = 0;
  if (!is_stored(m, queue)) return finish(c);
  const auto needed = how == ending::killed ? depth::written : depth::safe;
  const auto lasts = [&](depth known) { return how == ending::stopped || known >= needed; };
  switch (c.now) {
    case copy_state::ready:
      // It may have been on its way to somebody who did not have to settle it.
      if (!lasts(c.stored) || queues_[queue].loses) c.now = copy_state::unknown;
      break;
    case copy_state::done:
      if (!lasts(c.ended)) c.now = copy_state::unknown;
      break;
    case copy_state::held:
      c.now = copy_state::unknown;
      break;
    case copy_state::none:
    case copy_state::unknown:
      break;
  }
  if (c.now == copy_state::ready) c.stored = depth::safe;
  if (c.now == copy_state::done) return finish(c);
  if (how != ending::stopped && !may_be_closed)
    c.mark = redelivery::certain;
  else if ((may_be_closed || queues_[queue].redelivers) && c.mark == redelivery::by_history)
    c.mark = redelivery::allowed;
}

// ---- queues

model::moment model::now(std::size_t queue) const noexcept {
  const auto& q = queues_[queue];
  return {q.name.since(), q.open_purges == 0 ? q.purges + 1 : 0};
}

model::asked_change model::ask(change what, std::size_t queue) {
  auto& q = queues_[queue];
  asked_change asked{what, queue};
  switch (what) {
    case change::declare:
      asked.of_queue = q.name.ask_creation();
      break;
    case change::bind:
      asked.of_binding = q.binding.ask_creation();
      break;
    case change::unbind:
      asked.of_binding = q.binding.ask_removal();
      break;
    case change::remove:
      asked.of_queue = q.name.ask_removal();
      asked.number = q.name.last_removal();
      asked.of_binding = q.binding.ask_removal();
      break;
    case change::purge:
      asked.number = ++q.purges;
      ++q.open_purges;
      break;
  }
  for_each_copy(queue, [&](const message& m, copy& c) {
    const bool is_in = m.where == message::place::arrived;
    switch (what) {
      case change::declare:
      case change::bind:
        if (c.now == copy_state::none && m.where == message::place::under_way && !m.returned)
          c.now = routed(m, queue);
        break;
      case change::unbind:
        if (c.now == copy_state::ready && m.to == to_all && !is_in) c.now = copy_state::unknown;
        break;
      case change::remove:
      case change::purge:
        if (c.now == copy_state::ready) c.now = copy_state::unknown;
        if (auto& before = what == change::purge ? c.purge : c.removal; is_in && before == 0)
          before = asked.number;
        break;
    }
  });
  return asked;
}

void model::answer(const asked_change& asked) {
  auto& q = queues_[asked.queue];
  switch (asked.what) {
    case change::declare:
      return q.name.answer_creation(asked.of_queue);
    case change::bind:
      return q.binding.answer_creation(asked.of_binding);
    case change::unbind:
      return q.binding.answer_removal(asked.of_binding);
    case change::remove:
      q.name.answer_removal(asked.of_queue);
      return q.binding.answer_removal(asked.of_binding);
    case change::purge:
      --q.open_purges;
      return;
  }
}

void model::give_up(const asked_change& asked) {
  auto& q = queues_[asked.queue];
  for_each_copy(asked.queue, [&](const message&, copy& c) {
    if (asked.what == change::purge && c.purge == asked.number) c.purge = 0;
    if (asked.what == change::remove && c.removal == asked.number) c.removal = 0;
  });
  switch (asked.what) {
    case change::declare:
      return q.name.give_up_creation();
    case change::bind:
      return q.binding.give_up_creation();
    case change::unbind:
      return q.binding.give_up_removal();
    case change::remove:
      q.name.give_up_removal();
      return q.binding.give_up_removal();
    case change::purge:
      --q.open_purges;
      return;
  }
}

}  // namespace baton::simulation
