#include "storage/journal/record.hpp"

#include <string>

#include "storage/journal/crc32c.hpp"
#include "storage/journal/numbers.hpp"

namespace baton::journal {

namespace {

/// Takes bytes off the front; once there are too few it has failed, and gives zeros.
class reader {
public:
  explicit reader(byte_view from) noexcept : left_{from} {}

  bool failed() const noexcept { return failed_; }
  byte_view rest() noexcept { return bytes(left_.size()); }

  template <class Number>
  Number number() noexcept {
    const auto at = bytes(sizeof(Number));
    return failed_ ? Number{} : load<Number>(at.data());
  }
  byte_view bytes(std::uint64_t size) noexcept {
    if (size > left_.size()) failed_ = true;
    if (failed_) return {};
    const auto taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }
  std::string_view text(std::uint64_t size) noexcept { return as_text(bytes(size)); }
  template <class Entry>
  entries<Entry> many(std::uint64_t count) noexcept {
    return entries<Entry>{bytes(count * Entry::size)};
  }
  place position() noexcept {
    const auto segment = number<std::uint32_t>();
    return {segment, number<std::uint32_t>()};
  }
  /// All of a message but its body, whose size is told.
  stored_message message_before_body(std::uint64_t& body_size) noexcept {
    stored_message made;
    body_size = number<std::uint64_t>();
    const auto expiration_ms = number<std::uint64_t>();
    const auto properties_size = number<std::uint32_t>();
    const auto exchange_size = number<std::uint8_t>();
    const auto key_size = number<std::uint8_t>();
    const auto flags = number<std::uint8_t>();
    made.priority = number<std::uint8_t>();
    made.persistent = (flags & message_persistent) != 0;
    if ((flags & message_expires) != 0) made.expiration_ms = expiration_ms;
    made.exchange = text(exchange_size);
    made.routing_key = text(key_size);
    made.properties = bytes(properties_size);
    return made;
  }
  stored_message message() noexcept {
    std::uint64_t body_size = 0;
    auto made = message_before_body(body_size);
    made.body = bytes(body_size);
    return made;
  }
  /// A message of a chunk.
  stored_message sized_message() noexcept {
    reader inside{bytes(number<std::uint32_t>())};
    auto made = inside.message();
    if (!inside.at_end()) fail();
    return made;
  }
  std::size_t left() const noexcept { return left_.size(); }
  /// What has been taken since, by a copy of this one.
  byte_view up_to(const reader& later) const noexcept {
    return left_.first(left_.size() - later.left_.size());
  }
  void fail() noexcept { failed_ = true; }
  bool at_end() const noexcept { return !failed_ && left_.empty(); }

private:
  byte_view left_;
  bool failed_ = false;
};

struct header {
  std::uint32_t size;
  std::uint8_t kind;
  std::uint8_t flags;
  std::uint16_t runs;
  std::uint32_t count;
};

header read_header(byte_view from) noexcept {
  return {load<std::uint32_t>(from.data()), from[8], from[9], load<std::uint16_t>(&from[10]),
          load<std::uint32_t>(&from[12])};
}

/// Whether the parts of a tx are whole records, as many as it says, and none of them a tx.
bool are_parts(byte_view parts, std::uint32_t count) {
  for (; count > 0; --count) {
    if (parts.size() < record_header_size) return false;
    const auto size = size_of_part(parts);
    if (size < record_header_size || padded(size) > parts.size()) return false;
    if (parts[8] == static_cast<std::uint8_t>(record_kind::tx)) return false;
    if (load<std::uint32_t>(&parts[4]) != 0) return false;  // a part that has a sum is read by it
    if (!decode(parts.first(size))) return false;
    parts = parts.subspan(padded(size));
  }
  return parts.empty();
}

/// A chunk without its messages.
chunk read_chunk_front(const header& h, reader& from) noexcept {
  chunk made;
  if (h.count != 1) from.fail();
  const auto where = from.many<queue_place>(1);
  made.count = from.number<std::uint32_t>();
  if (from.failed()) return {};
  made.queue = where[0].queue;
  made.first = where[0].number;
  made.time_ms = where[0].deadline_ms;
  return made;
}

record decode_inside(const header& h, reader& from) {
  switch (static_cast<record_kind>(h.kind)) {
    case record_kind::group:
      return group{from.position(), (h.flags & group_closes) != 0,
                   (h.flags & group_after_crash) != 0};
    case record_kind::enqueue: {
      const auto places = from.many<queue_place>(h.count);
      return enqueue{places, from.message()};
    }
    case record_kind::settle:
      return settle{from.many<queue_run>(h.count)};
    case record_kind::move: {
      const auto runs = from.many<queue_run>(h.runs);
      const auto places = from.many<queue_place>(h.count);
      return move{runs, places, from.message()};
    }
    case record_kind::requeue:
      return requeue{from.many<queue_return>(h.count)};
    case record_kind::purge: {
      const auto queue = from.number<std::uint64_t>();
      const auto end = from.number<sequence>();
      return purge{queue, end, from.many<queue_run>(h.count)};
    }
    case record_kind::tx:
      return tx{from.rest()};
    case record_kind::define: {
      const auto key_size = from.number<std::uint64_t>();
      define made{from.text(key_size), std::nullopt};
      if ((h.flags & define_has_value) != 0) made.value = from.rest();
      return made;
    }
    case record_kind::peer_progress: {
      const auto peer = from.number<std::uint64_t>();
      const auto epoch = from.number<std::uint64_t>();
      return peer_progress{peer, epoch, from.number<std::uint64_t>()};
    }
    case record_kind::relocate: {
      const auto places = from.many<queue_place>(h.count);
      return relocate{places, from.message()};
    }
    case record_kind::stream_end: {
      const auto queue = from.number<std::uint64_t>();
      const auto offset = from.number<std::uint64_t>();
      return stream_end{queue, offset, from.position()};
    }
    case record_kind::checkpoint:
      return checkpoint{from.many<index_state>(h.count)};
    case record_kind::chunk: {
      auto made = read_chunk_front(h, from);
      const auto before = from;
      for (auto left = made.count; left > 0 && !from.failed(); --left) from.sized_message();
      made.messages = before.up_to(from);
      return made;
    }
  }
  from.bytes(SIZE_MAX);
  return group{};
}

}  // namespace

std::uint32_t seal_of(std::uint64_t generation) noexcept {
  return crc32c({reinterpret_cast<const std::uint8_t*>(&generation), sizeof generation});
}

result<byte_view, frame_problem> read_frame(byte_view from, std::uint32_t seal) noexcept {
  if (from.size() < record_header_size) return failure{frame_problem::none_here};
  const auto size = load<std::uint32_t>(from.data());
  const auto check = load<std::uint32_t>(&from[4]);
  if (size == 0 && check == 0) return failure{frame_problem::none_here};
  if (size < record_header_size || size > from.size()) return failure{frame_problem::broken};
  const auto sum = crc32c(from.subspan(8, size - 8), crc32c(from.first(4)));
  if ((sum ^ seal) != check) return failure{frame_problem::broken};
  return from.first(size);
}

bool looks_like_record(byte_view front, std::uint64_t room) noexcept {
  if (front.size() < record_header_size) return false;
  const auto h = read_header(front);
  if (h.size < record_header_size || h.size > room) return false;
  const auto kind = static_cast<record_kind>(h.kind);
  if (kind < record_kind::group || kind > record_kind::chunk) return false;
  if (h.runs != 0 && kind != record_kind::move) return false;
  constexpr std::uint64_t smallest_entry = record_header_size;  // a part of a tx
  return (h.count + std::uint64_t{h.runs}) * smallest_entry <= h.size;
}

result<record> decode(byte_view frame) {
  const auto h = read_header(frame);
  const auto kind = [&] { return "record of kind " + std::to_string(h.kind); };
  if (h.kind < static_cast<std::uint8_t>(record_kind::group) ||
      h.kind > static_cast<std::uint8_t>(record_kind::chunk))
    return failure{error{kind() + ", which this version does not know"}};
  reader from{frame.subspan(record_header_size)};
  auto made = decode_inside(h, from);
  if (!from.at_end())
    return failure{error{kind() + ": " + std::to_string(frame.size()) + " bytes are too " +
                         (from.failed() ? "few" : "many") + " for what it says to contain"}};
  if (const auto* whole = std::get_if<tx>(&made); whole != nullptr)
    if (!are_parts(whole->parts, h.count))
      return failure{error{kind() + ": its parts are no " + std::to_string(h.count) + " records"}};
  return made;
}

result<message_front> decode_front(byte_view front) {
  if (front.size() < record_header_size) return failure{error{"it has no whole header"}};
  const auto h = read_header(front);
  reader from{front.subspan(record_header_size)};
  switch (static_cast<record_kind>(h.kind)) {
    case record_kind::move:
      from.bytes(std::uint64_t{h.runs} * queue_run::size);
      [[fallthrough]];
    case record_kind::enqueue:
    case record_kind::relocate:
      from.bytes(std::uint64_t{h.count} * queue_place::size);
      break;
    default:
      return failure{error{"a record of kind " + std::to_string(h.kind) + " has no message"}};
  }
  message_front made;
  made.message = from.message_before_body(made.body_size);
  made.body_at = front.size() - from.left();
  if (from.failed() || made.body_at > h.size || made.body_size != h.size - made.body_at)
    return failure{error{"its message does not fit into it"}};
  return made;
}

stored_message take_message(byte_view& messages) noexcept {
  reader from{messages};
  auto made = from.sized_message();
  messages = from.rest();
  return made;
}

result<message_front> decode_message_front(byte_view messages) {
  reader from{messages};
  const auto size = from.number<std::uint32_t>();
  message_front made;
  made.message = from.message_before_body(made.body_size);
  made.body_at = messages.size() - from.left();
  const auto before_body = made.body_at - sizeof size;
  if (from.failed() || before_body > size || made.body_size != size - before_body)
    return failure{error{"it does not fit into what it says to be its size"}};
  return made;
}

result<chunk> decode_chunk_front(byte_view front) {
  if (front.size() < record_header_size) return failure{error{"it has no whole header"}};
  const auto h = read_header(front);
  if (static_cast<record_kind>(h.kind) != record_kind::chunk)
    return failure{error{"a record of kind " + std::to_string(h.kind) + " is no chunk"}};
  reader from{front.subspan(record_header_size)};
  auto made = read_chunk_front(h, from);
  if (from.failed()) return failure{error{"it is too short for a chunk"}};
  made.messages = from.rest();
  return made;
}

std::uint32_t size_of_part(byte_view from) noexcept { return load<std::uint32_t>(from.data()); }

record_outline outline_of(byte_view front) noexcept {
  const auto h = read_header(front);
  record_outline made;
  made.kind = static_cast<record_kind>(h.kind);
  made.size = h.size;
  const auto inside = front.subspan(record_header_size);
  const auto many = [&](std::size_t at, std::size_t count) {
    return inside.subspan(at, count * queue_place::size);
  };
  static_assert(queue_run::size == queue_place::size);
  switch (made.kind) {
    case record_kind::enqueue:
    case record_kind::relocate:
    case record_kind::chunk:
      made.places = entries<queue_place>{many(0, h.count)};
      break;
    case record_kind::move:
      made.runs = entries<queue_run>{many(0, h.runs)};
      made.places = entries<queue_place>{many(h.runs * queue_run::size, h.count)};
      break;
    case record_kind::settle:
      made.runs = entries<queue_run>{many(0, h.count)};
      [[fallthrough]];
    default:
      if (made.kind != record_kind::tx) made.frame = front.first(h.size);
  }
  return made;
}

result<byte_view, frame_problem> read_placed(byte_view from, std::uint32_t seal) noexcept {
  if (from.size() < record_header_size) return failure{frame_problem::none_here};
  const auto h = read_header(from);
  if (load<std::uint32_t>(&from[4]) != 0) return read_frame(from, seal);
  if (h.size == 0) return failure{frame_problem::none_here};
  if (h.size < record_header_size || h.size > from.size()) return failure{frame_problem::broken};
  return from.first(h.size);
}

}  // namespace baton::journal
