#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/files/simulated_file_system.hpp"
#include "storage/journal/journal.hpp"
#include "storage/message.hpp"
#include "storage/stream/chunk_reader.hpp"
#include "storage/stream/segment_table.hpp"
#include "storage/stream/stream_folder.hpp"
#include "storage/stream/stream_recovery.hpp"
#include "tests/catch.hpp"

/// What the tests of streams share.
namespace baton::stream_log::test {

using journal::place;
using journal::record_place;

inline const std::string streams = "/streams";
constexpr std::uint64_t queue = 7;

/// A message as a reader got it.
struct read_message {
  std::uint64_t offset = 0;
  std::uint64_t time_ms = 0;
  std::string key;
  std::size_t body = 0;

  friend bool operator==(const read_message&, const read_message&) = default;
};

/// Reads on as storage/stream/README.md says, from an offset or a time to the end of the table.
class cursor {
public:
  cursor(const segment_table& table, chunk_reader& reader) : table_{table}, reader_{reader} {}

  std::uint64_t offset = 0;
  std::uint64_t since_ms = 0;
  std::uint64_t before = UINT64_MAX;
  std::size_t max_bytes = 256 << 10;
  std::vector<read_message> got;
  std::vector<std::string> damage;
  bool retired = false;

  void run() {
    auto where = since_ms > 0 ? table_.find_time(since_ms) : table_.find(offset);
    place stopped;
    while (where && offset < before) {
      auto more = reader_.read({queue, *where, offset, since_ms, before, max_bytes});
      for (const auto& c : more.chunks) take(c);
      damage.insert(damage.end(), more.damage.begin(), more.damage.end());
      retired = more.retired;
      if (retired) return;
      const bool moved = more.offset > offset || more.stopped > stopped;
      CHECK(more.offset >= offset);
      offset = more.offset;
      stopped = more.stopped;
      if (!moved) return;  // what follows is not committed
      where = table_.find(offset, stopped);
    }
  }

private:
  void take(const read_chunk& c) {
    CHECK(!c.messages.empty());
    CHECK(c.time_ms >= since_ms);
    CHECK(c.first < before);
    for (std::size_t i = 0; i < c.messages.size(); ++i) {
      const auto& m = c.messages[i];
      std::size_t size = 0;
      bool is_sound = true;
      m.for_each_body_piece([&](byte_view piece) {
        size += piece.size();
        is_sound = is_sound && std::all_of(piece.begin(), piece.end(),
                                           [&](auto b) { return b == piece.front(); });
      });
      CHECK(is_sound);
      CHECK(size == m.body_size());
      if (c.first + i >= offset)
        got.push_back({c.first + i, c.time_ms, std::string{m.routing_key()}, size});
    }
  }

  const segment_table& table_;
  chunk_reader& reader_;
};

/// A stream on a simulated disk: its log, its table, and readers.
class stream_on_disk {
public:
  explicit stream_on_disk(std::uint64_t segment_size = 4096, std::uint64_t seed = 1) : dice{seed} {
    settings.segment_size = {segment_size};
    settings.reserved_segments = 0;
    settings.max_unsynced = {1 << 20};
    REQUIRE(disk.create_folder(streams));
    REQUIRE(disk.create_folder(folder));
    REQUIRE(disk.sync_folder("/"));
    REQUIRE(disk.sync_folder(streams));
    open();
  }

  /// As a node starts: what is there, then a log that goes on behind it.
  void open() {
    log.reset();
    auto found = recover_stream(disk, folder, queue);
    if (!found) FAIL(found.reason().text);
    REQUIRE(journal::settle_log(disk, folder, found->log));
    damage = found->log.damage;
    torn = found->log.torn;
    table = std::move(found->table);
    log = std::make_unique<journal::journal>(
        disk, folder, settings, found->log, std::move(found->live),
        [this] { return ++generations_; }, queue);
    next = table.next_offset();
  }

