// A journal and the queues that use it, on a disk that fails, is full, and whose power goes at any
// system call.
#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/files/simulated_file_system.hpp"
#include "storage/journal/journal.hpp"
#include "storage/journal/log_recovery.hpp"
#include "storage/message.hpp"
#include "tests/catch.hpp"
#include "tests/storage/journal/replay.hpp"

namespace baton::journal {

namespace {

const std::string folder = "/journal";
constexpr std::uint64_t segment_size = 4096;
constexpr std::uint64_t queues = 3;

using test::key;
using test::replay;

/// One journal through several processes and power cuts, used by queues that hear of it late, with
/// a plain model of what it owes them.
class journal_life {
public:
  explicit journal_life(std::uint64_t seed) : dice_{seed}, disk_{dice_} {
    REQUIRE(disk_.create_folder(folder));
    REQUIRE(disk_.sync_folder("/"));
    settings_.segment_size = {segment_size};
    settings_.reserved_segments = 2;
    settings_.max_unsynced = {8 << 10};
    settings_.compact_below = {25};
  }

  void live() {
    for (int process = 0; process < 3; ++process) {
      plan_faults();
      run_process();
      disk_.faults().clear();
      if (disk_.has_power() && dice_.once_in(2)) disk_.power_cut();
      disk_.power_on();
      journal_.reset();
      check();
    }
  }

private:
  enum class end : std::uint8_t { none, perhaps, certain };

  struct item {
    std::uint64_t message = 0;
    std::size_t body = 0;
    std::uint64_t unit = 0;  // what came with it is there or not as it is
    bool owed = false;       // its arrival was called safe
    end ended = end::none;   // perhaps: the log may know, or not
    std::vector<key> moved_to;
    std::optional<place> at;  // as far as its queue knows
    std::uint64_t share = 0;
  };

  /// An entry's owner: what its records did, record by record.
  class owner final : public record_owner {
  public:
    owner(journal_life& of, bool syncs) : of_{of}, syncs_{syncs} {}
    void written(std::span<const record_place> where) noexcept override {
      BATON_CHECK(where.size() == records.size());
      for (std::size_t i = 0; i < records.size(); ++i)
        if (!records[i].empty()) of_.mail_.push_back({records[i], where[i]});
    }
    void safe() noexcept override {
      BATON_CHECK(!std::exchange(told_, true));
      if (!syncs_) return;
      for (const auto& record : records)
        if (!relocates)
          for (const auto& k : record) of_.items_[k].owed = true;
      for (const auto& k : ends) of_.items_[k].ended = end::certain;
      for (const auto& [name, count] : defines) {
        auto& values = of_.defined_[name];
        auto& known = of_.defined_safe_[name];
        known = std::max(known, count);
        BATON_CHECK(known < values.size());
      }
    }

    std::vector<std::vector<key>> records;  // their places
    std::vector<key> ends;
    std::map<std::string, std::size_t> defines;  // key -> which of its values
    bool relocates = false;

  private:
    journal_life& of_;
    bool syncs_;
    bool told_ = false;
  };

  struct letter {
    std::vector<key> keys;
    record_place where;
  };

  // -- faults

  void plan_faults() {
    auto& faults = disk_.faults();
    if (!dice_.once_in(3)) faults.cut_power_at_call(1 + dice_.below(300));
    if (dice_.once_in(3)) faults.fail_once_in(file_operation::write, 4 + dice_.below(20), EIO);
    if (dice_.once_in(2)) faults.fail_once_in(file_operation::sync, 4 + dice_.below(20), EIO);
    if (dice_.once_in(4)) faults.fail_once_in(file_operation::rename, 3, EIO);
    if (dice_.once_in(4)) faults.fail_once_in(file_operation::remove, 3, EIO);
    if (dice_.once_in(4)) faults.fail_once_in(file_operation::open, 10, EIO);
    if (dice_.once_in(4)) faults.fail_once_in(file_operation::sync_folder, 6, EIO);
    if (dice_.once_in(4)) faults.fail_once_in(file_operation::preallocate, 2, ENOSPC);
    if (dice_.once_in(2)) faults.shorten_writes_once_in(3);
    disk_.set_capacity(dice_.once_in(2) ? 10'000 * segment_size
                                        : (8 + dice_.below(16)) * segment_size);
  }

  // -- a process

