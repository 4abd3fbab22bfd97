#include "storage/journal/journal.hpp"

#include <algorithm>
#include <cerrno>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace baton::journal {

namespace {

/// Spare files beyond the reserve, for the next segments: they are faster than new ones.
constexpr std::size_t spares_to_use = 2;
constexpr std::size_t spares_of_stream = 1;  // there are many of them

/// A log of so many segments is never too long.
constexpr std::size_t few_segments = 4;
constexpr std::size_t few_segments_when_full = 2;
/// Of a full disk's log, more is made of what is not needed.
constexpr percent compact_below_when_full{90};

bool is_full_disk(const io_error& why) noexcept { return why.code == ENOSPC || why.code == EDQUOT; }

/// The queues whose messages are somewhere else from here on.
void note_moving(const encoded_records& records, std::unordered_set<std::uint64_t>& queues) {
  if (!records.has(record_kind::relocate) && !records.has(record_kind::move)) return;
  records.for_each_outline([&](std::size_t, std::uint32_t, const record_outline& r) {
    if (r.kind == record_kind::relocate)
      for (const auto& p : r.places) queues.insert(p.queue);
    if (r.kind == record_kind::move)
      for (const auto& run : r.runs) queues.insert(run.queue);
  });
}

bool defines(const encoded_records& records) noexcept {
  return records.has(record_kind::define) || records.has(record_kind::peer_progress) ||
         records.has(record_kind::stream_end);
}

/// The messages of which records wait for space, roughly: from the first to the last of each queue.
class waiting_messages {
public:
  void add(const encoded_records& records) {
    records.for_each_outline([this](std::size_t, std::uint32_t, const record_outline& r) {
      for (const auto& p : r.places) {
        const auto [q, is_new] = queues_.try_emplace(p.queue, span{p.number, p.number});
        q->second.first = std::min(q->second.first, p.number);
        q->second.last = std::max(q->second.last, p.number);
      }
    });
  }

  /// What `records` say about these messages, once more.
  encoded_records repeated(const encoded_records& records) const {
    if (queues_.empty()) return {};
    record_writer again;
    records.for_each_outline([&](std::size_t, std::uint32_t, const record_outline& r) {
      std::vector<queue_run> runs;
      for (const auto& run : r.runs)
        if (has(run)) runs.push_back(run);
      if (!runs.empty()) again.add_settle(runs);
      if (r.kind == record_kind::requeue) repeat_requeue(*decode(r.frame), again);
      if (r.kind == record_kind::purge) repeat_purge(*decode(r.frame), again);
    });
    return again.take();
  }

private:
  struct span {
    sequence first, last;
  };

  bool has(const queue_run& run) const {
    const auto q = queues_.find(run.queue);
    return q != queues_.end() && run.first <= q->second.last &&
           run.first + run.count > q->second.first;
  }
  void repeat_requeue(const record& from, record_writer& to) const {
    std::vector<queue_return> returns;
    for (const auto& each : std::get<requeue>(from).returns)
      if (has({each.queue, each.number, 1})) returns.push_back(each);
    if (!returns.empty()) to.add_requeue(returns);
  }
  void repeat_purge(const record& from, record_writer& to) const {
    const auto& whole = std::get<purge>(from);
    if (!has({whole.queue, 0, whole.end})) return;
    std::vector<queue_run> kept;
    for (const auto& each : whole.kept) kept.push_back(each);
    to.add_purge(whole.queue, whole.end, kept);
  }

  std::unordered_map<std::uint64_t, span> queues_;
};

}  // namespace

journal::journal(file_system& files, std::string folder, const journal_settings& settings,
                 const log_state& found, live_segments live,
                 std::function<std::uint64_t()> generation, std::optional<std::uint64_t> stream)
    : settings_{settings},
      is_stream_{stream},
      log_{files,
           {std::move(folder), stream ? segment_kind::stream : segment_kind::journal,
            stream.value_or(0), static_cast<std::uint32_t>(settings.segment_size.value),
            !found.closed, stream.has_value()},
           found.end,
           found.last_number,
           std::move(generation)},
      live_{std::move(live)} {
  for (const auto segment : found.segments) live_.begin(segment);
  for (const auto& name : found.spares) log_.adopt_spare(name);
}

// -- writing ------------------------------------------------------------------------------------

