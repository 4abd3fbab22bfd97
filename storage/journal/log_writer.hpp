#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/files/file_system.hpp"
#include "storage/journal/record_writer.hpp"
#include "storage/journal/segment.hpp"

namespace baton::journal {

/// Where a log is written.
struct log_options {
  std::string folder;  // exists, and is this process's alone
  segment_kind kind = segment_kind::journal;
  std::uint64_t queue = 0;                 // of a stream
  std::uint32_t segment_size = 64u << 20;  // bytes, header included
  bool after_crash = false;                // what it goes on behind was not closed in order
  bool makes_folder = false;               // it may not exist, when the log begins
};

/// Where a record lies, and its size without padding.
struct record_place {
  place at;
  std::uint32_t size = 0;

  friend bool operator==(const record_place&, const record_place&) = default;
};

/// `0000000007.log`; segments sort by number.
std::string segment_name(std::uint32_t number);
/// The number in such a name; nothing for other names.
std::optional<std::uint32_t> segment_number(std::string_view name);
/// Whether a file of this name is a spare one.
bool is_spare_name(std::string_view name);

/// The writing end of a log: appends records, one segment after the other. For one thread, which it
/// blocks; nothing here knows of queues.
///
/// A segment is preallocated, so that a full disk shows before its records are written, and a file
/// that is no longer needed is used again: to sync blocks that were written before costs half.
class log_writer {
public:
  /// Goes on behind `end` (of a new log: nowhere) with a segment that gets the number after
  /// `last_number`. `generation` gives another number for each segment, never one that was used in
  /// this folder.
  log_writer(file_system& files, log_options options, place end, std::uint32_t last_number,
             std::function<std::uint64_t()> generation);

  /// Appends all records of `group`, and to `where` a place for each. After an error those that got
  /// a place are in the log, which are all records of one `encoded_records` after the other, and
  /// the others are not; a recovery may find some of these too, until another write has succeeded.
  ///
  /// `spares_left`: so many spare files are not for these records.
  file_result<void> write(std::span<encoded_records* const> group, std::size_t spares_left,
                          std::vector<record_place>& where);

  /// Makes durable whatever was written. After an error what `synced_to()` does not cover is no
  /// longer in the log, as soon as another write has succeeded: write it again. The segments that
  /// it was in get no more records.
  file_result<void> sync();

  /// Syncs, and marks the end, so that a recovery knows that nothing is missing. The log may go on.
  file_result<void> close();
  /// Takes such a mark back before anything is written: from here on the log is as after a crash.
  file_result<void> reopen();

  /// Whether a record of that size lies in a segment with others, and not in a larger one alone.
  bool fits_segment(std::uint32_t record_size) const noexcept;

  /// Segments that were begun since this was last asked.
  std::vector<std::uint32_t> take_begun() noexcept { return std::exchange(begun_, {}); }

  /// All that lies before is durable.
  place synced_to() const noexcept { return synced_to_; }
  /// Where the next record goes, unless it begins a segment.
  place end() const noexcept { return end_; }

  /// Nobody needs this segment any more, which is the oldest of the log: its file is kept to be
  /// used again where there are fewer than `spares_wanted`, else removed. When this has succeeded
  /// it does not come back.
  file_result<void> free(std::uint32_t number, std::size_t spares_wanted);
  /// Makes spare files until there are so many, and sees to it that those that were adopted have
  /// their space: what is taken now is not missing later, nor after a power cut.
  file_result<void> prepare_spares(std::size_t wanted);
  /// A spare file that an earlier process left. `prepare_spares` makes it one of this log's.
  void adopt_spare(std::string name) { adopted_.push_back(std::move(name)); }
  std::size_t spares() const noexcept { return spares_.size(); }

private:
  struct unsynced {
    std::unique_ptr<file> where;
    std::uint32_t number = 0;
  };
  struct new_segment {
    std::unique_ptr<file> where;
    std::uint32_t number = 0;
    std::uint64_t size = 0;
  };
  /// Records of one `encoded_records` that go into a segment at once.
  struct part {
    encoded_records* of;
    std::size_t first, last;
  };

  std::string path_of(const std::string& name) const { return options_.folder + "/" + name; }
  std::string new_spare_name() { return "spare-" + std::to_string(generation_()); }
  file_result<void> make_folder();
  file_result<new_segment> open_segment(std::uint64_t size, std::size_t spares_left);
  file_result<void> begin_segment(new_segment opened);
  void end_log_at(place end);
  /// `parts_`, of `size` bytes.
  file_result<void> write_parts(bool closes, std::uint64_t size);
  file_result<void> mark(bool closes);
  void leave_dead(std::uint32_t number);
  void give_up_segment();
  file_result<void> take_space(const std::string& name, open_mode mode);
  file_result<void> blank(const std::string& path);
  file_result<void> remove_segment(const std::string& path);
  file_result<void> remove_dead();

  file_system& files_;
  const log_options options_;
  std::function<std::uint64_t()> generation_;
  std::uint32_t last_number_;
  std::vector<std::string> spares_;
  std::vector<std::string> adopted_;
  std::vector<std::uint32_t> begun_;

  unsynced current_;  // no file: the next write begins a segment
  std::uint64_t current_size_ = 0;
  std::uint32_t seal_ = 0;
  bool dirty_ = false;               // the current one has something unsynced
  std::vector<unsynced> before_;     // segments that are full and not synced
  std::vector<std::uint32_t> dead_;  // segments that are no part of the log and still have files
  place end_;
  place synced_to_;
  const place began_;  // behind what there was
  bool has_folder_;
  bool crash_told_ = false;  // a group says so that was not lost

  // Of the write under way; kept for their memory.
  std::vector<part> parts_;
  std::vector<byte_view> pieces_;
};

}  // namespace baton::journal
