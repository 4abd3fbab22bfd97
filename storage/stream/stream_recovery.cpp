#include "storage/stream/stream_recovery.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "storage/journal/log_writer.hpp"
#include "storage/journal/numbers.hpp"
#include "storage/journal/segment.hpp"

namespace baton::stream_log {

using namespace journal;

namespace {

/// The smallest message of a chunk: its size, and what all of them have.
constexpr std::uint64_t smallest_message = 28;

constexpr std::size_t likely_size = 4 << 10;
/// What the front of a chunk says is believed from this size on, if it fits in with the others.
constexpr std::uint32_t too_large_to_check = 1 << 20;

failure<error> failed(const io_error& why) { return failure{error{why.text()}}; }

struct found_chunk {
  record_place where;
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  std::uint64_t time_ms = 0;
};

/// What has been read of a segment, behind the last chunk in it.
struct rest_of_segment {
  bool has_chunk = false;
  std::uint64_t begin = segment_header_size;
  std::uint64_t known = 0;  // bytes of whole records
};

/// One recovery under way.
class recovery {
public:
  recovery(file_system& files, const std::string& folder, std::uint64_t queue)
      : files_{files}, folder_{folder}, queue_{queue}, made_{queue} {}

  result<recovered_stream> run() {
    const auto use = [this](place at, byte_view frame, const record& r) { note(at, frame, r); };
    std::vector<unread_segment> unread;
    auto log = recover_log_end(files_, folder_, use, unread);
    if (!log) return failure{log.reason()};
    for (auto& text : made_.log.damage) log->damage.push_back(std::move(text));
    made_.log = *std::move(log);
    if (auto known = read_headers(unread.size()); !known) return failure{known.reason()};
    for (const auto& each : unread)
      if (auto own = check(each.header); !own) return failure{own.reason()};
    // Only a chunk says which offset comes next.
    for (; chunks_.empty() && !unread.empty(); unread.pop_back())
      if (auto read = read_whole(unread.back()); !read) return failure{read.reason()};
    if (auto looked = look_into(unread); !looked) return failure{looked.reason()};
    fill_table();
    return std::move(made_);
  }

private:
  std::string path_of(std::uint32_t segment) const { return folder_ + "/" + segment_name(segment); }

  void damage(place at, const std::string& why) {
    made_.log.damage.push_back(path_of(at.segment) + ": offset " + std::to_string(at.offset) +
                               ": " + why);
  }

  // -- whose segments they are

  result<void> check(const segment_header& header) const {
    if (header.kind == segment_kind::stream && header.queue == queue_) return {};
    return failure{error{path_of(header.number) + ": is no segment of the stream of queue " +
                         std::to_string(queue_)}};
  }

  /// Of the segments behind the first `unread`: where they end.
  result<void> read_headers(std::size_t unread) {
    const auto& numbers = made_.log.segments;
    for (auto i = unread; i < numbers.size(); ++i) {
      auto opened = files_.open(path_of(numbers[i]), open_mode::read);
      if (!opened) return failed(opened.reason());
      std::uint8_t bytes[segment_header_size];
      const auto got = (*opened)->read(0, bytes);
      if (!got) return failed(got.reason());
      const auto header = read_segment_header({bytes, *got});
      if (!header) return failure{error{path_of(numbers[i]) + ": " + header.reason().text}};
      if (auto own = check(*header); !own) return failure{own.reason()};
      if (i > unread) ends_[header->previous_end.segment] = header->previous_end.offset;
    }
    ends_[made_.log.end.segment] = made_.log.end.offset;
    return {};
  }

  // -- the end of the log

  void note(place at, byte_view frame, const record& r) {
    auto& rest = rests_[at.segment];
    const auto size = padded(frame.size());
    const auto* c = std::get_if<chunk>(&r);
    if (c == nullptr) {
      rest.known += size;
    } else if (is_sound(at, *c)) {
      chunks_.push_back(
          {{at, static_cast<std::uint32_t>(frame.size())}, c->first, c->count, c->time_ms});
      rest = {true, at.offset + size, 0};
    }
  }

