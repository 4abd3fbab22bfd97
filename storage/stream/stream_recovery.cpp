#include "storage/stream/stream_recovery.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "storage/journal/log_writer.hpp"
#include "storage/journal/numbers.hpp"
#include "storage/journal/segment.hpp"

namespace baton::stream {

using namespace journal;

namespace {

/// The smallest message of a chunk: its size and what all have.
constexpr std::uint64_t smallest_message = 28;

/// A chunk, without its messages.
struct found_chunk {
  record_place where;
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  std::uint64_t time_ms = 0;
};

/// One recovery under way.
class recovery {
public:
  recovery(file_system& files, const std::string& folder, std::uint64_t queue)
      : files_{files}, folder_{folder}, queue_{queue}, made_{queue} {}

  result<recovered_stream> run() {
    std::vector<unread_segment> unread;
    auto log = recover_log_end(
        files_, folder_,
        [this](place at, byte_view frame, const record& r) {
          if (const auto* c = std::get_if<chunk>(&r)) note(at, frame, *c);
        },
        unread);
    if (!log) return failure{log.reason()};
    made_.log = *std::move(log);
    // What the next message gets is known from the last chunk only.
    while (chunks_.empty() && !unread.empty()) {
      if (auto read = read_whole(unread.back()); !read) return failure{read.reason()};
      unread.pop_back();
    }
    for (const auto& each : unread)
      if (auto looked = look_into(each); !looked) return failure{looked.reason()};
    fill_table();
    return std::move(made_);
  }

private:
  std::string path_of(std::uint32_t segment) const { return folder_ + "/" + segment_name(segment); }

  void damage(place at, const std::string& why) {
    made_.log.damage.push_back(path_of(at.segment) + ": offset " + std::to_string(at.offset) +
                               ": " + why);
  }

  void note(place at, byte_view frame, const chunk& c) {
    if (is_sound(at, c))
      chunks_.push_back(
          {{at, static_cast<std::uint32_t>(frame.size())}, c.first, c.count, c.time_ms});
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
    auto opened = files_.open(path_of(which.header.number), open_mode::read);
    if (!opened) return failure{error{opened.reason().text()}};
    segment_scan scan{**opened, which.header, segment_header_size, which.end.value_or(UINT32_MAX)};
    do {
      while (auto found = scan.next()) {
        const auto r = decode(found->frame);
        if (const auto* c = r ? std::get_if<chunk>(&*r) : nullptr)
          note({which.header.number, found->offset}, found->frame, *c);
      }
    } while (scan.skip_damage());
    if (scan.error()) return failure{error{scan.error()->text()}};
    return {};
  }

  /// Finds the first chunk of a segment of which no more is read.
  result<void> look_into(const unread_segment& which) {
    const auto number = which.header.number;
    auto opened = files_.open(path_of(number), open_mode::read);
    if (!opened) return failure{error{opened.reason().text()}};
    const auto size = (*opened)->size();
    if (!size) return failure{error{size.reason().text()}};
    const auto end =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(*size, which.end.value_or(UINT32_MAX)));
    segment_scan scan{**opened, which.header, segment_header_size, end};
    do {
      while (auto found = scan.next()) {
        const auto c = decode_chunk_front(found->frame);
        if (!c || c->queue != queue_) continue;
        const auto before = older_.empty() ? 0 : older_.back().first + 1;
        if (c->first < before || (!chunks_.empty() && c->first >= chunks_.front().first)) {
          damage({number, found->offset}, "its messages are not the next ones");
          continue;
        }
        const auto bytes = end - found->offset;
        older_.push_back({number, found->offset, end, c->first, c->time_ms, c->time_ms, 1, bytes});
        return {};
      }
    } while (scan.skip_damage());
    if (scan.error()) return failure{error{scan.error()->text()}};
    return {};
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
  }

  file_system& files_;
  const std::string& folder_;
  const std::uint64_t queue_;
  recovered_stream made_;
  std::vector<segment_table::summary> older_;
  std::vector<found_chunk> chunks_;  // of the segments behind those
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

}  // namespace baton::stream
