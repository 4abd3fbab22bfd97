#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/result.hpp"
#include "storage/files/file_system.hpp"
#include "storage/journal/record.hpp"
#include "storage/message.hpp"

namespace baton::journal {

/// Why a message could not be read.
struct unreadable {
  std::string path;
  std::uint32_t offset = 0;
  std::string why;

  /// `/data/journal/0000000007.log: offset 4096: its checksum is wrong`
  std::string text() const { return path + ": offset " + std::to_string(offset) + ": " + why; }
};

/// Reads messages back from the log, for queues that know their places. For one thread, which it
/// blocks; the log may be written meanwhile.
///
/// Places that lie close together are read at once. A few files stay open. Messages and their
/// bodies are copied once, into slabs and blocks of the calling thread; a body of any size passes
/// through one buffer.
///
/// **Pages.** Where a queue reads is where it stands. A segment that was read gives up its pages
/// when every queue that stands anywhere stands in a later one: then all that were reading have
/// left it behind. It does so once, unless one that comes later reads it again. A queue that has
/// caught up with the writer says so and stands nowhere, so the segment that is being written keeps
/// its pages.
class message_reader {
public:
  using outcome = result<message, unreadable>;

  message_reader(file_system& files, std::string folder);
  ~message_reader();

  /// Reads the messages at these places, best in ascending order: `into[i]` becomes the one at
  /// `places[i]`, or why it cannot be read.
  void read(std::uint64_t queue, std::span<const place> places, std::vector<outcome>& into);

  /// The queue reads no more, for now or for ever: it has caught up, or is gone.
  void leave(std::uint64_t queue);

  /// The segment is freed: its file is closed, so that its space is free too.
  void close(std::uint32_t segment);

private:
  struct open_segment {
    std::uint32_t number = 0;
    std::uint32_t seal = 0;
    std::unique_ptr<file> from;
  };
  /// A record that lies in the buffer.
  struct found {
    std::size_t nth = 0;  // of the places
    byte_view frame;
  };
  using order = std::span<const std::size_t>;  // places, by their numbers

  std::string path_of(std::uint32_t segment) const;
  result<open_segment*, unreadable> open(std::uint32_t segment);
  std::uint32_t offset_of(std::size_t nth) const noexcept { return places_[nth].offset; }

  void read_in(open_segment& from, order wanted);
  bool read_together(open_segment& from, order stretch, std::size_t& done);
  void read_alone(open_segment& from, std::size_t nth);
  void read_large(open_segment& from, std::size_t nth, byte_view front, std::uint32_t size);
  void read_whole(open_segment& from, std::size_t nth, std::uint32_t size);
  void make_found(const open_segment& from);
  void make(const open_segment& from, const found& one);
  void fail(const open_segment& from, std::size_t nth, std::string why);

  void stand(std::uint64_t queue, std::uint32_t segment);
  void give_up_pages();

  file_system& files_;
  const std::string folder_;
  std::list<open_segment> open_;  // the one used last comes first
  std::unique_ptr<std::uint8_t[]> buffer_;
  slab_writer slabs_;

  std::unordered_map<std::uint64_t, std::uint32_t> where_;  // queue -> segment
  std::map<std::uint32_t, std::size_t> standing_;           // segment -> queues
  std::set<std::uint32_t> read_;                            // segments that have pages to give up

  // Of the call under way.
  std::span<const place> places_;
  std::vector<outcome>* into_ = nullptr;
  std::vector<found> found_;
};

}  // namespace baton::journal
