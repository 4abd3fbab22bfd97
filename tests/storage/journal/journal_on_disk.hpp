#pragma once

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/simulated_file_system.hpp"
#include "storage/journal/journal.hpp"
#include "storage/message.hpp"
#include "tests/catch.hpp"

/// What the tests of the journal share.
namespace baton::journal::test {

inline const std::string folder = "/journal";
constexpr std::uint64_t segment_size = 4096;

/// What an entry's owner was told. It may go before the journal that still has the entry.
struct told {
  told() = default;
  told(const told&) = delete;
  told& operator=(const told&) = delete;

  std::vector<std::vector<record_place>> written;  // each time
  int safe = 0;
  bool gone = false;
  const std::shared_ptr<told*> listening = std::make_shared<told*>(this);
};

class listening_owner final : public record_owner {
public:
  explicit listening_owner(told& to) : to_{to.listening} {}
  ~listening_owner() override {
    tell([](told& to) { to.gone = true; });
  }
  void written(std::span<const record_place> where) noexcept override {
    tell([&](told& to) { to.written.emplace_back(where.begin(), where.end()); });
  }
  void safe() noexcept override {
    tell([](told& to) { ++to.safe; });
  }

private:
  template <class Note>
  void tell(Note&& note) const {
    if (const auto to = to_.lock()) note(**to);
  }

  std::weak_ptr<told*> to_;
};

/// A journal on a simulated disk, and what its records are made of.
class journal_on_disk {
public:
  journal_on_disk() {
    REQUIRE(disk.create_folder(folder));
    REQUIRE(disk.sync_folder("/"));
    settings.segment_size = {segment_size};
    settings.reserved_segments = 2;
    settings.max_unsynced = {1 << 20};
    open();
  }

  void open(const log_state& found = {}, live_segments live = {}) {
    it = std::make_unique<journal>(disk, folder, settings, found, std::move(live),
                                   [this] { return ++generations_; });
  }

  /// Messages of so many bytes, each at its places.
  encoded_records enqueues(const std::vector<std::vector<queue_place>>& places,
                           std::size_t body = 100) {
    record_writer w;
    for (const auto& each : places) w.add_enqueue(each, message_of(body));
    return w.take();
  }
  message message_of(std::size_t body) {
    if (body <= small_body_limit) return slabs_.add({}, as_bytes(std::string(body, 'x')));
    auto large = std::make_unique<large_body>(body);
    large->append(as_bytes(std::string(body, 'x')));
    return slabs_.add({}, std::move(large));
  }
  encoded_records settles(std::uint64_t queue, sequence first, std::uint64_t count = 1) {
    record_writer w;
    w.add_settle(std::vector<queue_run>{{queue, first, count}});
    return w.take();
  }
  encoded_records defines(std::string_view key, std::string_view value = "v") {
    record_writer w;
    w.add_define(key, as_bytes(value));
    return w.take();
  }

  void add(encoded_records records, told* whom = nullptr, sync_policy sync = sync_policy::always,
           std::vector<reference_drop> drops = {}) {
    journal_entry entry;
    entry.records = std::move(records);
    entry.sync = sync;
    entry.drops = std::move(drops);
    if (whom != nullptr) entry.owner = std::make_unique<listening_owner>(*whom);
    it->add(std::move(entry));
  }
  void make_safe() {
    REQUIRE(it->commit());
    REQUIRE(it->sync());
  }
  /// Messages of a queue, from sequence `next` on, until a new segment is begun; all of them safe.
  /// Gives the sequence after the last.
  sequence fill_segment(std::uint64_t queue, sequence next) {
    const auto before = std::max<std::uint64_t>(it->figures().segments, 1);
    do {
      add(enqueues({{{queue, next++, 0, 0}}}, 500));
      make_safe();
    } while (it->figures().segments == before);
    return next;
  }
  void fill_with_settles() {
    const auto before = it->figures().segments;
    do {
      record_writer w;
      w.add_settle(std::vector<queue_run>(30, {99, 1, 1}));
      add(w.take());
      make_safe();
    } while (it->figures().segments == before);
  }
  /// No more space than there is taken now.
  void fill_disk() {
    auto free = disk.free_space(folder);
    REQUIRE(free);
    if (capacity_ == 0) disk.set_capacity(capacity_ = 1 << 20), free = disk.free_space(folder);
    disk.set_capacity(capacity_ -= *free);
  }

  struct found_record {
    record_kind kind;
    std::uint64_t queue = 0;
    sequence number = 0;
    friend bool operator==(const found_record&, const found_record&) = default;
  };
  /// What a restart would find: of enqueues, relocates, moves (their first place) and settles.
  std::vector<found_record> recovered() {
    std::vector<found_record> all;
    auto state = recover_log(disk, folder, [&](place at, byte_view frame, const record& r) {
      const auto note = [&](byte_view of) {
        const auto o = outline_of(of);
        if (!o.places.empty()) all.push_back({o.kind, o.places[0].queue, o.places[0].number});
        if (o.kind == record_kind::settle)
          all.push_back({o.kind, o.runs[0].queue, o.runs[0].first});
      };
      if (const auto* whole = std::get_if<tx>(&r))
        for_each_part(at, *whole, [&](place, byte_view part, const record&) { note(part); });
      else
        note(frame);
    });
    if (!state) FAIL(state.reason().text);
    CHECK(state->damage.empty());
    return all;
  }

  simulation_random dice{1};
  simulated_file_system disk{dice};
  journal_settings settings;
  std::unique_ptr<journal> it;

private:
  slab_writer slabs_;
  std::uint64_t generations_ = 0;
  std::uint64_t capacity_ = 0;
};

inline std::vector<queue_place> at(std::uint64_t queue, sequence number) {
  return {{queue, number, 0, 0}};
}

constexpr auto enqueued = record_kind::enqueue;
constexpr auto settled = record_kind::settle;

}  // namespace baton::journal::test
