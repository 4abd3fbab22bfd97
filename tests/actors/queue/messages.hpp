#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/queue/queue_core.hpp"
#include "storage/message.hpp"

/// What tests of queues say in few words.
namespace baton::test {

inline message make_message(slab_writer& writer, std::string_view body,
                            std::optional<std::uint64_t> expiration_ms = {}) {
  message_parts parts;
  parts.exchange = "orders";
  parts.routing_key = "order.paid";
  parts.expiration_ms = expiration_ms;
  return writer.add(parts, as_bytes(body));
}

inline message make_message(std::string_view body,
                            std::optional<std::uint64_t> expiration_ms = {}) {
  slab_writer writer;
  return make_message(writer, body, expiration_ms);
}

inline batch make_batch(const std::vector<std::string>& bodies) {
  slab_writer writer;
  writer.expect(bodies.size() * 100);
  batch b;
  for (const auto& body : bodies) b.add(make_message(writer, body));
  return b;
}

inline batch batch_of(message m) {
  batch b;
  b.add(std::move(m));
  return b;
}

/// `count` messages with the bodies "1", "2", ...
inline batch numbered(std::size_t count, std::size_t from = 1) {
  std::vector<std::string> bodies;
  for (std::size_t i = 0; i < count; ++i) bodies.push_back(std::to_string(from + i));
  return make_batch(bodies);
}

inline void publish_numbered(queue_core& queue, std::size_t count, queue_core::moment now = {}) {
  for (std::size_t done = 0; done < count;) {
    auto n = std::min<std::size_t>(count - done, batch::max_messages);
    queue.publish(numbered(n, done + 1), now);
    done += n;
  }
}

/// A lease without its message.
struct handed {
  std::uint64_t consumer;
  sequence number;
  std::string body;
  bool redelivered = false;
  std::uint32_t returns = 0;

  friend bool operator==(const handed&, const handed&) = default;
};

inline std::vector<handed> dispatch(queue_core& queue, queue_core::moment now = {}) {
  std::vector<handed> out;
  queue.dispatch(now, [&](lease_batch&& b) {
    for (const auto& l : b)
      out.push_back({b.consumer().value, l.number, std::string{as_text(l.content.small_body())},
                     l.redelivered, l.returns});
  });
  return out;
}

inline std::vector<sequence> numbers_of(const std::vector<handed>& leases) {
  std::vector<sequence> all;
  for (const auto& l : leases) all.push_back(l.number);
  return all;
}

inline void settle(queue_core& queue, std::uint64_t consumer, sequence first, std::uint32_t count,
                   outcome how, queue_core::moment now = {}) {
  settlement one{first, count, how};
  queue.settle(consumer_id{consumer}, {&one, 1}, now);
}

/// A consumer that nothing holds back but what `options` say.
inline consumer_options freely(consumer_options options = {}) {
  options.byte_credit = std::uint64_t{1} << 50;
  return options;
}

}  // namespace baton::test