void journal::add(journal_entry entry) {
  if (entry.records.empty() && !entry.owner) return drop(entry.drops);
  entries_.push_back({std::move(entry)});
}

file_result<void> journal::commit() {
  if (!has_pending()) return {};
  const std::size_t reserve = settings_.reserved_segments;
  const auto last_spare = std::min<std::size_t>(1, reserve);
  // A segment that was taken from the reserve is no room for what waits either.
  auto done = log_.prepare_spares(reserve);
  if (done || !is_full_disk(done.reason())) done = write(entries_.size(), reserve);
  if (done) full_ = false;
  if (done || !is_full_disk(done.reason())) return done;
  full_ = true;

  const auto adds = [this](const kept_entry& one) {
    const auto& records = one.what.records;
    return records.empty() || records.has(record_kind::enqueue) ||
           records.has(record_kind::chunk) || one.repeats || is_large(one);
  };
  const auto can_wait = [&](const kept_entry& one) { return adds(one) || !frees_oldest(one); };
  const auto is_more_than_drops = [&](const kept_entry& one) {
    return can_wait(one) || one.what.records.has(record_kind::relocate) ||
           one.what.records.has(record_kind::define);
  };
  auto passed = done;
  if (log_.spares() >= last_spare) passed = write(bring_forward(adds), last_spare);
  if (!passed && is_full_disk(passed.reason())) passed = write(bring_forward(can_wait), 0);
  if (!passed && is_full_disk(passed.reason()))
    passed = write(bring_forward(is_more_than_drops), 0);
  return passed ? done : passed;
}

/// Whether one of its records needs a file that is larger than a spare one.
bool journal::is_large(const kept_entry& one) const noexcept {
  const auto& records = one.what.records;
  if (records.size() < settings_.segment_size.value / 2) return false;
  for (std::size_t nth = 0; nth < records.count(); ++nth)
    if (!log_.fits_segment(records.size_of(nth))) return true;
  return false;
}

/// Whether the oldest segment, the only one that can be freed, is kept until this is written.
bool journal::frees_oldest(const kept_entry& one) const {
  const auto& records = one.what.records;
  if (records.has(record_kind::relocate) || records.has(record_kind::define)) return true;
  const auto oldest = live_.oldest();
  const auto is_there = [&](const reference_drop& d) { return d.segment == oldest; };
  if (std::any_of(one.what.drops.begin(), one.what.drops.end(), is_there)) return true;
  std::unordered_set<std::uint64_t> moving;  // their drops wait
  note_moving(records, moving);
  return std::any_of(ended_.begin(), ended_.end(), [&](const reference_drop& d) {
    return is_there(d) && moving.count(d.queue) != 0;
  });
}

/// Writes the pending entries before `last`. Those that are not wholly in the log stay pending.
file_result<void> journal::write(std::size_t last, std::size_t spares_left) {
  group_.clear();
  places_.clear();
  for (auto i = written_; i < last; ++i) group_.push_back(&entries_[i].what.records);
  auto done = log_.write(group_, spares_left, places_);
  if (!done) ++figures_.failed_writes;
  if (!places_.empty()) ++figures_.groups;
  for (const auto segment : log_.take_begun()) live_.begin(segment);
  std::span<const record_place> left{places_};
  for (; written_ < last; ++written_) {
    auto& one = entries_[written_];
    const auto count = one.what.records.count();
    if (count > left.size()) break;
    note_written(one, left.first(count));
    left = left.subspan(count);
  }
  return done;
}

void journal::note_written(kept_entry& one, std::span<const record_place> where) {
  const auto& records = one.what.records;
  figures_.records += records.count();
  figures_.bytes_written += records.size();
  unsynced_bytes_ += records.size();
  note_references(records, where);
  if (defines(records)) one.where.assign(where.begin(), where.end());
  for (const auto& d : std::exchange(one.what.drops, {})) ended_.push_back(d);
  if (one.what.sync == sync_policy::always) ++sync_now_;
  if (one.what.sync == sync_policy::interval) ++sync_soon_;
  if (!one.what.owner || one.repeats) return;
  if (records.has(record_kind::tx)) {
    parts_.clear();
    records.for_each_outline([&](std::size_t nth, std::uint32_t offset, const record_outline& r) {
      const auto at = where[nth].at;
      parts_.push_back({{at.segment, at.offset + offset}, r.size});
    });
    where = parts_;
  }
  one.what.owner->written(where);
  if (one.what.sync == sync_policy::never && !std::exchange(one.is_safe, true))
    one.what.owner->safe();
}

