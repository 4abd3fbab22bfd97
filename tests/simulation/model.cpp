#include "tests/simulation/model.hpp"

#include <utility>

namespace baton::simulation {

namespace {

std::string name_of(model::message_id id, std::size_t queue) {
  return "message " + std::to_string(id) + " of queue q" + std::to_string(queue);
}

}  // namespace

model::message_id model::publish(publisher_id publisher, std::uint64_t mask, std::uint32_t size) {
  messages_.push_back({publisher, size, false});
  for (std::size_t q = 0; q < queues_; ++q)
    copies_.push_back({(mask >> q & 1) != 0 ? copy_state::ready : copy_state::none, false});
  return messages_.size() - 1;
}

void model::doubt_publish(message_id id) {
  if (messages_[id].certain) return;
  for (std::size_t q = 0; q < queues_; ++q)
    if (at(id, q).now == copy_state::ready && !at(id, q).seen) at(id, q).now = copy_state::unknown;
}

void model::withdraw(message_id id) {
  for (std::size_t q = 0; q < queues_; ++q) {
    auto& c = at(id, q);
    if (c.seen) broken_(name_of(id, q) + " was delivered before its transaction ended");
    if (c.now != copy_state::none) c.now = copy_state::done;
  }
}

void model::doubt_settlement(message_id id, std::size_t queue) {
  if (auto& c = at(id, queue); c.now == copy_state::done) c.now = copy_state::unknown;
}

bool model::deliver(message_id id, std::size_t queue, bool redelivered, delivery how) {
  if (id >= messages_.size()) {
    broken_("message " + std::to_string(id) + " was never published");
    return false;
  }
  auto& c = at(id, queue);
  const bool seen = std::exchange(c.seen, true);
  if (c.now == copy_state::none) {
    broken_(name_of(id, queue) + " was not routed there");
    return false;
  }
  if (how == delivery::overtaken) return true;
  const char* wrong = nullptr;
  if (c.now == copy_state::held) wrong = " was delivered while another delivery of it is held";
  if (c.now == copy_state::done) wrong = " was delivered after it was settled";
  if (seen && !redelivered) wrong = " was delivered again without redelivered=1";
  if (!seen && redelivered && !flags_[queue].redelivers)
    wrong = " came with redelivered=1 though nobody can have had it before";
  c.now = how == delivery::no_ack ? copy_state::done : copy_state::held;
  if (wrong == nullptr) return true;
  broken_(name_of(id, queue) + wrong);
  return false;
}

std::size_t model::missing(const std::function<void(std::string)>& what) const {
  std::size_t found = 0;
  for (message_id id = 0; id < messages_.size(); ++id) {
    if (!messages_[id].certain) continue;
    for (std::size_t q = 0; q < queues_; ++q) {
      const auto& c = copies_[id * queues_ + q];
      const bool held = c.now == copy_state::held;
      if (!held && (c.now != copy_state::ready || flags_[q].loses)) continue;
      ++found;
      if (what) what(name_of(id, q) + (held ? " is held" : " was not delivered"));
    }
  }
  return found;
}

}  // namespace baton::simulation
