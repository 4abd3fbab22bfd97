#include "storage/message.hpp"

#include <algorithm>
#include <cstring>

#include "config/check.hpp"

namespace baton {

namespace {

constexpr std::uint32_t holds_in_advance = batch::max_messages;

std::byte* put(std::byte* at, const void* from, std::size_t size) noexcept {
  if (size > 0) std::memcpy(at, from, size);
  return at + size;
}

}  // namespace

slab* slab_writer::open_for(std::size_t need) {
  if (packed_ > 0)
    return slab::open_exactly(std::max(need, std::min<std::size_t>(packed_, batch::max_bytes)));
  // The record costs about what the frames around a small message do.
  return slab::open(std::max(need, std::min<std::size_t>(expected_, batch::max_bytes)));
}

message slab_writer::place(const message_parts& parts, std::uint64_t body_size,
                           std::size_t inline_body_size) {
  BATON_CHECK(parts.exchange.size() <= 255 && parts.routing_key.size() <= 255);
  auto need = slab::rounded(sizeof(message::record) + parts.exchange.size() +
                            parts.routing_key.size() + parts.properties.size() + inline_body_size);
  if (open_ == nullptr || open_->room() < need) {
    close();
    open_ = open_for(need);
  }
  expected_ -= std::min(expected_, need);
  packed_ -= std::min(packed_, need);

  auto* at = open_->take(need);
  auto* r = new (at) message::record;
  r->body_size = body_size;
  r->expiration_ms = parts.expiration_ms.value_or(0);
  r->large = nullptr;
  r->properties_size = static_cast<std::uint32_t>(parts.properties.size());
  r->exchange_size = static_cast<std::uint8_t>(parts.exchange.size());
  r->routing_key_size = static_cast<std::uint8_t>(parts.routing_key.size());
  r->flags = static_cast<std::uint8_t>((parts.persistent ? message::flag_persistent : 0) |
                                       (parts.expiration_ms ? message::flag_expires : 0));
  r->priority = parts.priority;
  at += sizeof(message::record);
  at = put(at, parts.exchange.data(), parts.exchange.size());
  at = put(at, parts.routing_key.data(), parts.routing_key.size());
  put(at, parts.properties.data(), parts.properties.size());

  // One atomic addition for a batch of messages, not one each.
  if (spare_ == 0) {
    open_->hold(holds_in_advance);
    spare_ = holds_in_advance;
  }
  --spare_;
  return message{open_, r};
}

message slab_writer::add(const message_parts& parts, byte_view body) {
  if (body.size() > small_body_limit) {
    auto blocks = std::make_unique<large_body>(body.size());
    blocks->append(body);
    return add(parts, std::move(blocks));
  }
  auto made = place(parts, body.size(), body.size());
  put(reinterpret_cast<std::byte*>(
          const_cast<std::uint8_t*>(made.properties().data() + parts.properties.size())),
      body.data(), body.size());
  return made;
}

message slab_writer::add(const message_parts& parts, std::unique_ptr<large_body> body) {
  // It travels alone: no small neighbour keeps a large body in memory.
  close();
  auto made = place(parts, body->size(), 0);
  auto* r = const_cast<message::record*>(made.record_);
  r->flags |= message::flag_large;
  r->large = body.get();
  made.slab_->attach(body.release());
  close();
  return made;
}

message slab_writer::copy(const message& original) {
  BATON_CHECK(original.large() == nullptr);
  message_parts parts;
  parts.exchange = original.exchange();
  parts.routing_key = original.routing_key();
  parts.properties = original.properties();
  parts.persistent = original.persistent();
  parts.priority = original.priority();
  parts.expiration_ms = original.expiration_ms();
  return add(parts, original.small_body());
}

}  // namespace baton
