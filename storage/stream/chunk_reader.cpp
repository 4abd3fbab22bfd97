#include "storage/stream/chunk_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "storage/journal/crc32c.hpp"
#include "storage/journal/log_writer.hpp"
#include "storage/journal/numbers.hpp"
#include "storage/journal/segment.hpp"
#include "storage/memory_account.hpp"
#include "storage/stream/passing_record.hpp"
#include "storage/stream/stream_folder.hpp"

namespace baton::stream_log {

using namespace journal;

namespace {

constexpr std::size_t buffer_size = 256 << 10;
constexpr std::size_t smallest_window = 4 << 10;
constexpr std::size_t files_kept_open = 16;

/// A call looks at so many windows of a log for the first chunk that is wanted.
constexpr int windows_a_call = 16;

/// Header, place, number of messages.
constexpr std::size_t chunk_front_size = record_header_size + queue_place::size + 4;

bool is_group(byte_view frame) noexcept {
  return frame[8] == static_cast<std::uint8_t>(record_kind::group);
}

std::string text_of(const std::string& path, std::uint32_t offset, const std::string& why) {
  return path + ": offset " + std::to_string(offset) + ": " + why;
}

message_parts parts_of(const stored_message& m) noexcept {
  message_parts parts;
  parts.exchange = m.exchange;
  parts.routing_key = m.routing_key;
  parts.properties = m.properties;
  parts.persistent = m.persistent;
  parts.priority = m.priority;
  parts.expiration_ms = m.expiration_ms;
  return parts;
}

/// A message of which the body goes on behind what is in the buffer.
message add_passing(passing_record& record, const message_front& front, slab_writer& slabs) {
  // The buffer is used again before the message is made.
  const std::string exchange{front.message.exchange};
  const std::string key{front.message.routing_key};
  const std::vector<std::uint8_t> properties(front.message.properties.begin(),
                                             front.message.properties.end());
  auto parts = parts_of(front.message);
  parts.exchange = exchange;
  parts.routing_key = key;
  parts.properties = properties;
  record.pass(front.body_at);
  auto body = std::make_unique<large_body>(std::min(front.body_size, record.left()));
  for (auto left = front.body_size; left > 0;) {
    auto piece = record.ahead(std::min<std::uint64_t>(left, buffer_size));
    if (piece.empty()) break;
    piece = piece.first(std::min<std::uint64_t>(left, piece.size()));
    body->append(piece);
    record.pass(piece.size());
    left -= piece.size();
  }
  return slabs.add(parts, std::move(body));
}

bool is_blank(byte_view header) noexcept {
  return header.size() < segment_header_size ||
         std::all_of(header.begin(), header.end(), [](auto b) { return b == 0; });
}

}  // namespace

chunk_reader::chunk_reader(file_system& files, std::string streams)
    : files_{files}, streams_{std::move(streams)} {}

chunk_reader::~chunk_reader() {
  if (buffer_) memory_account::of_this_thread().freed(buffer_size);
}

chunk_reader::outcome chunk_reader::read(const request& wanted) {
  if (!buffer_) {
    buffer_.reset(new std::uint8_t[buffer_size]);
    memory_account::of_this_thread().created(buffer_size);
  }
  outcome made;
  made.stopped = wanted.where.from;
  made.offset = wanted.offset;
  if (auto* from = open(wanted, made); from != nullptr)
    for (int n = 0; n < windows_a_call; ++n) {
      if (!made.chunks.empty() || made.stopped.offset >= wanted.where.end) break;
      if (!read_window(*from, wanted, made)) break;
    }
  slabs_.close();
  // What is missing before that, no reader gets.
  if (made.stopped.offset >= wanted.where.end)
    made.offset = std::max(made.offset, wanted.where.next);
  return made;
}

// -- files

chunk_reader::open_segment* chunk_reader::open(const request& wanted, outcome& made) {
  const auto number = wanted.where.from.segment;
  const auto there = std::find_if(open_.begin(), open_.end(), [&](const auto& one) {
    return one.number == number && one.queue == wanted.queue;
  });
  if (there != open_.end()) {
    open_.splice(open_.begin(), open_, there);
    return &open_.front();
  }
  const auto path = stream_folder(streams_, wanted.queue) + "/" + segment_name(number);
  const auto failed = [&](const std::string& why) {
    made.damage.push_back(path + ": " + why);
    made.stopped.offset = wanted.where.end;
    return nullptr;
  };
  auto opened = files_.open(path, open_mode::read);
  if (!opened && opened.reason().code == ENOENT) {
    made.retired = true;
    return nullptr;
  }
  if (!opened) return failed(opened.reason().text());
  std::uint8_t bytes[segment_header_size];
  const auto got = (*opened)->read(0, bytes);
  if (!got) return failed(got.reason().text());
  // It is blank while it is freed.
  made.retired = is_blank({bytes, *got});
  if (made.retired) return nullptr;
  const auto header = read_segment_header({bytes, *got});
  if (!header) return failed("the file " + header.reason().text);
  if (header->number != number || header->queue != wanted.queue)
    return failed("the file says that it is segment " + std::to_string(header->number) +
                  " of queue " + std::to_string(header->queue));
  if (open_.size() >= files_kept_open) open_.pop_back();
  open_.push_front(
      {wanted.queue, number, header->generation, seal_of(header->generation), *std::move(opened)});
  return &open_.front();
}

/// Whether the file is still that segment: then what is wrong in it is damage.
bool chunk_reader::is_still(open_segment& from) {
  std::uint8_t bytes[segment_header_size];
  const auto got = from.from->read(0, bytes);
  if (!got) return true;
  const auto header = read_segment_header({bytes, *got});
  return header ? header->generation == from.generation : !is_blank({bytes, *got});
}

void chunk_reader::left_behind(std::uint64_t queue, std::uint32_t segment) {
  request there;
  there.queue = queue;
  there.where.from.segment = segment;
  outcome ignored;
  auto* from = open(there, ignored);
  if (from == nullptr) return;
  // The file's contents stay whatever happens.
  static_cast<void>(from->from->drop_pages(0, 0));
  open_.pop_front();
}

void chunk_reader::close(std::uint64_t queue, std::uint32_t segment) {
  open_.remove_if([&](const auto& one) { return one.queue == queue && one.number < segment; });
}

// -- records

/// Reads some records at once. False: that is all for this time.
bool chunk_reader::read_window(open_segment& from, const request& wanted, outcome& made) {
  const auto begin = made.stopped.offset;
  const auto end = wanted.where.end;
  const auto size = std::min<std::size_t>(
      std::clamp(wanted.max_bytes, smallest_window, buffer_size), end - begin);
  const auto got = from.from->read(begin, {buffer_.get(), size});
  if (!got) {
    made.damage.push_back(got.reason().text());
    return pass_damage(from, wanted, made);
  }
  const byte_view bytes{buffer_.get(), *got};
  while (made.stopped.offset < end) {
    const auto at = made.stopped.offset;
    const auto left = bytes.subspan(std::min<std::size_t>(at - begin, bytes.size()));
    if (const auto frame = read_frame(left, from.seal)) {
      if (!take(from, *frame, wanted, made)) return false;
      pass(size_of_part(*frame), wanted, made);
      continue;
    }
    const bool is_cut = *got == size && at + left.size() < end;  // by the end of the window
    if (is_cut && at != begin && left.size() < record_header_size) return true;
    if (!is_cut || !looks_like_record(left, end - at) || size_of_part(left) <= left.size())
      return pass_damage(from, wanted, made);
    return at != begin || read_larger(from, wanted, size_of_part(left), made);
  }
  return true;
}

/// Goes on behind a record.
void chunk_reader::pass(std::uint32_t size, const request& wanted, outcome& made) {
  made.stopped.offset = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(made.stopped.offset + padded(size), wanted.where.end));
}