void journal::note_references(const encoded_records& records, std::span<const record_place> where) {
  if (!records.has(record_kind::enqueue) && !records.has(record_kind::move) &&
      !records.has(record_kind::relocate) && !records.has(record_kind::chunk))
    return;
  reference_drop run;  // neighbours are counted at once
  const auto count_run = [&] {
    if (run.references > 0) live_.add(run.segment, run.queue, run.references, run.bytes);
  };
  records.for_each_outline([&](std::size_t nth, std::uint32_t, const record_outline& r) {
    if (r.places.empty()) return;
    const auto bytes = reference_bytes(r.size, r.places.size());
    for (const auto& p : r.places) {
      if (p.queue != run.queue || where[nth].at.segment != run.segment) {
        count_run();
        run = {where[nth].at.segment, p.queue, 0, 0};
      }
      ++run.references;
      run.bytes += bytes;
    }
  });
  count_run();
}

/// Moves pending entries that do not wait before those that do, and gives their end. What they say
/// of messages that wait is repeated behind these, else a recovery that does not find the first any
/// more would find messages that are done with.
template <class Waits>
std::size_t journal::bring_forward(Waits&& waits) {
  std::vector<kept_entry> waiting;
  waiting_messages messages;
  bool moves_wait = false;
  auto to = written_;
  for (auto i = written_; i < entries_.size(); ++i) {
    auto& one = entries_[i];
    // A purge leaves out what has moved before it: ahead of the move it would be the message's end.
    if (waits(one) || (moves_wait && one.what.records.has(record_kind::purge))) {
      messages.add(one.what.records);
      moves_wait = moves_wait || one.what.records.has(record_kind::move);
      waiting.push_back(std::move(one));
      continue;
    }
    if (auto again = messages.repeated(one.what.records); !again.empty()) {
      kept_entry behind;
      behind.what.records = std::move(again);
      behind.what.sync = one.what.sync;
      if (one.number == 0) one.number = ++repetitions_;
      behind.number = one.number;
      behind.repeats = true;
      waiting.push_back(std::move(behind));
    }
    if (to != i) entries_[to] = std::move(one);
    ++to;
  }
  entries_.resize(to);
  std::move(waiting.begin(), waiting.end(), std::back_inserter(entries_));
  return to;
}

// -- syncing ------------------------------------------------------------------------------------

sync_need journal::needs_sync() const noexcept {
  if (!has_unsynced()) return sync_need::none;
  // On a full disk it is what has ended that makes room.
  if (sync_now_ > 0 || full_ || unsynced_bytes_ >= settings_.max_unsynced.value)
    return sync_need::now;
  return sync_soon_ > 0 ? sync_need::within_interval : sync_need::none;
}

file_result<void> journal::sync() {
  auto synced = log_.sync();
  const auto count = std::exchange(written_, 0);  // all of them are pending again, or go
  const auto bytes = std::exchange(unsynced_bytes_, 0);
  sync_now_ = sync_soon_ = 0;
  if (!synced) {
    ++figures_.failed_syncs;
    for (std::size_t i = 0; i < count; ++i) entries_[i].written_anew = true;
    live_.cut_behind(log_.synced_to().segment);
    return synced;
  }
  ++figures_.syncs;
  figures_.bytes_synced += bytes;
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(count);
  for (auto one = entries_.begin(); one != end; ++one) {
    note_definitions(*one);
    if (!one->what.owner || one->is_safe) continue;
    const auto again = std::find_if(one + 1, entries_.end(), [&](const kept_entry& other) {
      return one->number != 0 && other.number == one->number;
    });
    if (again == entries_.end())
      one->what.owner->safe();
    else  // only then it is
      again->what.owner = std::move(one->what.owner);
  }
  entries_.erase(entries_.begin(), end);
  apply_drops();
  return synced;
}

void journal::note_definitions(const kept_entry& one) {
  if (one.where.empty()) return;
  one.what.records.for_each_outline([&](std::size_t nth, std::uint32_t, const record_outline& r) {
    const auto segment = one.where[nth].at.segment;
    if (r.kind == record_kind::define) {
      const auto d = std::get<define>(*decode(r.frame));
      if (d.value)
        live_.define(d.key, segment);
      else
        live_.undefine(d.key);
    } else if (r.kind == record_kind::peer_progress) {
      live_.define(live_segments::key_of(r.kind, std::get<peer_progress>(*decode(r.frame)).peer),
                   segment);
    } else if (r.kind == record_kind::stream_end) {
      live_.define(live_segments::key_of(r.kind, std::get<stream_end>(*decode(r.frame)).queue),
                   segment);
    }
  });
}