  bool start() {
    replay found;
    auto state = recover(found);
    if (!state || !settle_log(disk_, folder, *state)) return false;
    adopt(found);
    live_segments live;
    for (const auto& [k, s] : found.messages) live.add(s.at.segment, k.first, 1, s.share);
    for (const auto& [name, d] : found.defined) live.define(name, d.second);
    for (const auto& [k, segment] : found.to_settle_again) live.add(segment, k.first, 1, 0);
    journal_ = std::make_unique<journal>(disk_, folder, settings_, *state, std::move(live),
                                         [this] { return ++generations_; });
    mail_.clear();
    drops_.clear();
    unsure_places_ = false;
    for (const auto& [k, segment] : found.to_settle_again) {
      auto again = begin(sync_policy::never);
      again.records.add_settle(std::vector<queue_run>{{k.first, k.second, 1}});
      again.told->records.emplace_back();
      again.drops.push_back({segment, k.first, 1, 0});
      send(again);
    }
    return true;
  }

  void run_process() {
    if (!start()) return;
    for (auto steps = 20 + dice_.below(150); steps > 0 && disk_.has_power(); --steps) {
      step();
      if (disk_.has_power() && dice_.once_in(8)) check_readable();
    }
    if (disk_.has_power() && dice_.once_in(3)) static_cast<void>(journal_->close());
  }

  void step() {
    switch (dice_.below(16)) {
      case 0:
      case 1:
      case 2:
        if (!journal_->is_full() || dice_.once_in(10)) publish();
        break;
      case 3:
      case 4:
        settle_some(1 + dice_.below(8));
        break;
      case 5:
        move_one();
        break;
      case 6:
        if (dice_.once_in(3)) purge_one();
        break;
      case 7:
        define_one();
        break;
      case 8:
        return_one();
        break;
      case 9:
      case 10:
        read_mail(1 + dice_.below(10));
        if (dice_.once_in(2)) send_drops();
        break;
      case 11:
      case 12:
        commit();
        break;
      case 13:
        sync();
        break;
      case 14:
        static_cast<void>(journal_->collect());
        break;
      case 15:
        make_shorter();
        break;
    }
    if (journal_->needs_sync() == sync_need::now && dice_.once_in(2)) sync();
  }

  void commit() {
    if (journal_->commit() && !journal_->has_pending()) written_anew_ = false;
  }
  void sync() {
    if (journal_->sync()) return;
    // Places of what was unsynced are good for nothing until they are told anew.
    unsure_places_ = written_anew_ = true;
  }

  // -- what queues do

  sync_policy any_policy() { return static_cast<sync_policy>(dice_.below(3)); }

  struct draft {
    record_writer records;
    std::unique_ptr<owner> told;
    std::vector<reference_drop> drops;
    sync_policy sync;
  };
  draft begin(sync_policy sync) {
    return {{}, std::make_unique<owner>(*this, sync != sync_policy::never), {}, sync};
  }
  void send(draft& made) {
    if (made.records.empty()) return;
    if (dice_.once_in(3)) {
      made.drops.insert(made.drops.end(), drops_.begin(), drops_.end());
      drops_.clear();
    }
    journal_->add({made.records.take(), made.sync, std::move(made.drops), std::move(made.told)});
  }

  message message_of(std::uint64_t number, std::size_t body) {
    const auto text = std::to_string(number);
    message_parts parts;
    parts.routing_key = text;
    const std::string bytes(body, 'x');
    if (body <= small_body_limit) return slabs_.add(parts, as_bytes(bytes));
    auto large = std::make_unique<large_body>(body);
    large->append(as_bytes(bytes));
    return slabs_.add(parts, std::move(large));
  }

  /// New places for a message, in different queues.
  std::vector<key> arrive(std::uint64_t message, std::size_t body, std::uint64_t unit,
                          std::uint64_t count) {
    std::vector<key> keys;
    auto queue = dice_.below(queues);
    for (; count > 0; --count, queue = (queue + 1) % queues) {
      const key k{1 + queue, ++sequences_[queue]};
      auto& made = items_[k];
      made.message = message;
      made.body = body;
      made.unit = unit;
      keys.push_back(k);
    }
    return keys;
  }
  static std::vector<queue_place> places_of(const std::vector<key>& keys) {
    std::vector<queue_place> places;
    for (const auto& k : keys) places.push_back({k.first, k.second, 0, 0});
    return places;
  }

  void publish() {
    auto made = begin(any_policy());
    const bool whole = dice_.once_in(4);
    auto unit = ++units_;
    if (whole) made.records.begin_tx();
    for (auto count = 1 + dice_.below(5); count > 0; --count) {
      const auto body = dice_.once_in(40) ? 4500 + dice_.below(1500) : 20 + dice_.below(300);
      const auto message = ++messages_;
      if (!whole) unit = ++units_;
      const auto keys = arrive(message, body, unit, 1 + dice_.below(queues));
      made.records.add_enqueue(places_of(keys), message_of(message, body));
      made.told->records.push_back(keys);
    }
    if (whole) made.records.end_tx();
    send(made);
  }