  /// Whether a chunk that was written whole can be one of this log.
  bool is_sound(place at, const chunk& c) {
    if (c.queue != queue_) {
      damage(at, "it is of queue " + std::to_string(c.queue));
      return false;
    }
    const auto next = chunks_.empty() ? 0 : chunks_.back().first + chunks_.back().count;
    if (c.count == 0 || c.first < next || c.first > UINT64_MAX - c.count) {
      damage(at, "its messages are not the next ones");
      return false;
    }
    return true;
  }

  result<void> read_whole(const unread_segment& which) {
    const auto number = which.header.number;
    auto opened = files_.open(path_of(number), open_mode::read);
    if (!opened) return failed(opened.reason());
    const auto end = end_of(which, **opened);
    if (!end) return failure{end.reason()};
    ends_[number] = *end;
    segment_scan scan{**opened, which.header, segment_header_size, *end};
    rests_[number];
    for (bool goes_on = true; goes_on;) {
      while (auto found = scan.next())
        if (const auto r = decode(found->frame)) note({number, found->offset}, found->frame, *r);
      if (scan.offset() >= *end || scan.error()) break;
      const auto from = scan.offset();
      goes_on = scan.skip_damage();
      damage({number, from},
             "the bytes up to " + std::to_string(goes_on ? scan.offset() : *end) + " are damaged");
    }
    if (scan.error()) return failed(*scan.error());
    return {};
  }

  result<std::uint32_t> end_of(const unread_segment& which, file& in) const {
    if (which.end) return *which.end;
    const auto size = in.size();
    if (!size) return failed(size.reason());
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(*size, UINT32_MAX));
  }

  /// How many messages may have been lost behind the last chunk.
  std::uint64_t lost_behind() const {
    std::uint64_t bytes = 0;
    for (auto s = ends_.rbegin(); s != ends_.rend(); ++s) {
      const auto found = rests_.find(s->first);
      const auto rest = found == rests_.end() ? rest_of_segment{} : found->second;
      bytes += s->second - std::min<std::uint64_t>(s->second, rest.begin + rest.known);
      if (rest.has_chunk) break;
    }
    return bytes / smallest_message;
  }

  // -- the segments before it

  /// Finds the first chunk of each.
  result<void> look_into(const std::vector<unread_segment>& unread) {
    const auto known_damage = made_.log.damage.size();
    for (const bool trusting : {true, false}) {
      bool fit = true;
      older_.clear();
      made_.log.damage.resize(known_damage);
      for (const auto& each : unread) {
        auto looked = look_into(each, trusting, fit);
        if (!looked) return looked;
        if (!fit && trusting) break;
      }
      if (fit) break;
    }
    return {};
  }

  /// `fit`: becomes false if it cannot be before or behind the others.
  result<void> look_into(const unread_segment& which, bool trusting, bool& fit) {
    const auto number = which.header.number;
    auto opened = files_.open(path_of(number), open_mode::read);
    if (!opened) return failed(opened.reason());
    const auto end = end_of(which, **opened);
    if (!end) return failure{end.reason()};
    auto first = first_chunk(**opened, which.header, *end, trusting);
    if (!first) return failure{first.reason()};
    if (!*first) return {};
    const auto& c = **first;
    const auto behind = older_.empty() ? 0 : older_.back().first + 1;
    const auto before = chunks_.empty() ? UINT64_MAX : chunks_.front().first;
    if (c.first < behind || c.first >= before) {
      fit = false;
      if (!trusting) damage(c.where.at, "its messages are not the next ones");
      return {};
    }
    older_.push_back({number, c.where.at.offset, *end, c.first, c.time_ms, c.time_ms, 1,
                      *end - c.where.at.offset});
    return {};
  }

