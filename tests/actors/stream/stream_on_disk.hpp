#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/stream/stream_core.hpp"
#include "storage/files/simulated_file_system.hpp"
#include "storage/journal/journal.hpp"
#include "storage/stream/chunk_reader.hpp"
#include "storage/stream/stream_folder.hpp"
#include "storage/stream/stream_recovery.hpp"
#include "tests/actors/queue/messages.hpp"
#include "tests/catch.hpp"
#include "transport/amqp091/properties.hpp"

/// What the tests of streams share.
namespace baton::test {

/// A stream with its log and its reader, on a simulated disk. What the log says, and what was read,
/// waits until it is let through, as the mail of actors does.
class stream_on_disk {
public:
  static constexpr std::uint64_t id = 7;
  static inline const std::string streams = "/streams";

  struct delivery {
    std::uint64_t offset = 0;
    std::string body;
    friend bool operator==(const delivery&, const delivery&) = default;
  };

  explicit stream_on_disk(std::uint64_t seed = 1) : dice{seed} {
    REQUIRE(disk.create_folder(streams));
    REQUIRE(disk.sync_folder("/"));
    settings.segment_size = {4096};
    settings.reserved_segments = 0;
    settings.max_unsynced = {1 << 20};
  }

  /// Begins, or begins again after a stop of any kind.
  void open(stream_limits limits = {}) {
    core.reset();
    log.reset();
    mail_.clear();
    reads_.clear();
    const auto folder = stream_log::stream_folder(streams, id);
    auto found = stream_log::recovered_stream{id};
    if (auto there = disk.list(streams); there && !there->empty()) {
      auto recovered = stream_log::recover_stream(disk, folder, id);
      if (!recovered) FAIL(recovered.reason().text);
      found = *std::move(recovered);
      REQUIRE(journal::settle_log(disk, folder, found.log));
    }
    log = std::make_unique<journal::journal>(
        disk, folder, settings, found.log, std::move(found.live), [this] { return ++generation_; },
        id);
    reader = std::make_unique<stream_log::chunk_reader>(disk, streams);
    core = std::make_unique<stream_core>(queue_id{id}, limits, std::move(found.table));
  }

  static message message_of(const std::string& body, const std::string& filter = {}) {
    amqp091::properties_editor editor{amqp091::no_properties};
    if (!filter.empty()) editor.set_header("x-stream-filter-value", field_value{filter});
    amqp091::output_buffer properties;
    editor.finish(properties);
    message_parts parts;
    parts.routing_key = "s";
    parts.properties = properties.view();
    slab_writer writer;
    if (body.size() <= small_body_limit) return writer.add(parts, as_bytes(body));
    auto large = std::make_unique<large_body>(body.size());
    large->append(as_bytes(body));
    return writer.add(parts, std::move(large));
  }
  void publish(const std::vector<std::string>& bodies, std::uint64_t now_ms = 1) {
    batch all;
    for (const auto& body : bodies) all.add(message_of(body));
    core->publish(std::move(all), now_ms);
  }

  /// The end of a turn: what has come is on its way to the log.
  void flush() {
    auto news = core->take_unwritten();
    if (news.chunks.empty()) return;
    journal::journal_entry entry;
    entry.records = std::move(news.records);
    entry.sync = sync;
    entry.owner = std::make_unique<owner>(*this, std::move(news.chunks));
    log->add(std::move(entry));
  }
  bool commit() { return static_cast<bool>(log->commit()); }
  bool sync_log() { return static_cast<bool>(log->sync()); }
  /// Lets through one piece of what the log has said; false: there is none.
  bool hear() {
    if (mail_.empty()) return false;
    auto told = std::move(mail_.front());
    mail_.pop_front();
    if (const auto* w = std::get_if<written>(&told))
      for (std::size_t i = 0; i < w->where.size(); ++i) core->written(w->chunks[i], w->where[i]);
    else if (const auto* s = std::get_if<safe>(&told))
      core->committed(s->end);
    else
      core->synced(std::get<synced>(told).end);
    return true;
  }
  /// All of that until everything is safe.
  void settle() {
    flush();
    REQUIRE(commit());
    REQUIRE(sync_log());
    while (hear()) {
    }
  }
  void publish_safely(const std::vector<std::string>& bodies, std::uint64_t now_ms = 1) {
    publish(bodies, now_ms);
    settle();
  }

