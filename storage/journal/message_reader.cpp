#include "storage/journal/message_reader.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "storage/journal/crc32c.hpp"
#include "storage/journal/log_writer.hpp"
#include "storage/journal/numbers.hpp"
#include "storage/journal/segment.hpp"
#include "storage/memory_account.hpp"

namespace baton::journal {

namespace {

constexpr std::size_t buffer_size = 256 << 10;
constexpr std::size_t files_kept_open = 8;

// Places at most this far apart are read together: on a disk the way is the cost.
constexpr std::uint32_t largest_gap = 16 << 10;
// How long the last record of a stretch is, is not known before it is read.
constexpr std::uint32_t likely_size = 4 << 10;

constexpr std::uint32_t check_at = 4;
constexpr std::uint32_t summed_from = 8;

std::uint32_t size_at(byte_view front) noexcept { return load<std::uint32_t>(front.data()); }

}  // namespace

message_reader::message_reader(file_system& files, std::string folder)
    : files_{files}, folder_{std::move(folder)}, buffer_{new std::uint8_t[buffer_size]} {
  memory_account::of_this_thread().created(buffer_size);
}

message_reader::~message_reader() { memory_account::of_this_thread().freed(buffer_size); }

void message_reader::read(std::uint64_t queue, std::span<const place> places,
                          std::vector<outcome>& into) {
  places_ = places;
  into_ = &into;
  into.clear();
  into.reserve(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) into.emplace_back(message{});
  std::vector<std::size_t> by_place(places.size());
  std::iota(by_place.begin(), by_place.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) { return places[a] < places[b]; };
  if (!std::is_sorted(by_place.begin(), by_place.end(), before))
    std::sort(by_place.begin(), by_place.end(), before);

  for (auto left = order{by_place}; !left.empty();) {
    const auto segment = places[left.front()].segment;
    const auto end = std::find_if(left.begin(), left.end(),
                                  [&](auto nth) { return places[nth].segment != segment; });
    const auto here = left.first(static_cast<std::size_t>(end - left.begin()));
    stand(queue, segment);
    if (auto opened = open(segment)) {
      read_in(**opened, here);
    } else {
      for (auto nth : here) {
        into[nth] = failure{opened.reason()};
        into[nth].reason().offset = offset_of(nth);
      }
    }
    left = left.subspan(here.size());
  }
  slabs_.close();
}

// -- files

std::string message_reader::path_of(std::uint32_t segment) const {
  return folder_ + "/" + segment_name(segment);
}

result<message_reader::open_segment*, unreadable> message_reader::open(std::uint32_t segment) {
  const auto there = std::find_if(open_.begin(), open_.end(),
                                  [&](const auto& one) { return one.number == segment; });
  if (there != open_.end()) {
    open_.splice(open_.begin(), open_, there);
    return &open_.front();
  }
  const auto path = path_of(segment);
  const auto failed = [&](std::string why) { return failure{unreadable{path, 0, std::move(why)}}; };
  auto opened = files_.open(path, open_mode::read);
  if (!opened) return failed(opened.reason().text());
  std::uint8_t bytes[segment_header_size];
  const auto got = (*opened)->read(0, bytes);
  if (!got) return failed(got.reason().text());
  const auto header = read_segment_header({bytes, *got});
  if (!header) return failed("the file " + header.reason().text);
  if (header->number != segment)
    return failed("the file says that it is segment " + std::to_string(header->number));
  if (open_.size() >= files_kept_open) open_.pop_back();
  open_.push_front({segment, seal_of(header->generation), *std::move(opened)});
  return &open_.front();
}

void message_reader::close(std::uint32_t segment) {
  open_.remove_if([&](const auto& one) { return one.number == segment; });
  read_.erase(segment);
}

// -- records

void message_reader::fail(const open_segment& from, std::size_t nth, std::string why) {
  (*into_)[nth] = failure{unreadable{from.from->path(), offset_of(nth), std::move(why)}};
}

void message_reader::read_in(open_segment& from, order wanted) {
  while (!wanted.empty()) {
    // As far as neighbours are near, and all of it fits into the buffer.
    std::size_t near = 1;
    const auto begin = offset_of(wanted.front());
    while (near < wanted.size() &&
           offset_of(wanted[near]) - offset_of(wanted[near - 1]) <= largest_gap &&
           offset_of(wanted[near]) - begin <= buffer_size - likely_size)
      ++near;
    std::size_t done = 0;
    if (!read_together(from, wanted.first(near), done)) {
      // Something there cannot be read: that is no reason to lose its neighbours.
      for (auto nth : wanted.first(near)) read_alone(from, nth);
      done = near;
    }
    wanted = wanted.subspan(done);
  }
}

/// Reads a stretch at once; `done`: how many records of it are finished with. False: the file
/// system does not give it.
bool message_reader::read_together(open_segment& from, order stretch, std::size_t& done) {
  const auto begin = offset_of(stretch.front());
  const auto size = offset_of(stretch.back()) - begin + likely_size;
  const auto got = from.from->read(begin, {buffer_.get(), size});
  if (!got) return false;
  const byte_view bytes{buffer_.get(), *got};
  for (auto nth : stretch) {
    const auto here = bytes.subspan(std::min<std::size_t>(offset_of(nth) - begin, bytes.size()));
    if (here.size() < record_header_size) {
      if (*got == size) break;  // it goes on behind what was read
      fail(from, nth, "the file ends before it");
    } else if (size_at(here) <= here.size() || *got < size) {
      found_.push_back({nth, here});
    } else {
      break;
    }
    ++done;
  }
  make_found(from);
  if (done == 0) {  // the first one is larger than was likely
    read_alone(from, stretch.front());
    done = 1;
  }
  return true;
}

void message_reader::read_alone(open_segment& from, std::size_t nth) {
  const auto read = [&](std::size_t size) -> byte_view {
    const auto got = from.from->read(offset_of(nth), {buffer_.get(), size});
    if (got && *got >= record_header_size) return {buffer_.get(), *got};
    fail(from, nth, got ? "the file ends before it" : got.reason().text());
    return {};
  };
  auto front = read(record_header_size);
  if (front.empty()) return;
  const auto size = size_at(front);
  front = read(std::clamp<std::size_t>(size, record_header_size, buffer_size));
  if (front.empty()) return;
  if (size > front.size() && front.size() == buffer_size) return read_large(from, nth, front, size);
  found_.push_back({nth, front});
  make_found(from);
}

/// Passes a record through the buffer, the front of which is there.
void message_reader::read_large(open_segment& from, std::size_t nth, byte_view front,
                                std::uint32_t size) {
  const auto inside = decode_front(front);
  if (!inside) return read_whole(from, nth, size);
  message_parts parts;
  // The buffer is used again before the message is made.
  const std::string exchange{inside->message.exchange};
  const std::string key{inside->message.routing_key};
  const std::vector<std::uint8_t> properties(inside->message.properties.begin(),
                                             inside->message.properties.end());
  parts.exchange = exchange;
  parts.routing_key = key;
  parts.properties = properties;
  parts.persistent = inside->message.persistent;
  parts.priority = inside->message.priority;
  parts.expiration_ms = inside->message.expiration_ms;

  const auto check = load<std::uint32_t>(&front[check_at]);
  auto sum = crc32c(front.subspan(summed_from), crc32c(front.first(check_at)));
  auto body = std::make_unique<large_body>(inside->body_size);
  body->append(front.subspan(inside->body_at));
  for (std::uint64_t done = front.size(); done < size;) {
    const auto wanted = std::min<std::uint64_t>(size - done, buffer_size);
    const auto got = from.from->read(offset_of(nth) + done, {buffer_.get(), wanted});
    if (!got) return fail(from, nth, got.reason().text());
    if (*got < wanted) return fail(from, nth, "the file ends before it does");
    const byte_view piece{buffer_.get(), *got};
    sum = crc32c(piece, sum);
    body->append(piece);
    done += piece.size();
  }
  const bool is_part = check == 0;  // of a tx, whose own sum covers it
  if (!is_part && (sum ^ from.seal) != check) return fail(from, nth, "its checksum is wrong");
  (*into_)[nth] = slabs_.add(parts, std::move(body));
}

/// Reads one whose body does not begin within the buffer: it stands in very many queues.
void message_reader::read_whole(open_segment& from, std::size_t nth, std::uint32_t size) {
  const auto end = from.from->size();
  if (!end) return fail(from, nth, end.reason().text());
  if (size > *end - std::min<std::uint64_t>(*end, offset_of(nth)))
    return fail(from, nth, "the file ends before it does");
  std::vector<std::uint8_t> bytes(size);
  const auto got = from.from->read(offset_of(nth), bytes);
  if (!got) return fail(from, nth, got.reason().text());
  make(from, {nth, byte_view{bytes}.first(*got)});
}

void message_reader::make_found(const open_segment& from) {
  std::size_t expected = 0;
  for (const auto& one : found_)
    expected += std::min<std::size_t>(size_at(one.frame), one.frame.size());
  slabs_.expect(expected);
  for (const auto& one : found_) make(from, one);
  found_.clear();
}

void message_reader::make(const open_segment& from, const found& one) {
  const auto frame = read_placed(one.frame, from.seal);
  if (!frame)
    return fail(from, one.nth,
                frame.reason() == frame_problem::none_here ? "nothing is written here"
                : size_at(one.frame) > one.frame.size()    ? "the file ends before it does"
                                                           : "its checksum is wrong");
  const auto inside = decode_front(*frame);
  if (!inside) return fail(from, one.nth, inside.reason().text);
  message_parts parts;
  parts.exchange = inside->message.exchange;
  parts.routing_key = inside->message.routing_key;
  parts.properties = inside->message.properties;
  parts.persistent = inside->message.persistent;
  parts.priority = inside->message.priority;
  parts.expiration_ms = inside->message.expiration_ms;
  (*into_)[one.nth] = slabs_.add(parts, frame->subspan(inside->body_at));
}

// -- pages

void message_reader::stand(std::uint64_t queue, std::uint32_t segment) {
  read_.insert(segment);
  const auto [stood, is_new] = where_.try_emplace(queue, segment);
  if (!is_new) {
    if (stood->second == segment) return;
    const auto before = standing_.find(std::exchange(stood->second, segment));
    if (--before->second == 0) standing_.erase(before);
  }
  ++standing_[segment];
  give_up_pages();
}

void message_reader::leave(std::uint64_t queue) {
  const auto stood = where_.find(queue);
  if (stood == where_.end()) return;
  const auto before = standing_.find(stood->second);
  if (--before->second == 0) standing_.erase(before);
  where_.erase(stood);
  give_up_pages();
}

void message_reader::give_up_pages() {
  while (!read_.empty() && !standing_.empty() && *read_.begin() < standing_.begin()->first) {
    const auto segment = *read_.begin();
    // The file's contents stay whatever happens, and so do its pages if it cannot be opened.
    if (auto left = open(segment)) static_cast<void>((*left)->from->drop_pages(0, 0));
    close(segment);
  }
}

}  // namespace baton::journal