  result<std::optional<found_chunk>> first_chunk(file& in, const segment_header& header,
                                                 std::uint32_t end, bool trusting) {
    std::uint32_t at = segment_header_size;
    const auto found = [&](byte_view frame) -> std::optional<found_chunk> {
      const auto c = decode_chunk_front(frame);
      if (!c || c->queue != queue_ || c->count == 0) return std::nullopt;
      return found_chunk{
          {{header.number, at}, size_of_part(frame)}, c->first, c->count, c->time_ms};
    };
    const auto seal = seal_of(header.generation);
    std::vector<std::uint8_t> bytes;
    while (at < end) {
      bytes.resize(std::min<std::size_t>(likely_size, end - at));
      auto got = in.read(at, bytes);
      if (!got) return failed(got.reason());
      byte_view front{bytes.data(), *got};
      if (front.size() < record_header_size) break;
      const auto size = size_of_part(front);
      if (size > front.size() && looks_like_record(front, end - at)) {
        if (const auto c = found(front); c && trusting && size >= too_large_to_check) return c;
        bytes.resize(size);
        got = in.read(at, bytes);
        if (!got) return failed(got.reason());
        front = {bytes.data(), *got};
      }
      const auto frame = read_frame(front, seal);
      if (!frame) break;
      if (const auto c = found(*frame)) return c;
      at += static_cast<std::uint32_t>(padded(frame->size()));
    }
    if (at >= end) return std::optional<found_chunk>{};
    const auto damaged_from = at;
    segment_scan scan{in, header, at, end};
    while (scan.skip_damage())
      while (auto next = scan.next()) {
        at = next->offset;
        const auto c = found(next->frame);
        if (!c) continue;
        damage({header.number, damaged_from},
               "the chunks up to " + std::to_string(at) + " are damaged");
        return c;
      }
    if (scan.error()) return failed(*scan.error());
    damage({header.number, damaged_from}, "there is no chunk that can be read");
    return std::optional<found_chunk>{};
  }

  void fill_table() {
    for (std::size_t i = 0; i < older_.size(); ++i) {
      auto& each = older_[i];
      // It is not known better; the next one begins no earlier than this ends.
      const auto next_time = i + 1 < older_.size() ? older_[i + 1].first_time_ms
                             : chunks_.empty()     ? each.first_time_ms
                                                   : chunks_.front().time_ms;
      each.last_time_ms = std::max(each.first_time_ms, next_time);
      made_.table.add(each);
      made_.live.add(each.number, queue_, each.references, each.bytes);
    }
    std::vector<reference_drop> none;
    for (const auto& each : chunks_) {
      made_.table.note(each.where, each.first, each.count, each.time_ms, none);
      made_.table.synced(made_.table.next_offset());
      made_.live.add(each.where.at.segment, queue_, 1, reference_bytes(each.where.size, 1));
    }
    made_.table.skip_to(made_.table.next_offset() + lost_behind());
  }

  file_system& files_;
  const std::string& folder_;
  const std::uint64_t queue_;
  recovered_stream made_;
  std::vector<segment_table::summary> older_;
  std::vector<found_chunk> chunks_;                 // of the segments behind those
  std::map<std::uint32_t, rest_of_segment> rests_;  // of the same
  std::map<std::uint32_t, std::uint32_t> ends_;     // of the same
};

}  // namespace

result<recovered_stream> recover_stream(file_system& files, const std::string& folder,
                                        std::uint64_t queue) {
  return recovery{files, folder, queue}.run();
}

file_result<void> remove_stream(file_system& files, const std::string& folder) {
  auto names = files.list(folder);
  if (!names && names.reason().code == ENOENT) return {};
  if (!names) return failure{names.reason()};
  for (const auto& name : *names)
    if (auto removed = files.remove(folder + "/" + name); !removed) return removed;
  if (auto removed = files.remove(folder); !removed) return removed;
  return files.sync_folder(folder_of(folder));
}

}  // namespace baton::stream_log