  /// Takes messages with bodies of these sizes, as one chunk.
  void add(const std::vector<std::size_t>& bodies, std::uint64_t time_ms,
           sync_policy sync = sync_policy::always) {
    std::vector<message> messages;
    for (const auto size : bodies) messages.push_back(message_of(next + messages.size(), size));
    journal::record_writer w;
    w.add_chunk(queue, next, time_ms, messages);
    const auto count = static_cast<std::uint32_t>(messages.size());
    log->add({w.take(), sync, {}, std::make_unique<owner>(*this, next, count, time_ms)});
    for (std::size_t i = 0; i < bodies.size(); ++i)
      sent.push_back({next + i, time_ms, "m" + std::to_string(next + i), bodies[i]});
    next += count;
  }
  void make_safe() {
    REQUIRE(log->commit());
    REQUIRE(log->sync());
    drop_ended();
  }
  void drop_ended() {
    log->drop(ended_);
    ended_.clear();
  }
  /// Chunks of a message each, all safe, until so many segments were begun since.
  void fill_segments(std::size_t count, std::size_t body = 200) {
    for (const auto wanted = table.segments() + count; table.segments() < wanted;) {
      add({body}, 1000 + next);
      make_safe();
    }
  }
  void retire(std::uint64_t max_bytes, std::uint64_t oldest_time_ms = 0) {
    log->drop(table.retire(max_bytes, oldest_time_ms));
    REQUIRE(log->commit());
    REQUIRE(log->sync());
    REQUIRE(log->collect());
  }

  /// What was sent from an offset on.
  std::vector<read_message> sent_from(std::uint64_t offset) const {
    std::vector<read_message> made;
    for (const auto& m : sent)
      if (m.offset >= offset) made.push_back(m);
    return made;
  }
  std::string path_of(std::uint32_t segment) const {
    return folder + "/" + journal::segment_name(segment);
  }
  std::vector<std::string> files() {
    auto names = disk.list(folder);
    REQUIRE(names);
    return *names;
  }

  const std::string folder = stream_folder(streams, queue);
  simulation_random dice;
  simulated_file_system disk{dice};
  journal_settings settings;
  segment_table table{queue};
  std::unique_ptr<journal::journal> log;
  std::uint64_t next = 0;
  std::uint64_t safe = 0;  // all before it was told safe
  std::vector<read_message> sent;
  std::vector<std::string> damage;
  std::string torn;

private:
  class owner final : public journal::record_owner {
  public:
    owner(stream_on_disk& of, std::uint64_t first, std::uint32_t count, std::uint64_t time_ms)
        : of_{of}, first_{first}, count_{count}, time_ms_{time_ms} {}
    ~owner() override {
      if (is_safe_ && is_written_) of_.table.synced(first_ + count_);
    }
    void written(std::span<const record_place> where) noexcept override {
      is_written_ = true;
      of_.table.note(where[0], first_, count_, time_ms_, of_.ended_);
    }
    void safe() noexcept override {
      is_safe_ = true;
      of_.safe = std::max(of_.safe, first_ + count_);
    }

  private:
    stream_on_disk& of_;
    std::uint64_t first_;
    std::uint32_t count_;
    std::uint64_t time_ms_;
    bool is_written_ = false;
    bool is_safe_ = false;
  };

  message message_of(std::uint64_t offset, std::size_t size) {
    const auto key = "m" + std::to_string(offset);
    message_parts parts;
    parts.routing_key = key;
    const std::string body(size, static_cast<char>('a' + offset % 26));
    if (size <= small_body_limit) return slabs_.add(parts, as_bytes(body));
    auto large = std::make_unique<large_body>(size);
    large->append(as_bytes(body));
    return slabs_.add(parts, std::move(large));
  }

  slab_writer slabs_;
  std::uint64_t generations_ = 0;
  std::vector<journal::reference_drop> ended_;
};

}  // namespace baton::stream_log::test
