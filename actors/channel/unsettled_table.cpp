#include "actors/channel/unsettled_table.hpp"

#include "actors/queue/chunk_pool.hpp"

namespace baton {

std::string to_string(unknown_delivery_tag why) {
  return "unknown delivery tag " + std::to_string(why.tag);
}

unsettled_table::~unsettled_table() {
  while (auto* c = chunks_.at_or_after(0)) {
    auto all = c->outstanding | c->aside;
    c->outstanding = c->aside = 0;
    settled(*c, all);
  }
}

void unsettled_table::open_tail(std::uint64_t number) {
  tail_ = chunk_pool<chunk>::of_this_thread().take();
  tail_->number = number;
  chunks_.insert(tail_);
}

result<void, unknown_delivery_tag> unsettled_table::set_aside(std::uint64_t tag, bool multiple,
                                                              outcome how) {
  if (!names_outstanding(tag, multiple)) return failure{unknown_delivery_tag{tag}};
  for_named(tag, multiple, [&](chunk& c, std::uint64_t mask) {
    c.outstanding &= ~mask;
    c.aside |= mask;
    aside_.push_back({c.number, mask, how});
  });
  return {};
}

void unsettled_table::rollback() noexcept {
  for (const auto& a : aside_) {
    auto& c = *chunks_.find(a.number);
    c.aside &= ~a.mask;
    c.outstanding |= a.mask;
  }
  aside_.clear();
}

bool unsettled_table::names_outstanding(std::uint64_t tag, bool multiple) const noexcept {
  if (tag == 0) return multiple;
  auto* c = chunks_.find(tag / chunk::size);
  return c != nullptr && (c->outstanding & bit_of(tag)) != 0;
}

void unsettled_table::settled(chunk& c, std::uint64_t mask) noexcept {
  count_ -= static_cast<std::uint64_t>(std::popcount(mask));
  if ((c.outstanding | c.aside) != 0) return;
  if (&c == tail_) tail_ = nullptr;
  chunks_.erase(c.number);
  chunk_pool<chunk>::of_this_thread().give_back(&c);
}

}  // namespace baton
