#include "storage/stream/chunk_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "storage/journal/log_writer.hpp"
#include "storage/journal/numbers.hpp"
#include "storage/journal/segment.hpp"
#include "storage/memory_account.hpp"
#include "storage/stream/stream_folder.hpp"

namespace baton::stream {

using namespace journal;

namespace {

constexpr std::size_t buffer_size = 256 << 10;
constexpr std::size_t smallest_window = 4 << 10;
constexpr std::size_t files_kept_open = 16;

/// A call looks at so many windows of a log for the first chunk that is wanted.
constexpr int windows_a_call = 16;

std::uint32_t size_at(byte_view front) noexcept { return load<std::uint32_t>(front.data()); }

std::string damaged(const std::string& path, std::uint32_t from, std::uint32_t to) {
  return path + ": bytes " + std::to_string(from) + " to " + std::to_string(to) + " are damaged";
}

bool is_blank(byte_view header) noexcept {
  return header.size() < segment_header_size ||
         std::all_of(header.begin(), header.end(), [](auto b) { return b == 0; });
}

}  // namespace

chunk_reader::chunk_reader(file_system& files, std::string streams)
    : files_{files}, streams_{std::move(streams)}, buffer_{new std::uint8_t[buffer_size]} {
  memory_account::of_this_thread().created(buffer_size);
}

chunk_reader::~chunk_reader() { memory_account::of_this_thread().freed(buffer_size); }

chunk_reader::outcome chunk_reader::read(const request& wanted) {
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
    made.stopped.offset += static_cast<std::uint32_t>(size);
    return made.stopped.offset >= end || pass_damage(from, wanted, made);
  }
  const byte_view bytes{buffer_.get(), *got};
  for (;;) {
    const auto at = made.stopped.offset;
    if (at >= end) return true;
    const auto left = bytes.subspan(std::min<std::size_t>(at - begin, bytes.size()));
    if (const auto frame = read_frame(left, from.seal)) {
      if (!take(*frame, wanted, made)) return false;
      made.stopped.offset = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(std::uint64_t{at} + padded(frame->size()), end));
      continue;
    }
    // It may go on behind what was read.
    const bool is_cut = *got == size && size < end - begin &&
                        (left.size() < record_header_size ||
                         (size_at(left) > left.size() && size_at(left) <= end - at));
    if (is_cut && at != begin) return true;
    if (is_cut) return read_large(from, wanted, size_at(left), made);
    return pass_damage(from, wanted, made);
  }
}

/// Reads a record that is larger than a window.
bool chunk_reader::read_large(open_segment& from, const request& wanted, std::uint32_t size,
                              outcome& made) {
  const auto begin = made.stopped.offset;
  const auto file_end = from.from->size();
  if (!file_end || size > *file_end - std::min<std::uint64_t>(*file_end, begin))
    return pass_damage(from, wanted, made);
  std::vector<std::uint8_t> bytes(size);
  const auto got = from.from->read(begin, bytes);
  if (!got) return pass_damage(from, wanted, made);
  const auto frame = read_frame({bytes.data(), *got}, from.seal);
  if (!frame) return pass_damage(from, wanted, made);
  if (!take(*frame, wanted, made)) return false;
  made.stopped.offset = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(begin + padded(frame->size()), wanted.where.end));
  return true;
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
  if (scan.error()) made.damage.push_back(scan.error()->text());
  made.stopped.offset = goes_on ? scan.offset() : wanted.where.end;
  made.damage.push_back(damaged(from.from->path(), begin, made.stopped.offset));
  return true;
}

/// Makes a chunk's messages, if they are wanted. False: it is not committed yet.
bool chunk_reader::take(byte_view frame, const request& wanted, outcome& made) {
  if (frame[8] == static_cast<std::uint8_t>(record_kind::group)) return true;
  const auto fail = [&](const std::string& why) {
    made.damage.push_back(stream_folder(streams_, wanted.queue) + "/" +
                          segment_name(made.stopped.segment) + ": offset " +
                          std::to_string(made.stopped.offset) + ": " + why);
    return true;
  };
  const auto front = decode_chunk_front(frame);
  if (!front) return fail(front.reason().text);
  if (front->queue != wanted.queue) return fail("it is of queue " + std::to_string(front->queue));
  if (front->first >= wanted.before) return false;
  const auto end = front->first + front->count;
  const bool is_wanted = end > made.offset && front->time_ms >= wanted.since_ms;
  made.offset = std::max(made.offset, end);
  if (!is_wanted) return true;
  const auto inside = decode(frame);
  if (!inside) return fail(inside.reason().text);
  const auto& whole = std::get<chunk>(*inside);
  read_chunk one;
  one.first = whole.first;
  one.time_ms = whole.time_ms;
  one.at = made.stopped;
  one.messages.reserve(whole.count);
  slabs_.expect(frame.size());
  for_each_message(whole, [&](const stored_message& m) {
    message_parts parts;
    parts.exchange = m.exchange;
    parts.routing_key = m.routing_key;
    parts.properties = m.properties;
    parts.persistent = m.persistent;
    parts.priority = m.priority;
    parts.expiration_ms = m.expiration_ms;
    one.messages.push_back(slabs_.add(parts, m.body));
  });
  made.chunks.push_back(std::move(one));
  return true;
}

}  // namespace baton::stream