  /// Hands out what can be without reading.
  bool dispatch() {
    const bool more = core->dispatch([this](lease_batch&& leases) {
      for (const auto& l : leases) {
        std::string body;
        l.content.for_each_body_piece([&](byte_view piece) { body += as_text(piece); });
        const auto offset = amqp091::decode_checked_properties(l.content.properties())
                                .header("x-stream-offset")
                                ->integer();
        REQUIRE(offset == static_cast<std::int64_t>(l.number));
        got[leases.consumer().value].push_back({l.number, std::move(body)});
      }
    });
    for (auto& each : core->take_wanted()) reads_.push_back(std::move(each));
    return more;
  }
  /// Answers one read; false: there is none.
  bool read() {
    if (reads_.empty()) return false;
    const auto asked = reads_.front();
    reads_.pop_front();
    ++reads_done;
    auto request = request_of(queue_id{id}, asked);
    request.max_bytes = 1024;
    auto outcome = reader->read(request);
    damage.insert(damage.end(), outcome.damage.begin(), outcome.damage.end());
    core->loaded(asked, found_in(std::move(outcome)));
    return true;
  }
  /// Hands out and reads until nothing happens any more.
  void run() {
    for (int turns = 0;; ++turns) {
      REQUIRE(turns < 100'000);
      const bool more = dispatch();
      if (!read() && !more) break;
    }
  }

  void add_reader(std::uint64_t number, stream_reading reading = {},
                  std::uint32_t prefetch = 1'000'000) {
    consumer_options options;
    options.prefetch = prefetch;
    options.byte_credit = std::uint64_t{1} << 40;
    options.reading = std::move(reading);
    REQUIRE(core->add(consumer_id{number}, options));
  }
  void add_reader_from(std::uint64_t number, stream_start::kind from, std::uint64_t value = 0,
                       std::uint32_t prefetch = 1'000'000) {
    add_reader(number, {{from, value}, {}, false}, prefetch);
  }
  void retire(std::uint64_t now_ms) {
    auto gone = core->take_drops(now_ms);
    log->drop(gone);
    static_cast<void>(log->collect());
  }
  std::vector<std::uint64_t> offsets_of(std::uint64_t reader_number) {
    std::vector<std::uint64_t> all;
    for (const auto& d : got[reader_number]) all.push_back(d.offset);
    return all;
  }

  simulation_random dice;
  simulated_file_system disk{dice};
  journal_settings settings;
  sync_policy sync = sync_policy::always;
  std::unique_ptr<journal::journal> log;
  std::unique_ptr<stream_log::chunk_reader> reader;
  std::unique_ptr<stream_core> core;
  std::map<std::uint64_t, std::vector<delivery>> got;
  std::vector<std::string> damage;
  std::size_t reads_done = 0;

private:
  struct written {
    std::vector<stream_core::unwritten::chunk> chunks;
    std::vector<journal::record_place> where;
  };
  struct safe {
    std::uint64_t end;
  };
  struct synced {
    std::uint64_t end;
  };

  class owner final : public journal::record_owner {
  public:
    owner(stream_on_disk& of, std::vector<stream_core::unwritten::chunk> chunks)
        : of_{of}, chunks_{std::move(chunks)} {}
    ~owner() override {
      if (written_) of_.mail_.push_back(synced{end()});
    }
    void written(std::span<const journal::record_place> where) noexcept override {
      written_ = true;
      of_.mail_.push_back(stream_on_disk::written{chunks_, {where.begin(), where.end()}});
    }
    void safe() noexcept override { of_.mail_.push_back(stream_on_disk::safe{end()}); }

  private:
    std::uint64_t end() const { return chunks_.back().first + chunks_.back().count; }

    stream_on_disk& of_;
    std::vector<stream_core::unwritten::chunk> chunks_;
    bool written_ = false;
  };

  std::deque<std::variant<written, safe, synced>> mail_;
  std::deque<stream_read> reads_;
  std::uint64_t generation_ = 0;
};

}  // namespace baton::test
