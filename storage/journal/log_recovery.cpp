#include "storage/journal/log_recovery.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "storage/journal/log_writer.hpp"

namespace baton::journal {

namespace {

struct segment_file {
  std::string name;
  std::string path;
  segment_header header;
};

/// What lies in a segment up to the end of the group that begins it.
constexpr std::uint64_t opening_size = segment_header_size + 24;

failure<error> failed(const io_error& why) { return failure{error{why.text()}}; }

/// One recovery under way.
class recovery {
public:
  recovery(file_system& files, const std::string& folder,
           const std::function<void(place, byte_view, const record&)>& use)
      : files_{files}, folder_{folder}, use_{use} {}

  /// `unread`: only the end of the log is read, this gets the segments before it.
  result<log_state> run(std::vector<unread_segment>* unread = nullptr) {
    if (auto found = find_segments(); !found) return failure{found.reason()};
    leave_out_dead_ones();
    if (auto left = leave_out_empty_end(); !left) return failure{left.reason()};
    std::size_t first = 0;
    if (unread != nullptr) {
      if (auto known = note_last_opening(); !known) return failure{known.reason()};
      for (; first + 1 < segments_.size() && was_durable(first); ++first) {
        const auto& each = segments_[first];
        unread->push_back({each.header, end_by(segments_[first + 1].header.previous_end, each)});
        state_.segments.push_back(each.header.number);
      }
    }
    for (auto i = first; i < segments_.size(); ++i) {
      if (!cut_) {
        if (auto read = read_segment(i); !read) return failure{read.reason()};
      } else {
        behind_.push_back(segments_[i].name);
      }
    }
    // The last one goes first: without those before it, it would seem to follow the end.
    std::sort(behind_.begin(), behind_.end(), std::greater<>{});
    state_.dead.insert(state_.dead.end(), behind_.begin(), behind_.end());
    if (known_end_) state_.closed = false;  // it was to go on
    if (first == 0 && state_.records == 0 && state_.torn.empty() && state_.damage.empty())
      state_.closed = true;
    return std::move(state_);
  }

private:
  // -- which segments there are

  result<void> find_segments() {
    auto names = files_.list(folder_);
    if (!names) return failed(names.reason());
    for (const auto& name : *names) {
      if (is_spare_name(name)) state_.spares.push_back(name);
      const auto number = segment_number(name);
      if (!number) continue;
      state_.last_number = std::max(state_.last_number, *number);
      auto header = read_header(folder_ + "/" + name);
      if (!header) return failure{header.reason()};
      // A name that became durable ahead of the header: nothing was in that segment.
      if (!*header || (*header)->number != *number)
        state_.dead.push_back(name);
      else
        segments_.push_back({name, folder_ + "/" + name, **header});
    }
    return {};
  }

  /// Nothing: it has none.
  result<std::optional<segment_header>> read_header(const std::string& path) {
    auto opened = files_.open(path, open_mode::read);
    if (!opened) return failed(opened.reason());
    std::uint8_t bytes[segment_header_size];
    const auto got = (*opened)->read(0, bytes);
    if (!got) return failed(got.reason());
    auto header = read_segment_header({bytes, *got});
    if (header) return std::optional{*header};
    if (is_of_another_version({bytes, *got}))
      return failure{error{path + ": " + header.reason().text}};
    return std::optional<segment_header>{};
  }

  /// What lies between where a segment says that the log ended and that segment. It goes before
  /// that one does, which alone says so.
  void leave_out_dead_ones() {
    auto least = UINT32_MAX;  // what a later one passes over lies above
    for (auto s = segments_.rbegin(); s != segments_.rend(); ++s) {
      if (s->header.number > least) {
        state_.dead.push_back(s->name);
        s->path.clear();
        continue;
      }
      least = s->header.previous_end.segment;
    }
    std::erase_if(segments_, [](const auto& s) { return s.path.empty(); });
  }