void journal::drop(std::span<const reference_drop> gone) {
  for (const auto& d : gone) {
    if (!ended_.empty() && ended_.back().segment == d.segment && ended_.back().queue == d.queue) {
      ended_.back().references += d.references;
      ended_.back().bytes += d.bytes;
    } else {
      ended_.push_back(d);
    }
  }
  if (!has_unsynced()) apply_drops();
}

/// A reference may have ended because its message was written elsewhere, or is to be: until that is
/// safe the old one is needed.
void journal::apply_drops() {
  const auto moving = queues_that_move();
  std::erase_if(ended_, [&](const reference_drop& d) {
    if (moving.count(d.queue) != 0) return false;
    live_.drop(d);
    return true;
  });
}

/// Queues that may have dropped references already because of what is pending. A relocate does that
/// when it has been told where it lies.
std::unordered_set<std::uint64_t> journal::queues_that_move() const {
  std::unordered_set<std::uint64_t> found;
  for (auto i = written_; i < entries_.size(); ++i) {
    const auto& one = entries_[i];
    if (one.written_anew || one.what.records.has(record_kind::move))
      note_moving(one.what.records, found);
  }
  return found;
}

// -- space --------------------------------------------------------------------------------------

bool journal::is_closed(std::uint32_t segment) const noexcept {
  return segment < log_.synced_to().segment;
}

file_result<void> journal::collect() {
  for (auto oldest = live_.oldest(); oldest; oldest = live_.oldest()) {
    if (!is_closed(*oldest) || live_.is_needed(*oldest)) break;
    const auto more_spares = is_stream_ ? spares_of_stream : spares_to_use;
    auto freed = log_.free(*oldest, settings_.reserved_segments + more_spares);
    if (!freed) return freed;
    live_.remove(*oldest);
    ++figures_.segments_freed;
  }
  return log_.prepare_spares(settings_.reserved_segments);
}

std::optional<std::uint32_t> journal::wants_compaction() const noexcept {
  if (is_stream_) return std::nullopt;  // its segments die as they were born
  const auto oldest = live_.oldest();
  if (!oldest || !is_closed(*oldest) || live_.live_bytes_of(*oldest) == 0) return std::nullopt;
  if (live_.size() <= (full_ ? few_segments_when_full : few_segments)) return std::nullopt;
  const auto size = settings_.segment_size.value;
  // One record that is larger than a segment: no reserve has a place for it.
  if (full_ && live_.live_bytes_of(*oldest) > size - segment_header_size) return std::nullopt;
  const auto live = live_.live_bytes();
  const byte_count all{live_.size() * size};
  // Whatever the oldest segment holds: much of what is behind it is not needed.
  const auto below = full_ ? compact_below_when_full : settings_.compact_below;
  if (live < below.of(all).value) return oldest;
  const bool is_long = all.value > 2 * live + few_segments * size;
  if (is_long && live_.live_bytes_of(*oldest) < settings_.compact_below.of({size}).value)
    return oldest;
  return std::nullopt;
}

bool journal::wants_definitions() const noexcept {
  const auto oldest = live_.oldest();
  return oldest && is_closed(*oldest) && live_.is_needed_for_definitions(*oldest) &&
         live_.size() > (full_ ? few_segments_when_full : few_segments);
}

file_result<void> journal::close() {
  auto committed = commit();
  if (auto synced = sync(); !synced) return synced;
  if (!committed) return committed;
  return log_.close();
}

file_result<void> journal::reopen() {
  // Spare files that are there already are for a disk that is full.
  static_cast<void>(collect());
  return log_.reopen();
}

journal_figures journal::figures() const noexcept {
  auto now = figures_;
  now.segments = live_.size();
  now.live_bytes = live_.live_bytes();
  now.unsynced_bytes = unsynced_bytes_;
  for (auto i = written_; i < entries_.size(); ++i)
    now.pending_bytes += entries_[i].what.records.size();
  return now;
}

}  // namespace baton::journal
