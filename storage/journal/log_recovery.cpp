#include "storage/journal/log_recovery.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "storage/journal/log_writer.hpp"

namespace baton::journal {

namespace {

struct segment_file {
  std::string path;
  segment_header header;
};

failure<error> failed(const io_error& why) { return failure{error{why.text()}}; }

/// One recovery under way.
class recovery {
public:
  recovery(file_system& files, const std::string& folder,
           const std::function<void(place, byte_view, const record&)>& use)
      : files_{files}, folder_{folder}, use_{use} {}

  result<log_state> run() {
    if (auto found = find_segments(); !found) return failure{found.reason()};
    for (std::size_t i = 0; i < segments_.size() && state_.torn.empty(); ++i)
      if (auto read = read_segment(i); !read) return failure{read.reason()};
    return std::move(state_);
  }

private:
  result<void> find_segments() {
    auto names = files_.list(folder_);
    if (!names) return failed(names.reason());
    for (const auto& name : *names) {
      if (is_spare_name(name)) state_.spares.push_back(name);
      const auto number = segment_number(name);
      if (!number) continue;
      state_.last_number = std::max(state_.last_number, *number);
      const auto path = folder_ + "/" + name;
      auto opened = files_.open(path, open_mode::read);
      if (!opened) return failed(opened.reason());
      std::uint8_t head[segment_header_size];
      const auto got = (*opened)->read(0, head);
      if (!got) return failed(got.reason());
      auto header = read_segment_header({head, *got});
      // A file whose name was given and whose header was not yet durable is none.
      if (!header && !header.reason().text.starts_with("has format version")) {
        state_.unused.push_back(name);
        continue;
      }
      if (!header) return failure{error{path + ": " + header.reason().text}};
      if (header->number != *number) {
        state_.unused.push_back(name);
        continue;
      }
      segments_.push_back({path, *header});
    }
    return {};
  }

  result<void> load(const segment_file& which) {
    auto opened = files_.open(which.path, open_mode::read);
    if (!opened) return failed(opened.reason());
    const auto size = (*opened)->size();
    if (!size) return failed(size.reason());
    bytes_.resize(*size);
    const auto got = (*opened)->read(0, bytes_);
    if (!got) return failed(got.reason());
    bytes_.resize(*got);
    return {};
  }

  /// Where this segment's records must reach, as the next one says.
  std::optional<std::uint32_t> end_of(std::size_t i) const {
    for (auto next = i + 1; next < segments_.size(); ++next)
      if (segments_[next].header.previous_end.segment == segments_[i].header.number)
        return segments_[next].header.previous_end.offset;
    return std::nullopt;
  }

  result<void> read_segment(std::size_t i) {
    const auto& which = segments_[i];
    if (auto loaded = load(which); !loaded) return loaded;
    segment_scan scan{bytes_, which.header};
    const auto must_reach = end_of(i);
    for (;;) {
      while (auto found = scan.next()) give(which, *found);
      const place stopped{which.header.number, scan.offset()};
      state_.end = stopped;
      if (must_reach ? stopped.offset >= *must_reach : was_closed_) return {};
      // Something is missing here, unless this is the end. Was it durable once?
      bool more_follows = must_reach.has_value();
      if (stopped >= synced_to_) {
        auto later = look_ahead(i, scan);
        if (!later) return failure{later.reason()};
        more_follows = more_follows || *later;
      }
      if (stopped >= synced_to_) {
        if (more_follows || scan.problem() == frame_problem::broken)
          state_.torn = which.path + ": cut at offset " + std::to_string(stopped.offset);
        return {};
      }
      const bool more = scan.skip_damage();
      const auto to = more ? scan.offset() : must_reach.value_or(scan.offset());
      state_.damage.push_back(which.path + ": bytes " + std::to_string(stopped.offset) + " to " +
                              std::to_string(to) + " are damaged");
      if (!more) return {};
    }
  }

  /// Takes in what groups behind a gap say of `synced_to`. Gives whether there are any records.
  result<bool> look_ahead(std::size_t i, segment_scan scan) {
    bool any = scan.skip_damage();
    if (any) note_groups(scan);
    const auto kept = std::move(bytes_);
    for (auto next = i + 1; next < segments_.size(); ++next) {
      if (auto loaded = load(segments_[next]); !loaded) return failure{loaded.reason()};
      note_groups(segment_scan{bytes_, segments_[next].header});
      any = true;
    }
    bytes_ = kept;
    return any;
  }

  void note_groups(segment_scan scan) {
    do {
      while (auto found = scan.next())
        if (auto r = decode(found->frame))
          if (const auto* g = std::get_if<group>(&*r))
            synced_to_ = std::max(synced_to_, g->synced_to);
    } while (scan.skip_damage());
  }

  void give(const segment_file& from, const segment_scan::found& found) {
    const place at{from.header.number, found.offset};
    auto decoded = decode(found.frame);
    if (!decoded) {
      state_.damage.push_back(from.path + ": offset " + std::to_string(found.offset) + ": " +
                              decoded.reason().text);
      return;
    }
    was_closed_ = false;
    if (const auto* g = std::get_if<group>(&*decoded)) {
      synced_to_ = std::max(synced_to_, g->synced_to);
      was_closed_ = g->closes;
    }
    ++state_.records;
    state_.bytes += padded(found.frame.size());
    use_(at, found.frame, *decoded);
  }

  file_system& files_;
  const std::string& folder_;
  const std::function<void(place, byte_view, const record&)>& use_;
  std::vector<segment_file> segments_;
  std::vector<std::uint8_t> bytes_;  // of the segment that is being read
  place synced_to_;
  bool was_closed_ = false;  // the last record that was read ends a log that was closed in order
  log_state state_;
};

}  // namespace

result<log_state> recover_log(
    file_system& files, const std::string& folder,
    const std::function<void(place, byte_view frame, const record&)>& use) {
  return recovery{files, folder, use}.run();
}

}  // namespace baton::journal
