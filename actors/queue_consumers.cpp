#include "actors/queue_consumers.hpp"

namespace baton {

void queue_consumers::remove(consumer_id id) {
  std::erase_if(all_, [&](const one& s) { return s.id == id; });
  last_found_ = 0;
}

const consumer_ref* queue_consumers::find(consumer_id id) const {
  for (std::size_t n = 0; n < all_.size(); ++n) {
    // Batches come out in the order of the consumers, as a rule the next one's each time.
    const auto i = (last_found_ + n) % all_.size();
    if (all_[i].id == id) {
      last_found_ = i + 1;
      return &all_[i].to;
    }
  }
  return nullptr;
}

void queue_consumers::tell_gone(consumer_id except) const {
  for (const auto& s : all_)
    if (s.id != except) s.to.send(queue_gone{});
}

}  // namespace baton
