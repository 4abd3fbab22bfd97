#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "config/result.hpp"
#include "storage/byte_view.hpp"
#include "storage/files/file_system.hpp"
#include "storage/journal/record.hpp"

/// One file of the log: a header, then records. storage/README.md has the bytes.
namespace baton::journal {

constexpr std::uint32_t format_version = 1;
constexpr std::size_t segment_header_size = 64;

enum class segment_kind : std::uint32_t {
  journal = 1,
  stream = 2,    ///< of one stream alone
  overflow = 3,  ///< transient messages that memory has no place for; worthless after a restart
};

struct segment_header {
  segment_kind kind = segment_kind::journal;
  /// Another one each time a file is used, so that what it held before never passes for records.
  std::uint64_t generation = 0;
  std::uint32_t number = 0;  ///< of the segment, see `place`
  std::uint64_t queue = 0;   ///< of a stream
  /// Where the log ended when this segment was begun. All up to there belongs to it; what lies
  /// between there and this segment was written in vain and does not.
  place previous_end;

  friend bool operator==(const segment_header&, const segment_header&) = default;
};

std::array<std::uint8_t, segment_header_size> encode(const segment_header& header) noexcept;

/// The header at the front of a file. An error says what the file is instead: of another program,
/// of a later version of this one, or damaged.
result<segment_header> read_segment_header(byte_view file);

/// Whether that is a segment, of a format version that this program does not know.
bool is_of_another_version(byte_view file) noexcept;

/// Walks through the records of one segment, of which it reads a block at a time: memory is that of
/// a block, or of a record that is larger.
class segment_scan {
public:
  static constexpr std::size_t block_size = 256 << 10;

  struct found {
    std::uint32_t offset = 0;
    byte_view frame;  ///< until the next call
  };

  /// `in` outlives the scan, which begins at `from` and goes as far as the file does, but not
  /// beyond `end`.
  segment_scan(file& in, const segment_header& header, std::uint32_t from = segment_header_size,
               std::uint64_t end = UINT64_MAX);

  /// The next record that is whole; nothing at the end of what was written, or of what was written
  /// soundly: then `problem()` says which, and `offset()` where.
  std::optional<found> next();

  std::uint32_t offset() const noexcept { return static_cast<std::uint32_t>(offset_); }
  frame_problem problem() const noexcept { return problem_; }
  /// Why the file could not be read; then nothing comes any more.
  const std::optional<io_error>& error() const noexcept { return error_; }

  /// After a broken record: goes to the next one that is whole. False: there is none.
  bool skip_damage();

private:
  byte_view ahead(std::uint64_t wanted);
  byte_view record_ahead();

  file& in_;
  std::uint32_t seal_;
  std::uint64_t offset_;
  std::uint64_t end_;  // of what there is to read
  frame_problem problem_ = frame_problem::none_here;
  std::optional<io_error> error_;

  std::unique_ptr<std::uint8_t[]> block_;  // bytes of the file from block_at_ on
  std::uint64_t block_at_ = 0;
  std::size_t filled_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace baton::journal