  std::vector<key> any_standing(std::size_t count) {
    std::vector<key> found;
    for (const auto& [k, i] : items_)
      if (i.ended == end::none) found.push_back(k);
    for (std::size_t i = 0; i < std::min(count, found.size()); ++i)
      std::swap(found[i], found[i + dice_.below(found.size() - i)]);
    if (found.size() > count) found.resize(count);
    return found;
  }
  void end_one(const key& k, draft& by) {
    auto& gone = items_[k];
    gone.ended = end::perhaps;
    if (gone.at) by.drops.push_back({gone.at->segment, k.first, 1, gone.share});
    gone.at.reset();
    by.told->ends.push_back(k);
  }

  void settle_some(std::size_t count) {
    auto made = begin(any_policy());
    std::vector<queue_run> runs;
    for (const auto& k : any_standing(count)) {
      runs.push_back({k.first, k.second, 1});
      end_one(k, made);
    }
    if (runs.empty()) return;
    const bool whole = dice_.once_in(5);
    if (whole) made.records.begin_tx();
    made.records.add_settle(runs);
    if (whole) made.records.end_tx();
    made.told->records.emplace_back();
    send(made);
  }

  void move_one() {
    auto made = begin(any_policy());
    for (const auto& k : any_standing(1 + dice_.below(3))) {
      const auto old = items_[k];
      const auto keys = arrive(old.message, old.body, ++units_, 1 + dice_.below(2));
      items_[k].moved_to = keys;
      end_one(k, made);
      made.records.add_move(std::vector<queue_run>{{k.first, k.second, 1}}, places_of(keys),
                            message_of(old.message, old.body));
      made.told->records.push_back(keys);
    }
    send(made);
  }

  void purge_one() {
    auto made = begin(any_policy());
    const auto queue = 1 + dice_.below(queues);
    std::vector<queue_run> kept;
    for (const auto& [k, i] : items_) {
      if (k.first != queue || i.ended != end::none) continue;
      if (dice_.once_in(4))
        kept.push_back({queue, k.second, 1});
      else
        end_one(k, made);
    }
    made.records.add_purge(queue, sequences_[queue - 1] + 1, kept);
    made.told->records.emplace_back();
    send(made);
  }

  void return_one() {
    const auto k = any_standing(1);
    if (k.empty()) return;
    auto made = begin(any_policy());
    made.records.add_requeue(std::vector<queue_return>{{k[0].first, k[0].second, 1}});
    made.told->records.emplace_back();
    send(made);
  }

  void define(draft& made, const std::string& name, std::optional<std::string> value) {
    auto& values = defined_[name];
    if (values.empty()) values.emplace_back(std::nullopt);
    made.records.add_define(name, value ? std::optional{as_bytes(*value)} : std::nullopt);
    values.push_back(std::move(value));
    made.told->records.emplace_back();
    made.told->defines[name] = values.size() - 1;
  }
  void define_one() {
    auto made = begin(sync_policy::always);
    std::optional<std::string> value;
    if (!dice_.once_in(3)) value = std::to_string(++values_);
    define(made, "queue " + std::to_string(dice_.below(4)), std::move(value));
    send(made);
  }

  void read_mail(std::size_t count) {
    for (; count > 0 && !mail_.empty(); --count) {
      const auto mail = mail_.front();
      mail_.pop_front();
      for (const auto& k : mail.keys) {
        auto& mine = items_[k];
        const auto share = reference_bytes(mail.where.size, mail.keys.size());
        if (mine.ended != end::none) {
          drops_.push_back({mail.where.at.segment, k.first, 1, share});
          continue;
        }
        if (mine.at) drops_.push_back({mine.at->segment, k.first, 1, mine.share});
        mine.at = mail.where.at;
        mine.share = share;
      }
    }
    if (mail_.empty() && !written_anew_) unsure_places_ = false;
  }
  void send_drops() {
    journal_->drop(drops_);
    drops_.clear();
  }

  /// Does what the journal wants done.
  void make_shorter() {
    if (const auto segment = journal_->wants_compaction())
      for (const auto queue : journal_->queues_in(*segment)) {
        auto made = begin(any_policy());
        made.told->relocates = true;
        for (const auto& [k, i] : items_) {
          if (k.first != queue || i.ended != end::none || !i.at || i.at->segment != *segment)
            continue;
          made.records.add_relocate(places_of({k}), message_of(i.message, i.body));
          made.told->records.push_back({k});
        }
        send(made);
      }
    if (journal_->wants_definitions()) {
      auto made = begin(sync_policy::always);
      made.records.begin_tx();
      std::vector<std::string> names;
      for (const auto& [name, values] : defined_) names.push_back(name);
      for (const auto& name : names) define(made, name, defined_[name].back());
      made.records.end_tx();
      send(made);
    }
  }

  // -- what must hold