/// Goes on with the next record that is whole.
bool chunk_reader::pass_damage(open_segment& from, const request& wanted, outcome& made) {
  const auto begin = made.stopped.offset;
  segment_header header;
  header.generation = from.generation;
  segment_scan scan{*from.from, header, begin, wanted.where.end};
  const bool goes_on = scan.skip_damage();
  if (!is_still(from)) {
    made.retired = true;
    close(from.queue, from.number + 1);
    return false;
  }
  made.stopped.offset = goes_on ? scan.offset() : wanted.where.end;
  if (scan.error()) {  // there may be more behind what the disk does not give
    made.damage.push_back(scan.error()->text());
    made.stopped.offset = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(scan.offset() + buffer_size, wanted.where.end));
  }
  made.damage.push_back(from.from->path() + ": bytes " + std::to_string(begin) + " to " +
                        std::to_string(made.stopped.offset) + " are damaged");
  return true;
}

// -- chunks

chunk_reader::verdict chunk_reader::judge(const chunk& front, const request& wanted,
                                          const outcome& made) {
  if (front.first >= wanted.before) return verdict::not_yet;
  // Where a segment ends is not always known: this was written in vain.
  if (front.first >= wanted.where.next) return verdict::passed_over;
  const bool is_passed = front.first + front.count <= made.offset;
  return is_passed || front.time_ms < wanted.since_ms ? verdict::passed_over : verdict::wanted;
}

