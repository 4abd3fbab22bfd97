#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "config/ids.hpp"
#include "config/result.hpp"
#include "storage/byte_view.hpp"
#include "storage/journal/entries.hpp"

/// The records of the journal and of stream logs; storage/journal/README.md has the bytes.
namespace baton::journal {

enum class record_kind : std::uint8_t {
  group = 1,
  enqueue,
  settle,
  move,
  requeue,
  purge,
  tx,
  define,
  peer_progress,
  relocate,
  stream_end,
  checkpoint,
  chunk,
};

/// A message as it lies in a record, and borrows from it.
struct stored_message {
  std::string_view exchange;
  std::string_view routing_key;
  byte_view properties;
  byte_view body;
  std::uint8_t priority = 0;
  bool persistent = false;
  std::optional<std::uint64_t> expiration_ms;
};

/// Begins what was written at once.
struct group {
  place synced_to;      ///< all that lies before was on the disk when this was written
  bool closes = false;  ///< the log was closed in order, and nothing followed
  /// The log before it was not: whatever queues had may have been delivered, and nobody knows.
  bool after_crash = false;
};
/// A message, and where it stands in each of its queues.
struct enqueue {
  entries<queue_place> places;
  stored_message message;
};
/// Messages that queues are done with.
struct settle {
  entries<queue_run> runs;
};
/// Done with in some queues and, changed on its way, in others: a dead letter.
struct move {
  entries<queue_run> runs;
  entries<queue_place> places;
  stored_message message;
};
/// Messages that came back to their places.
struct requeue {
  entries<queue_return> returns;
};
/// All messages of a queue below `end` are done with, but those that consumers have.
struct purge {
  std::uint64_t queue = 0;
  sequence end = 0;
  entries<queue_run> kept;
};
/// Records that count together or not at all; none of them is a tx.
struct tx {
  byte_view parts;
};
/// Something that the topology knows from now on, or (no value) no longer.
struct define {
  std::string_view key;
  std::optional<byte_view> value;
};
/// How far another node's messages have been taken over.
struct peer_progress {
  std::uint64_t peer = 0;
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;
};
/// A message written once more, so that its old segment can go. Of several the last one counts, for
/// each place.
struct relocate {
  entries<queue_place> places;
  stored_message message;
};
/// How far a stream's own log is valid.
struct stream_end {
  std::uint64_t queue = 0;
  std::uint64_t offset = 0;  ///< of the next message
  place end;
};
/// How far index files are valid.
struct checkpoint {
  entries<index_state> indexes;
};

/// What a stream took in one turn: messages at offsets that follow each other.
struct chunk {
  std::uint64_t queue = 0;
  std::uint64_t first = 0;    ///< offset of the first message
  std::uint64_t time_ms = 0;  ///< when they were taken, since 1970, by the wall clock
  std::uint32_t count = 0;    ///< of messages
  byte_view messages;         ///< see `for_each_message`
};

/// One record, checked and taken apart; borrows from the bytes it was read from.
using record = std::variant<group, enqueue, settle, move, requeue, purge, tx, define, peer_progress,
                            relocate, stream_end, checkpoint, chunk>;

/// Flags of a group, of a message in a record, and of a define.
constexpr std::uint8_t group_closes = 1;
constexpr std::uint8_t group_after_crash = 2;
constexpr std::uint8_t message_persistent = 1;
constexpr std::uint8_t message_expires = 2;
constexpr std::uint8_t define_has_value = 1;

constexpr std::size_t record_alignment = 8;
constexpr std::size_t record_header_size = 16;

constexpr std::size_t padded(std::size_t size) noexcept {
  return (size + record_alignment - 1) & ~(record_alignment - 1);
}

/// Mixes a segment's generation into the checksums of its records, so that what its file held
/// before it was recycled is never taken for what it holds now.
std::uint32_t seal_of(std::uint64_t generation) noexcept;

enum class frame_problem : std::uint8_t {
  none_here,  ///< nothing is written here: zeros, or the end of the segment
  broken,     ///< no record that was written whole in this generation
};

/// The record at the front of `from`, without padding, if it is whole and unharmed.
result<byte_view, frame_problem> read_frame(byte_view from, std::uint32_t seal) noexcept;

/// Whether a record may begin here, where there is room for so many bytes, by what its header says:
/// cheap, for a search.
bool looks_like_record(byte_view front, std::uint64_t room) noexcept;

/// Takes a record apart whose frame was read. An error says what its inside lacks: it was written
/// by a later version, or by mistake.
result<record> decode(byte_view frame);

/// A record's message up to its body, which may not be there yet.
struct message_front {
  stored_message message;   ///< without its body
  std::size_t body_at = 0;  ///< in the record, to its end
  std::uint64_t body_size = 0;
};

/// The same of an enqueue, a move or a relocate that begins with `front`.
result<message_front> decode_front(byte_view front);

/// Takes the first message off the front of those of a chunk that `decode` has looked at.
stored_message take_message(byte_view& messages) noexcept;

/// Calls `use(const stored_message&)` for each message of a chunk. `decode` has looked at them all.
template <class Use>
void for_each_message(const chunk& whole, Use&& use) {
  auto left = whole.messages;
  while (!left.empty()) use(take_message(left));
}

/// The front of the first message of a chunk's, `body_at` in it, of which there is nothing to know.
result<message_front> decode_message_front(byte_view messages);

/// What a chunk that begins with `front` says before its messages, of which those that are in
/// `front` are given and not looked at.
result<chunk> decode_chunk_front(byte_view front);

/// The size that a record says it has: of the parts of a tx, whose frames are not checked singly.
std::uint32_t size_of_part(byte_view from) noexcept;

/// Calls `use(const record&)` for each part of a tx. `decode` has looked at them all.
template <class Use>
void for_each_part(const tx& whole, Use&& use) {
  for (auto left = whole.parts; !left.empty();) {
    const auto size = size_of_part(left);
    use(*decode(left.first(size)));
    left = left.subspan(padded(size));
  }
}

/// The same with their places: `use(place, byte_view frame, const record&)`. `at`: the tx's own.
template <class Use>
void for_each_part(place at, const tx& whole, Use&& use) {
  at.offset += static_cast<std::uint32_t>(record_header_size);
  for (auto left = whole.parts; !left.empty();) {
    const auto frame = left.first(size_of_part(left));
    use(at, frame, *decode(frame));
    left = left.subspan(padded(frame.size()));
    at.offset += static_cast<std::uint32_t>(padded(frame.size()));
  }
}

/// What a record says of messages in queues, as its front says it; its body need not be there.
struct record_outline {
  record_kind kind = record_kind::group;
  std::uint32_t size = 0;       ///< of the record
  entries<queue_run> runs;      ///< of a settle or a move
  entries<queue_place> places;  ///< of an enqueue, a move, a relocate or a chunk
  byte_view frame;              ///< all of it, where it has no message
};

/// Of a record that was made here, or whose frame was checked: from its front on.
record_outline outline_of(byte_view front) noexcept;

/// The record at a place that was told by `record_owner` or found by a recovery, from there on: one
/// in a tx too, whose own checksum is not checked (it has none).
result<byte_view, frame_problem> read_placed(byte_view from, std::uint32_t seal) noexcept;

}  // namespace baton::journal
