#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "config/settings.hpp"
#include "storage/files/file_system.hpp"
#include "storage/journal/live_segments.hpp"
#include "storage/journal/log_recovery.hpp"
#include "storage/journal/log_writer.hpp"
#include "storage/journal/record_writer.hpp"

namespace baton::journal {

/// Told what becomes of an entry's records, on the journal's thread. It goes with its entry, when
/// there is nothing more to tell.
class record_owner {
public:
  virtual ~record_owner() = default;

  /// They are in the log, at these places: one for each record, in order; in the stead of a tx one
  /// for each of its parts.
  ///
  /// This makes a reference for each place in a queue that an enqueue, move or relocate gives (and
  /// one for a chunk), and each of them is to be dropped exactly once: when the message is done
  /// with, and also when it turns out here that the queue has another place for it already, which
  /// it then leaves, or does not have it any more. So it goes too when this comes a second time,
  /// because a sync has failed and they were written anew.
  virtual void written(std::span<const record_place> where) noexcept = 0;

  /// As safe as was asked for. Once.
  virtual void safe() noexcept = 0;
};

/// Records that go to the log one behind the other; each is there or not for itself. Without any,
/// `safe` says that all that was added before is in the log, what had to be written anew too.
///
/// On a full disk an entry waits if it has an enqueue, also in a tx, or a chunk, and all others get
/// through: so what settles is better not in the same entry. Then a record may be written more than
/// once, and the order of entries is another; the log says the same in the end.
struct journal_entry {
  encoded_records records;
  sync_policy sync = sync_policy::always;
  /// What is not needed any more once these records are safe on the disk.
  std::vector<reference_drop> drops;
  std::unique_ptr<record_owner> owner;  // or none
};

enum class sync_need : std::uint8_t {
  none,
  within_interval,  ///< `journal_settings::sync_interval` from when this was first said
  now,
};

struct journal_figures {
  std::uint64_t records = 0;        ///< written; again counts again
  std::uint64_t bytes_written = 0;  ///< of records
  std::uint64_t bytes_synced = 0;
  std::uint64_t groups = 0;
  std::uint64_t syncs = 0;
  std::uint64_t failed_writes = 0;
  std::uint64_t failed_syncs = 0;
  std::uint64_t segments_freed = 0;
  std::uint64_t segments = 0;        ///< that the log has now
  std::uint64_t live_bytes = 0;      ///< of messages that queues still need
  std::uint64_t unsynced_bytes = 0;  ///< written, and kept in memory until they are synced
  std::uint64_t pending_bytes = 0;   ///< added, and not written
};

/// The node's log of all that is durable: takes entries, writes what has gathered as one group,
/// syncs, and frees what nobody needs. For one thread, which its calls block; it knows no clock, so
/// its user decides when.
///
///     add, add, ... commit -> written()     what has gathered meanwhile shares the next group
///                   sync   -> safe()        one for everybody
///                   collect                 segments from the oldest on, spare files
///
/// Nothing is given up: after an error entries stay, in order, for the next try.
class journal {
public:
  /// Goes on behind what `recover_log` has found in `folder` and `settle_log` has settled. `live`:
  /// what is still needed of it, with all of its segments. `generation` gives another number each
  /// time, never one that was used in this folder.
  ///
  /// `stream`: of which queue it is the log, which takes chunks; none: the node's own.
  journal(file_system& files, std::string folder, const journal_settings& settings,
          const log_state& found, live_segments live, std::function<std::uint64_t()> generation,
          std::optional<std::uint64_t> stream = std::nullopt);

  // -- writing

  void add(journal_entry entry);
  /// References that end without a record. They count from the next sync on at the latest.
  void drop(std::span<const reference_drop> gone);

  bool has_pending() const noexcept { return written_ < entries_.size(); }

  /// Writes all that is pending. On a full disk the reserve is used for what does not wait (see
  /// `journal_entry`), its last file only for what frees the oldest segment. An error says why
  /// something is still pending: try again when segments have been freed, and now and then.
  file_result<void> commit();

  /// The last commit met a full disk: publishers had better wait. To empty it, sync, collect, and
  /// do as `wants_compaction` and `wants_definitions` say.
  bool is_full() const noexcept { return full_; }

  // -- syncing

  sync_need needs_sync() const noexcept;
  /// Something is written and not synced, and so kept in memory.
  bool has_unsynced() const noexcept { return written_ > 0; }
  /// Makes safe what was written. After an error all of it is pending again, before what was added
  /// since.
  file_result<void> sync();

  // -- space

  /// Frees segments that nobody needs, and makes spare files as far as the reserve lacks them.
  /// Worth it after each sync; costs nothing where there is nothing to do.
  file_result<void> collect();

  /// The oldest segment, if the log would get shorter by writing its messages anew: the queues in
  /// it are to relocate them, and to drop their references when they are told the new places.
  std::optional<std::uint32_t> wants_compaction() const noexcept;
  std::vector<std::uint64_t> queues_in(std::uint32_t segment) const {
    return live_.queues_in(segment);
  }
  /// Only definitions keep the oldest segment: all of them are to be written again, in one tx.
  bool wants_definitions() const noexcept;

  /// Writes and syncs what is left, and marks the end of the log. It may go on.
  file_result<void> close();
  /// Takes that mark back. For whoever is about to do what leaves no trace in the log, and would be
  /// missed after a crash: to hand out messages.
  file_result<void> reopen();

  journal_figures figures() const noexcept;

private:
  struct kept_entry {
    journal_entry what;
    bool is_safe = false;       // the owner has been told
    bool written_anew = false;  // a sync of it has failed
    // What gets ahead of entries that wait is repeated behind these, by an entry with the same
    // number that does not get ahead itself.
    std::uint64_t number = 0;
    bool repeats = false;
    std::vector<record_place> where{};  // of its records, if they define something
  };

  file_result<void> write(std::size_t last, std::size_t spares_left);
  void note_written(kept_entry& one, std::span<const record_place> where);
  void note_references(const encoded_records& records, std::span<const record_place> where);
  void note_definitions(const kept_entry& one);
  bool is_large(const kept_entry& one) const noexcept;
  bool frees_oldest(const kept_entry& one) const;
  template <class Waits>
  std::size_t bring_forward(Waits&& waits);
  void apply_drops();
  std::unordered_set<std::uint64_t> queues_that_move() const;
  bool is_closed(std::uint32_t segment) const noexcept;

  const journal_settings settings_;
  const bool is_stream_;
  log_writer log_;
  live_segments live_;
  std::vector<kept_entry> entries_;    // in the order of the log: written, then pending
  std::size_t written_ = 0;            // so many are written and not synced
  std::vector<reference_drop> ended_;  // they count from the next sync on
  bool full_ = false;
  std::uint64_t repetitions_ = 0;
  // Of what is written and not synced:
  std::uint64_t unsynced_bytes_ = 0;
  std::size_t sync_now_ = 0;   // entries that wait for a sync
  std::size_t sync_soon_ = 0;  // the same, within an interval
  journal_figures figures_;

  // Of the write under way; kept for their memory.
  std::vector<encoded_records*> group_;
  std::vector<record_place> places_;
  std::vector<record_place> parts_;
};

}  // namespace baton::journal