  /// What queues know to be in the log can be read there.
  void check_readable() {
    if (unsure_places_) return;
    std::map<std::uint32_t, std::vector<std::uint8_t>> segments;
    for (const auto& [k, i] : items_) {
      if (i.ended != end::none || !i.at) continue;
      auto [bytes, is_new] = segments.try_emplace(i.at->segment);
      if (is_new && !read_segment(i.at->segment, bytes->second)) return;  // the disk fails
      const auto header = read_segment_header(bytes->second);
      INFO("message " << k.second << " of queue " << k.first << " at " << i.at->segment << ":"
                      << i.at->offset);
      REQUIRE(header);
      REQUIRE(i.at->offset < bytes->second.size());
      const auto frame =
          read_placed(byte_view{bytes->second}.subspan(i.at->offset), seal_of(header->generation));
      REQUIRE(frame);
      replay one;
      one.apply(*i.at, *frame, *decode(*frame));
      REQUIRE(one.messages.count(k) == 1);
      CHECK(one.messages[k].message == i.message);
      CHECK(one.messages[k].body == i.body);
    }
  }
  bool read_segment(std::uint32_t number, std::vector<std::uint8_t>& into) {
    auto file = disk_.open(folder + "/" + segment_name(number), open_mode::read);
    if (!file) {
      CHECK(file.reason().code != ENOENT);
      return false;
    }
    const auto size = (*file)->size();
    if (!size) return false;
    into.resize(*size);
    return bool{(*file)->read(0, into)};
  }

  std::optional<log_state> recover(replay& into) {
    auto state = recover_log(disk_, folder, [&](place at, byte_view frame, const record& r) {
      into.apply(at, frame, r);
    });
    if (!state) return std::nullopt;
    return *state;
  }

  void check() {
    replay found;
    const auto state = recover(found);
    REQUIRE(state);
    CHECK(state->damage == std::vector<std::string>{});
    for (const auto& [k, s] : found.messages) CHECK(items_.count(k) == 1);
    std::map<std::uint64_t, std::set<bool>> units;
    for (const auto& [k, i] : items_) {
      const auto there = found.messages.find(k);
      const bool is_there = there != found.messages.end();
      INFO("message " << k.second << " of queue " << k.first);
      if (i.owed && i.ended == end::none) CHECK(is_there);
      if (i.ended == end::certain) CHECK(!is_there);
      if (is_there) CHECK(there->second.message == i.message);
      if (is_there) CHECK(there->second.body == i.body);
      if (i.ended == end::none) units[i.unit].insert(is_there);
      if (i.moved_to.empty()) continue;
      for (const auto& to : i.moved_to) {  // in one place or in the other
        const bool moved = found.messages.count(to) == 1;
        CHECK(!(is_there && moved));
        if (i.owed && !is_there && items_[to].ended == end::none) CHECK(moved);
      }
    }
    for (const auto& [unit, there] : units) CHECK(there.size() == 1);
    for (const auto& [name, values] : defined_) {
      const auto d = found.defined.find(name);
      const auto value = d == found.defined.end() ? std::nullopt : std::optional{d->second.first};
      const auto owed = values.begin() + static_cast<std::ptrdiff_t>(defined_safe_[name]);
      CHECK(std::find(owed, values.end(), value) != values.end());
    }
  }

  /// From here on the log is what was found, and durable.
  void adopt(const replay& found) {
    for (auto& [k, i] : items_) {
      const auto there = found.messages.find(k);
      i.moved_to.clear();
      i.at.reset();
      i.owed = there != found.messages.end();
      i.ended = i.owed ? end::none : end::certain;
      if (i.owed) i.at = there->second.at;
      if (i.owed) i.share = there->second.share;
    }
    for (auto& [name, values] : defined_) {
      const auto d = found.defined.find(name);
      values.assign(1, d == found.defined.end() ? std::nullopt : std::optional{d->second.first});
      defined_safe_[name] = 0;
    }
  }

  simulation_random dice_;
  simulated_file_system disk_;
  journal_settings settings_;
  slab_writer slabs_;
  std::uint64_t generations_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t units_ = 0;
  std::uint64_t values_ = 0;
  std::array<sequence, queues> sequences_{};

  std::map<key, item> items_;
  std::map<std::string, std::vector<std::optional<std::string>>> defined_;  // all values in turn
  std::map<std::string, std::size_t> defined_safe_;  // which of them is the last safe one
  std::deque<letter> mail_;                          // from the journal to the queues
  std::vector<reference_drop> drops_;                // from the queues to the journal, not sent
  bool unsure_places_ = false;                       // of what was unsynced when a sync failed
  bool written_anew_ = false;
  std::unique_ptr<journal> journal_;
};

}  // namespace

TEST_CASE(
    "whatever fails, what a journal called safe is there, and only what nobody needs is freed") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    INFO("seed " << seed);
    journal_life{seed}.live();
  }
}

}  // namespace baton::journal