  /// A last segment without records holds nothing, and maybe not even its name is durable: where
  /// the log ends is to be said by one that is. What lies behind the end that it knows of was
  /// written in vain all the same.
  result<void> leave_out_empty_end() {
    while (!segments_.empty()) {
      const auto& last = segments_.back();
      auto opened = files_.open(last.path, open_mode::read);
      if (!opened) return failed(opened.reason());
      segment_scan scan{**opened, last.header};
      const bool has_records = scan.next() || scan.skip_damage();
      if (scan.error()) return failed(*scan.error());
      if (has_records) break;
      known_end_ = last.header.previous_end;
      behind_.push_back(last.name);
      segments_.pop_back();
    }
    if (segments_.empty() && known_end_) state_.end = *known_end_;
    return {};
  }

  // -- which of them to read

  /// Takes in what the last segment that begins with a group says of `synced_to`: no earlier one
  /// knows more.
  result<void> note_last_opening() {
    for (auto s = segments_.rbegin(); s != segments_.rend(); ++s) {
      auto opened = files_.open(s->path, open_mode::read);
      if (!opened) return failed(opened.reason());
      segment_scan scan{**opened, s->header, segment_header_size, opening_size};
      const auto found = scan.next();
      if (scan.error()) return failed(*scan.error());
      if (!found) continue;
      const auto opening = decode(found->frame);
      if (!opening) continue;
      if (const auto* g = std::get_if<group>(&*opening)) {
        note(*g);
        break;
      }
    }
    return {};
  }

  bool was_durable(std::size_t i) const {
    const auto number = segments_[i].header.number;
    const auto end = end_by(segments_[i + 1].header.previous_end, segments_[i]);
    return number < state_.synced_to.segment || (end && place{number, *end} <= state_.synced_to);
  }

  // -- one segment after the other

  result<void> read_segment(std::size_t i) {
    const auto& which = segments_[i];
    auto opened = files_.open(which.path, open_mode::read);
    if (!opened) return failed(opened.reason());
    state_.segments.push_back(which.header.number);
    state_.closed = false;  // it was not the end, if this one follows
    const bool is_last = i + 1 == segments_.size();
    const auto end = is_last ? end_by(known_end_.value_or(place{}), which)
                             : end_by(segments_[i + 1].header.previous_end, which);
    segment_scan scan{**opened, which.header, segment_header_size, end.value_or(UINT64_MAX)};
    for (;;) {
      while (auto found = scan.next()) give(which, *found);
      if (scan.error()) return failed(*scan.error());
      const place stopped{which.header.number, scan.offset()};
      state_.end = stopped;
      if (end ? stopped.offset >= *end : !is_last || state_.closed) return {};
      // Something is missing, unless this is the end of all. Was it durable once?
      bool more_follows = !is_last;
      if (stopped >= state_.synced_to) {
        auto more = look_ahead(i, **opened, stopped.offset, end);
        if (!more) return failure{more.reason()};
        more_follows = more_follows || *more;
      }
      if (stopped >= state_.synced_to) {
        cut_ = true;
        if (more_follows || scan.problem() == frame_problem::broken)
          state_.torn = which.path + ": cut at offset " + std::to_string(stopped.offset);
        return {};
      }
      const bool goes_on = scan.skip_damage();
      if (scan.error()) return failed(*scan.error());
      const auto to = goes_on ? scan.offset() : end.value_or(scan.offset());
      state_.damage.push_back(which.path + ": bytes " + std::to_string(stopped.offset) + " to " +
                              std::to_string(to) + " are damaged");
      if (!goes_on) return {};
    }
  }

  /// Where `one` ends, as the next segment says; it does not know if one in between has been freed.
  static std::optional<std::uint32_t> end_by(place end, const segment_file& one) {
    if (end.segment != one.header.number) return std::nullopt;
    return end.offset;
  }

  /// Takes in what groups behind a gap say of `synced_to`. Gives whether there are any records.
  result<bool> look_ahead(std::size_t i, file& here, std::uint32_t from,
                          std::optional<std::uint32_t> end) {
    segment_scan rest{here, segments_[i].header, from, end.value_or(UINT64_MAX)};
    bool any = rest.skip_damage();
    if (any) note_groups(rest);
    if (rest.error()) return failed(*rest.error());
    for (auto next = i + 1; next < segments_.size(); ++next) {
      auto opened = files_.open(segments_[next].path, open_mode::read);
      if (!opened) return failed(opened.reason());
      segment_scan scan{**opened, segments_[next].header};
      note_groups(scan);
      if (scan.error()) return failed(*scan.error());
      any = true;
    }
    return any;
  }

