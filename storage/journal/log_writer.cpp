#include "storage/journal/log_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "config/check.hpp"

namespace baton::journal {

namespace {

constexpr std::size_t digits = 10;
constexpr std::string_view suffix = ".log";
constexpr std::string_view spare_prefix = "spare-";
constexpr std::size_t group_size = 24;
static_assert(group_size % record_alignment == 0);

}  // namespace

std::string segment_name(std::uint32_t number) {
  const auto text = std::to_string(number);
  return std::string(digits - text.size(), '0') + text + std::string{suffix};
}

std::optional<std::uint32_t> segment_number(std::string_view name) {
  if (name.size() != digits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  std::uint32_t number = 0;
  const auto* end = name.data() + digits;
  const auto read = std::from_chars(name.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

bool is_spare_name(std::string_view name) { return name.starts_with(spare_prefix); }

log_writer::log_writer(file_system& files, log_options options, place end,
                       std::uint32_t last_number, std::function<std::uint64_t()> generation)
    : files_{files},
      options_{std::move(options)},
      generation_{std::move(generation)},
      last_number_{last_number},
      end_{end},
      synced_to_{end},
      began_{end},
      has_folder_{!options_.makes_folder} {
  BATON_CHECK(options_.segment_size >= segment_header_size + group_size + record_header_size);
}

// -- writing

bool log_writer::fits_segment(std::uint32_t record_size) const noexcept {
  return segment_header_size + group_size + padded(record_size) <= options_.segment_size;
}

file_result<void> log_writer::write(std::span<encoded_records* const> group,
                                    std::size_t spares_left, std::vector<record_place>& where) {
  auto in_log = where.size();  // of the places
  auto whole = where.size();   // of those of records that are in it with all their neighbours
  std::uint64_t size = 0;      // of the parts
  parts_.clear();
  const auto flush = [&]() -> file_result<void> {
    if (parts_.empty()) return {};
    auto written = write_parts(false, size);
    if (written) in_log = where.size();
    parts_.clear();
    size = 0;
    return written;
  };
  const auto append = [&](encoded_records& records, std::size_t nth) -> file_result<void> {
    const auto record_size = records.size_of(nth);
    const auto taken = padded(record_size);
    if (!current_.where || end_.offset + group_size + size + taken > current_size_) {
      const auto least_size = segment_header_size + group_size + taken;
      auto opened =
          open_segment(std::max<std::uint64_t>(least_size, options_.segment_size), spares_left);
      if (!opened) {
        // Those before it can go there; its neighbours would be there in vain.
        for (; !parts_.empty() && parts_.back().of == &records; parts_.pop_back())
          for (auto i = parts_.back().first; i < parts_.back().last; ++i) {
            size -= padded(records.size_of(i));
            where.pop_back();
          }
        if (auto written = flush(); !written) return written;
        return failure{opened.reason()};
      }
      if (auto written = flush(); !written) {
        leave_dead(last_number_ + 1);
        return written;
      }
      if (auto begun = begin_segment(*std::move(opened)); !begun) return begun;
    }
    const auto offset = end_.offset + group_size + size;
    where.push_back({{end_.segment, static_cast<std::uint32_t>(offset)}, record_size});
    if (parts_.empty() || parts_.back().of != &records) parts_.push_back({&records, nth, nth});
    parts_.back().last = nth + 1;
    size += taken;
    return {};
  };
  const auto all = [&]() -> file_result<void> {
    for (auto* records : group)
      for (std::size_t nth = 0; nth < records->count(); ++nth)
        if (auto appended = append(*records, nth); !appended) return appended;
    return flush();
  };
  auto done = all();
  if (done) return done;
  for (const auto* records : group) {
    if (whole + records->count() > in_log) break;
    whole += records->count();
  }
  if (whole < in_log) end_log_at(where[whole].at);
  where.resize(whole);
  return done;
}

/// What was written from there on, in this write, is not part of the log.
void log_writer::end_log_at(place end) {
  give_up_segment();
  const auto is_behind = [&](std::uint32_t number) { return number > end.segment; };
  std::erase_if(before_, [&](const unsynced& each) { return is_behind(each.number); });
  for (const auto number : begun_)
    if (is_behind(number)) dead_.push_back(number);
  std::erase_if(begun_, is_behind);
  end_ = end;
}

file_result<void> log_writer::write_parts(bool closes, std::uint64_t size) {
  record_writer head;
  head.add_group({synced_to_, closes, options_.after_crash && !crash_told_});
  auto opening = head.take();
  BATON_CHECK(opening.size() == group_size);
  const auto seal_all = [&] {
    opening.seal(0, 1, seal_);
    for (const auto& p : parts_) p.of->seal(p.first, p.last, seal_);
  };
  pieces_.clear();
  const auto add_piece = [this](byte_view piece) { pieces_.push_back(piece); };
  opening.for_each_piece(0, 1, add_piece);
  for (const auto& p : parts_) p.of->for_each_piece(p.first, p.last, add_piece);
  seal_all();
  dirty_ = true;
  auto written = current_.where->write(end_.offset, pieces_);
  seal_all();  // takes it out again: they may be written once more, elsewhere
  if (!written) {
    give_up_segment();
  } else {
    end_.offset += static_cast<std::uint32_t>(group_size + size);
    crash_told_ = true;
  }
  return written;
}

// -- syncing

file_result<void> log_writer::sync() {
  const auto failed = [this](file_result<void> why) {
    for (auto n = synced_to_.segment + 1; n <= last_number_; ++n) dead_.push_back(n);
    before_.clear();
    current_.where.reset();
    dirty_ = false;
    end_ = synced_to_;
    crash_told_ = synced_to_ != began_;
    return why;
  };
  while (!before_.empty()) {
    if (auto synced = before_.front().where->sync(); !synced) return failed(std::move(synced));
    before_.erase(before_.begin());
  }
  if (dirty_)
    if (auto synced = current_.where->sync(); !synced) return failed(std::move(synced));
  dirty_ = false;
  synced_to_ = end_;
  return {};
}

file_result<void> log_writer::close() {
  if (auto synced = sync(); !synced || !current_.where) return synced;
  return mark(true);
}

file_result<void> log_writer::reopen() { return mark(false); }

/// A group without records.
file_result<void> log_writer::mark(bool closes) {
  if (!current_.where || end_.offset + group_size > current_size_) {
    auto opened = open_segment(options_.segment_size, 0);
    if (!opened) return failure{opened.reason()};
    if (auto begun = begin_segment(*std::move(opened)); !begun) return begun;
  }
  parts_.clear();
  if (auto written = write_parts(closes, 0); !written) return written;
  return sync();
}

// -- segments

void log_writer::give_up_segment() {
  if (!current_.where) return;
  if (dirty_) before_.push_back(std::move(current_));
  current_.where.reset();
  dirty_ = false;
}

file_result<void> log_writer::begin_segment(new_segment opened) {
  const auto number = opened.number;
  // From here on the new segment may say where the log ended: the old one gets no more records.
  give_up_segment();
  const segment_header header{options_.kind, generation_(), number, options_.queue, end_};
  const auto bytes = encode(header);
  const byte_view pieces[] = {bytes};
  const auto ready = [&]() -> file_result<void> {
    if (auto written = opened.where->write(0, pieces); !written) return written;
    if (auto synced = opened.where->sync(); !synced) return synced;
    return files_.sync_folder(options_.folder);
  }();
  if (!ready) {
    leave_dead(number);
    return ready;
  }
  last_number_ = number;
  current_ = {std::move(opened.where), number};
  current_size_ = opened.size;
  seal_ = seal_of(header.generation);
  end_ = {number, segment_header_size};
  begun_.push_back(number);
  static_cast<void>(remove_dead());  // it can wait until a segment is freed
  return {};
}

/// The name may be on the disk, whatever happened.
void log_writer::leave_dead(std::uint32_t number) {
  last_number_ = number;
  dead_.push_back(number);
}

/// Makes a segment one that holds nothing, for good, whatever becomes of its name.
file_result<void> log_writer::blank(const std::string& path) {
  auto opened = files_.open(path, open_mode::read_write);
  if (!opened) return failure{opened.reason()};
  static constexpr std::array<std::uint8_t, segment_header_size> zeros{};
  const byte_view pieces[] = {zeros};
  if (auto written = (*opened)->write(0, pieces); !written) return written;
  return (*opened)->sync();
}

/// The same for one that nobody will use again; takes no space.
file_result<void> log_writer::remove_segment(const std::string& path) {
  {
    auto opened = files_.open(path, open_mode::read_write);
    if (!opened) return failure{opened.reason()};
    if (auto emptied = (*opened)->truncate(0); !emptied) return emptied;
    if (auto synced = (*opened)->sync(); !synced) return synced;
  }
  return files_.remove(path);
}

/// Only the segment that passes over them says that they are dead: they go before that one does.
file_result<void> log_writer::remove_dead() {
  for (; !dead_.empty(); dead_.pop_back()) {
    auto removed = remove_segment(path_of(segment_name(dead_.back())));
    if (!removed && removed.reason().code != ENOENT) return removed;
  }
  return {};
}

/// The file of the next segment.
file_result<void> log_writer::make_folder() {
  if (has_folder_) return {};
  if (auto made = files_.create_folder(options_.folder); !made) return made;
  if (auto synced = files_.sync_folder(folder_of(options_.folder)); !synced) return synced;
  has_folder_ = true;
  return {};
}

file_result<log_writer::new_segment> log_writer::open_segment(std::uint64_t size,
                                                              std::size_t spares_left) {
  if (auto made = make_folder(); !made) return failure{made.reason()};
  const auto number = last_number_ + 1;
  const auto path = path_of(segment_name(number));
  if (size == options_.segment_size && spares_.size() > spares_left) {
    if (auto renamed = files_.rename(path_of(spares_.back()), path); !renamed)
      return failure{renamed.reason()};
    spares_.pop_back();
    auto opened = files_.open(path, open_mode::read_write);
    if (opened) return new_segment{*std::move(opened), number, size};
    leave_dead(number);
    return failure{opened.reason()};
  }
  auto made = files_.open(path, open_mode::create);
  if (!made) return failure{made.reason()};
  auto taken = (*made)->preallocate(0, size);
  // A record that no spare file is large enough for gets their space.
  while (!taken && taken.reason().code == ENOSPC && spares_.size() > spares_left) {
    if (auto removed = files_.remove(path_of(spares_.back())); !removed) break;
    spares_.pop_back();
    if (auto synced = files_.sync_folder(options_.folder); !synced) break;
    taken = (*made)->preallocate(0, size);
  }
  if (!taken) {
    // An empty segment is none.
    if (!files_.remove(path)) leave_dead(number);
    return failure{taken.reason()};
  }
  return new_segment{*std::move(made), number, size};
}

file_result<void> log_writer::free(std::uint32_t number, std::size_t spares_wanted) {
  if (auto removed = remove_dead(); !removed) return removed;
  const auto path = path_of(segment_name(number));
  std::uint64_t size = 0;
  {
    auto opened = files_.open(path, open_mode::read);
    if (!opened && opened.reason().code == ENOENT)
      return {};  // it went the last time, and an error
    if (!opened) return failure{opened.reason()};
    const auto known = (*opened)->size();
    if (!known) return failure{known.reason()};
    size = *known;
  }
  if (spares_.size() >= spares_wanted || size != options_.segment_size) {
    if (auto removed = remove_segment(path); !removed) return removed;
    return files_.sync_folder(options_.folder);  // only then its space is free
  }
  if (auto blanked = blank(path); !blanked) return blanked;
  auto name = new_spare_name();
  if (auto renamed = files_.rename(path, path_of(name)); !renamed) return renamed;
  spares_.push_back(std::move(name));
  return {};
}

file_result<void> log_writer::prepare_spares(std::size_t wanted) {
  for (; !adopted_.empty(); adopted_.pop_back()) {
    const auto& name = adopted_.back();
    auto taken = take_space(name, open_mode::read_write);
    if (!taken && taken.reason().code != ENOSPC) return taken;
    if (taken) spares_.push_back(name);
  }
  if (spares_.size() >= wanted) return {};
  while (spares_.size() < wanted) {
    auto name = new_spare_name();
    if (auto taken = take_space(name, open_mode::create); !taken) return taken;
    spares_.push_back(std::move(name));
  }
  return files_.sync_folder(options_.folder);
}

/// Gives a spare file its size; one that there is no space for is removed.
file_result<void> log_writer::take_space(const std::string& name, open_mode mode) {
  const auto path = path_of(name);
  auto opened = files_.open(path, mode);
  if (!opened) return failure{opened.reason()};
  const auto done = [&]() -> file_result<void> {
    if (auto cut = (*opened)->truncate(options_.segment_size); !cut) return cut;
    if (auto taken = (*opened)->preallocate(0, options_.segment_size); !taken) return taken;
    return (*opened)->sync();
  }();
  opened->reset();
  if (!done) static_cast<void>(files_.remove(path));
  return done;
}

}  // namespace baton::journal