/// Makes a chunk's messages, if they are wanted. False: it is not committed yet.
bool chunk_reader::take(const open_segment& from, byte_view frame, const request& wanted,
                        outcome& made) {
  if (is_group(frame)) return true;
  const auto fail = [&](const std::string& why) {
    made.damage.push_back(text_of(from.from->path(), made.stopped.offset, why));
    return true;
  };
  const auto front = decode_chunk_front(frame);
  if (!front) return fail(front.reason().text);
  if (front->queue != wanted.queue) return fail("it is of another queue");
  const auto what = judge(*front, wanted, made);
  if (what == verdict::not_yet) return false;
  const auto inside = decode(frame);
  if (!inside) return fail(inside.reason().text);
  made.offset = std::max(made.offset, std::min(front->first + front->count, wanted.where.next));
  if (what == verdict::passed_over) return true;
  read_chunk one{front->first, front->time_ms, {}, made.stopped};
  one.messages.reserve(front->count);
  slabs_.expect(frame.size());
  for_each_message(std::get<chunk>(*inside), [&](const stored_message& m) {
    one.messages.push_back(slabs_.add(parts_of(m), m.body));
  });
  made.chunks.push_back(std::move(one));
  return true;
}

/// Reads a record that is larger than a window, which it comes first in.
bool chunk_reader::read_larger(open_segment& from, const request& wanted, std::uint32_t size,
                               outcome& made) {
  if (size > buffer_size) return read_passing(from, wanted, size, made);
  const auto got = from.from->read(made.stopped.offset, {buffer_.get(), size});
  if (!got) made.damage.push_back(got.reason().text());
  const auto frame = read_frame({buffer_.get(), got ? *got : 0}, from.seal);
  if (!frame) return pass_damage(from, wanted, made);
  if (!take(from, *frame, wanted, made)) return false;
  pass(size, wanted, made);
  return true;
}

/// The same of one that is larger than the buffer, which it passes through.
bool chunk_reader::read_passing(open_segment& from, const request& wanted, std::uint32_t size,
                                outcome& made) {
  passing_record record{*from.from, made.stopped.offset, size, {buffer_.get(), buffer_size}};
  read_chunk one;
  one.at = made.stopped;
  auto what = verdict::passed_over;
  std::uint64_t end = 0;
  std::string why;  // nothing is wrong, but maybe the checksum
  if (const auto front = decode_chunk_front(record.ahead(buffer_size)); !front) {
    why = front.reason().text;
  } else if (front->queue != wanted.queue) {
    why = "it is of another queue";
  } else {
    what = judge(*front, wanted, made);
    if (what == verdict::not_yet) return false;
    one.first = front->first;
    one.time_ms = front->time_ms;
    end = std::min(front->first + front->count, wanted.where.next);
    const auto count = front->count;
    record.pass(chunk_front_size);
    for (auto n = count; what == verdict::wanted && why.empty() && n > 0; --n) {
      auto view = record.ahead(sizeof(std::uint32_t));
      if (view.size() < sizeof(std::uint32_t)) break;
      view = record.ahead(sizeof(std::uint32_t) + size_of_part(view));
      const auto m = decode_message_front(view);
      const bool is_there = m && m->body_size <= view.size() - m->body_at;
      // Properties that are about as large as the buffer.
      if (!is_there && view.size() == buffer_size && (!m || m->body_size <= small_body_limit))
        return read_whole(from, wanted, size, made);
      if (!m) {
        why = m.reason().text;
      } else if (is_there) {
        one.messages.push_back(
            slabs_.add(parts_of(m->message), view.subspan(m->body_at, m->body_size)));
        record.pass(m->body_at + m->body_size);
      } else {
        one.messages.push_back(add_passing(record, *m, slabs_));
      }
    }
    if (what == verdict::wanted && why.empty() &&
        (one.messages.size() != count || record.left() > 0))
      why = "its messages do not fit into it";
  }
  while (record.left() > 0 && !record.error()) record.pass(record.ahead(buffer_size).size());
  if (record.error()) made.damage.push_back(*record.error());
  if (record.error() || !record.is_sound(from.seal)) return pass_damage(from, wanted, made);
  if (!why.empty()) made.damage.push_back(text_of(from.from->path(), made.stopped.offset, why));
  if (why.empty()) made.offset = std::max(made.offset, end);
  if (why.empty() && what == verdict::wanted) made.chunks.push_back(std::move(one));
  pass(size, wanted, made);
  return true;
}

bool chunk_reader::read_whole(open_segment& from, const request& wanted, std::uint32_t size,
                              outcome& made) {
  std::vector<std::uint8_t> bytes(size);
  const auto got = from.from->read(made.stopped.offset, bytes);
  if (!got) made.damage.push_back(got.reason().text());
  const auto frame = read_frame({bytes.data(), got ? *got : 0}, from.seal);
  if (!frame) return pass_damage(from, wanted, made);
  if (!take(from, *frame, wanted, made)) return false;
  pass(size, wanted, made);
  return true;
}

}  // namespace baton::stream_log