  void note_groups(segment_scan& scan) {
    do {
      while (auto found = scan.next())
        if (auto r = decode(found->frame))
          if (const auto* g = std::get_if<group>(&*r)) note(*g);
    } while (scan.skip_damage());
  }

  void note(const group& g) { state_.synced_to = std::max(state_.synced_to, g.synced_to); }

  void give(const segment_file& from, const segment_scan::found& found) {
    const place at{from.header.number, found.offset};
    auto decoded = decode(found.frame);
    if (!decoded) {
      state_.damage.push_back(from.path + ": offset " + std::to_string(found.offset) + ": " +
                              decoded.reason().text);
      return;
    }
    state_.closed = false;
    if (const auto* g = std::get_if<group>(&*decoded)) {
      note(*g);
      state_.closed = g->closes;
    }
    ++state_.records;
    state_.bytes += padded(found.frame.size());
    use_(at, found.frame, *decoded);
  }

  file_system& files_;
  const std::string& folder_;
  const std::function<void(place, byte_view, const record&)>& use_;
  std::vector<segment_file> segments_;
  std::vector<std::string> behind_;  // segments behind the end
  std::optional<place> known_end_;   // of the log, said by empty segments that followed it
  bool cut_ = false;                 // the log has ended; other segments are no part of it
  log_state state_;
};

/// What was read after a sync that failed may be in memory only, where no other sync looks for it.
file_result<void> write_again(file_system& files, const std::string& path, std::uint64_t from,
                              std::uint64_t to) {
  auto opened = files.open(path, open_mode::read_write);
  if (!opened) return failure{opened.reason()};
  const auto size = (*opened)->size();
  if (!size) return failure{size.reason()};
  to = std::min(to, *size);
  std::vector<std::uint8_t> bytes(to - std::min(from, to));
  const auto got = (*opened)->read(from, bytes);
  if (!got) return failure{got.reason()};
  const byte_view pieces[] = {byte_view{bytes}.first(*got)};
  if (auto written = (*opened)->write(from, pieces); !written) return written;
  return (*opened)->sync();
}

/// For good.
file_result<void> cut_at(file_system& files, const std::string& path, std::uint64_t size) {
  auto opened = files.open(path, open_mode::read_write);
  if (!opened) return failure{opened.reason()};
  if (auto cut = (*opened)->truncate(size); !cut) return cut;
  return (*opened)->sync();
}

}  // namespace

result<log_state> recover_log(
    file_system& files, const std::string& folder,
    const std::function<void(place, byte_view frame, const record&)>& use) {
  return recovery{files, folder, use}.run();
}

result<log_state> recover_log_end(
    file_system& files, const std::string& folder,
    const std::function<void(place, byte_view frame, const record&)>& use,
    std::vector<unread_segment>& unread) {
  return recovery{files, folder, use}.run(&unread);
}

file_result<void> settle_log(file_system& files, const std::string& folder,
                             const log_state& state) {
  auto names = files.list(folder);
  if (!names) return failure{names.reason()};
  for (const auto& name : *names) {
    const auto number = segment_number(name);
    if (!number || *number < state.synced_to.segment || *number > state.end.segment) continue;
    const auto from = *number == state.synced_to.segment ? state.synced_to.offset : 0;
    const auto to = *number == state.end.segment ? state.end.offset : UINT64_MAX;
    if (auto written = write_again(files, folder + "/" + name, from, to); !written) return written;
  }
  const auto last = segment_name(state.end.segment);
  if (std::binary_search(names->begin(), names->end(), last))
    if (auto cut = cut_at(files, folder + "/" + last, state.end.offset); !cut) return cut;
  for (const auto& name : state.dead)
    if (auto emptied = cut_at(files, folder + "/" + name, 0); !emptied) return emptied;
  for (const auto& name : state.dead)
    if (auto removed = files.remove(folder + "/" + name); !removed) return removed;
  return files.sync_folder(folder);
}

}  // namespace baton::journal
