#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "storage/files/file_system.hpp"
#include "storage/journal/record.hpp"
#include "storage/message.hpp"
#include "storage/stream/segment_table.hpp"

namespace baton::stream_log {

/// What a stream took in one turn, back from its log.
struct read_chunk {
  std::uint64_t first = 0;  ///< offset of the first message; the others follow
  std::uint64_t time_ms = 0;
  std::vector<message> messages;
  journal::place at;
};

/// Reads chunks of any number of streams. For one thread, which it blocks; logs may be written
/// meanwhile, and their segments be freed and their files be used again.
///
/// Messages and their bodies are copied once, into slabs and blocks of the calling thread. A few
/// files stay open. What was read stays in the page cache until `left_behind`.
class chunk_reader {
public:
  struct request {
    std::uint64_t queue = 0;
    /// From `segment_table::find` or `find_time`: what lies beyond its end is not touched.
    stretch where;
    std::uint64_t offset = 0;    ///< chunks of which all messages are before it are left out,
    std::uint64_t since_ms = 0;  ///< those that were taken before it,
    std::uint64_t before = UINT64_MAX;  ///< and those that begin at it or later: not yet committed
    std::size_t max_bytes = 256 << 10;  ///< of records; a larger chunk comes alone
  };
  struct outcome {
    std::vector<read_chunk> chunks;  ///< in order; maybe none, and it goes on all the same
    /// Where to read on, for `segment_table::find`: with these, `since_ms` and `before` as they
    /// were.
    std::uint64_t offset = 0;
    journal::place stopped;
    /// What could not be read was passed over: which file, from where to where.
    std::vector<std::string> damage;
    /// The segment has gone. If the table still finds it and everything in the stretch was synced,
    /// somebody else has removed it: then go on with the offset behind the stretch.
    bool retired = false;
  };

  /// `streams`: the folder in which each stream has its own.
  chunk_reader(file_system& files, std::string streams);
  ~chunk_reader();

  outcome read(const request& wanted);

  /// All readers of the stream have left this segment behind: it gives up its pages. Say it once.
  void left_behind(std::uint64_t queue, std::uint32_t segment);

  /// The stream is gone, or these of its segments (those before `segment`): their files are closed,
  /// so that their space is free.
  void close(std::uint64_t queue, std::uint32_t segment = UINT32_MAX);

private:
  struct open_segment {
    std::uint64_t queue = 0;
    std::uint32_t number = 0;
    std::uint64_t generation = 0;
    std::uint32_t seal = 0;
    std::unique_ptr<file> from;
  };

  enum class verdict : std::uint8_t { wanted, passed_over, not_yet };

  open_segment* open(const request& wanted, outcome& made);
  bool is_still(open_segment& from);

  bool read_window(open_segment& from, const request& wanted, outcome& made);
  bool read_larger(open_segment& from, const request& wanted, std::uint32_t size, outcome& made);
  bool read_passing(open_segment& from, const request& wanted, std::uint32_t size, outcome& made);
  bool read_whole(open_segment& from, const request& wanted, std::uint32_t size, outcome& made);
  bool pass_damage(open_segment& from, const request& wanted, outcome& made);

  static verdict judge(const journal::chunk& front, const request& wanted, const outcome& made);
  bool take(const open_segment& from, byte_view frame, const request& wanted, outcome& made);
  static void pass(std::uint32_t size, const request& wanted, outcome& made);

  file_system& files_;
  const std::string streams_;
  std::list<open_segment> open_;            // the one used last comes first
  std::unique_ptr<std::uint8_t[]> buffer_;  // from the first read on
  slab_writer slabs_;
};

}  // namespace baton::stream_log
