// A node that does things at random, and what a recovery makes of its log.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "storage/journal/message_reader.hpp"
#include "tests/storage/journal/node_log.hpp"

using namespace baton;
using namespace baton::journal;

namespace {

/// A node that does things at random and writes them down, and a plain model of what it owes.
class node_life {
public:
  explicit node_life(std::uint64_t seed) : disk_{seed}, dice_{disk_.dice} {}

  void live() {
    for (auto steps = 20 + dice_.below(300); steps > 0; --steps) {
      step();
      if (dice_.once_in(25)) check();
    }
    check();
  }

private:
  struct held {
    std::string body;
    std::uint64_t deadline_ms = 0;
    std::uint64_t returns = 0;
    std::uint32_t segment = 0;  // 0: not written yet
  };
  struct queue {
    std::map<sequence, held> messages;
    sequence next = 1;
  };
  /// What a record says, for the segment that it will lie in.
  struct said {
    std::vector<std::pair<std::uint64_t, sequence>> places;
    std::vector<std::pair<std::uint64_t, sequence>> speaks_of;  // highest sequences
    std::string defines;
  };

  void step() {
    switch (dice_.below(12)) {
      case 0:
      case 1:
      case 2:
        publish();
        break;
      case 3:
        write_waiting(dice_.below(3));
        break;
      case 4:
      case 5:
        settle_some();
        break;
      case 6:
        move_one();
        break;
      case 7:
        requeue_some();
        break;
      case 8:
        if (dice_.once_in(4)) purge();
        break;
      case 9:
        define_one();
        break;
      case 10:
        if (in_tx_)
          end_tx();
        else if (dice_.once_in(2))
          begin_tx();
        break;
      default:
        free_oldest();
    }
    if (!in_tx_) flush();
  }

  std::uint64_t any_queue() { return 1 + dice_.below(4); }
  held* any_message(std::uint64_t& id, sequence& number) {
    id = any_queue();
    auto& q = queues_[id];
    if (q.messages.empty()) return nullptr;
    auto found = q.messages.lower_bound(dice_.below(q.next));
    if (found == q.messages.end()) found = q.messages.begin();
    number = found->first;
    return &found->second;
  }
  std::string any_body() {
    return "message " + std::to_string(++bodies_) +
           std::string(dice_.once_in(30) ? dice_.below(20'000) : dice_.below(300), '.');
  }

  queue_place take_in(std::uint64_t id, const std::string& body) {
    auto& q = queues_[id];
    held m{body, dice_.once_in(4) ? 1 + dice_.below(1000) : 0, 0, 0};
    q.messages[q.next] = m;
    return {id, q.next++, m.deadline_ms, 0};
  }

  /// Queues number it at once; its record is written sooner or later.
  void publish() {
    waiting_record made;
    made.body = any_body();
    for (std::uint64_t id = 1; id <= 4; ++id)
      if (made.places.empty() ? id == 4 || dice_.once_in(2) : dice_.once_in(3))
        made.places.push_back(take_in(id, made.body));
    waiting_.push_back(std::move(made));
    if (dice_.once_in(2)) write_waiting(waiting_.size() - 1);
  }
  void write_waiting(std::size_t nth) {
    if (nth >= waiting_.size()) return;
    const auto made = std::move(waiting_[nth]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(nth));
    w_.add_enqueue(made.places, disk_.make(made.body));
    say_places(made.places);
    // What was said ahead of it may lie in a segment that goes before this one does.
    for (const auto& p : made.places) {
      const auto& messages = queues_[p.queue].messages;
      if (const auto m = messages.find(p.number); m == messages.end()) {
        w_.add_settle(all<queue_run>({{p.queue, p.number, 1}}));
        saying_.emplace_back().speaks_of.emplace_back(p.queue, p.number);
      } else if (m->second.returns > 0) {
        w_.add_requeue(all<queue_return>({{p.queue, p.number, m->second.returns}}));
        saying_.emplace_back().speaks_of.emplace_back(p.queue, p.number);
      }
    }
  }
  void say_places(const std::vector<queue_place>& places) {
    auto& s = saying_.emplace_back();
    for (const auto& p : places) {
      s.places.emplace_back(p.queue, p.number);
      s.speaks_of.emplace_back(p.queue, p.number);
    }
  }
  bool is_waiting(std::uint64_t id, sequence number) const {
    for (const auto& made : waiting_)
      for (const auto& p : made.places)
        if (p.queue == id && p.number == number) return true;
    return false;
  }

  void settle_some() {
    std::uint64_t id = 0;
    sequence number = 0;
    if (any_message(id, number) == nullptr) return;
    auto& q = queues_[id];
    queue_run run{id, number, 0};
    for (auto most = 1 + dice_.below(5); run.count < most; ++run.count)
      if (q.messages.erase(run.first + run.count) == 0) break;
    w_.add_settle(all<queue_run>({run}));
    saying_.emplace_back().speaks_of.emplace_back(id, run.first + run.count - 1);
  }

  void move_one() {
    std::uint64_t id = 0;
    sequence number = 0;
    if (any_message(id, number) == nullptr) return;
    queues_[id].messages.erase(number);
    const auto body = any_body();
    const std::vector<queue_place> places{take_in(any_queue(), body)};
    w_.add_move(all<queue_run>({{id, number, 1}}), places, disk_.make(body));
    say_places(places);
    saying_.back().speaks_of.emplace_back(id, number);
  }

  void requeue_some() {
    std::vector<queue_return> back;
    auto& s = saying_.emplace_back();
    for (auto n = 1 + dice_.below(3); n > 0; --n) {
      std::uint64_t id = 0;
      sequence number = 0;
      if (auto* m = any_message(id, number)) {
        back.push_back({id, number, ++m->returns});
        s.speaks_of.emplace_back(id, number);
      }
    }
    w_.add_requeue(back);
  }

  void purge() {
    const auto id = any_queue();
    auto& q = queues_[id];
    std::vector<queue_run> kept;
    for (auto m = q.messages.begin(); m != q.messages.end();)
      if (dice_.once_in(3)) {
        kept.push_back({id, m->first, 1});
        ++m;
      } else {
        m = q.messages.erase(m);
      }
    w_.add_purge(id, q.next, kept);
    saying_.emplace_back().speaks_of.emplace_back(id, q.next - 1);
  }

  void define_one() {
    const auto key = "key " + std::to_string(dice_.below(5));
    auto& s = saying_.emplace_back();
    if (dice_.once_in(3)) {
      w_.add_define(key, std::nullopt);
      definitions_.erase(key);
      return;
    }
    const auto value = "value " + std::to_string(dice_.below(1000));
    w_.add_define(key, as_bytes(value));
    definitions_[key] = {value, 0};
    s.defines = key;
  }

  void begin_tx() {
    flush();
    w_.begin_tx();
    in_tx_ = was_tx_ = true;
  }
  void end_tx() {
    w_.end_tx();
    in_tx_ = false;
  }

  /// Everything that was said lies in the log now.
  void flush() {
    if (w_.empty()) return;
    const auto where = disk_.write(w_);
    REQUIRE(where.size() == (was_tx_ ? 1 : saying_.size()));
    for (std::size_t i = 0; i < saying_.size(); ++i) {
      const auto segment = where[was_tx_ ? 0 : i].at.segment;
      for (const auto& [id, number] : saying_[i].places)
        if (const auto m = queues_[id].messages.find(number); m != queues_[id].messages.end())
          m->second.segment = segment;
      for (const auto& [id, number] : saying_[i].speaks_of) {
        auto& highest = spoken_of_[segment][id];
        highest = std::max(highest, number);
      }
      if (const auto d = definitions_.find(saying_[i].defines); d != definitions_.end())
        d->second.second = segment;
    }
    saying_.clear();
    was_tx_ = false;
  }

  /// Relocates what keeps the oldest segment, and frees it.
  void free_oldest() {
    if (in_tx_) return;
    flush();
    if (!waiting_.empty() && dice_.once_in(2)) {  // else what was said of these could be lost
      while (!waiting_.empty()) write_waiting(0);
      flush();
    }
    if (!waiting_.empty() || spoken_of_.empty()) return;
    const auto oldest = oldest_;
    if (oldest >= disk_.log->end().segment) return;
    for (auto& [id, q] : queues_)
      for (auto& [number, m] : q.messages)
        if (m.segment == oldest) {
          const std::vector<queue_place> places{{id, number, m.deadline_ms, m.returns}};
          w_.add_relocate(places, disk_.make(m.body));
          say_places(places);
        }
    for (auto& [key, d] : definitions_)
      if (d.second == oldest) {
        w_.add_define(key, as_bytes(d.first));
        saying_.emplace_back().defines = key;
      }
    flush();
    REQUIRE(disk_.log->sync());
    CHECK(!disk_.recover().live.is_needed(oldest));
    REQUIRE(disk_.log->free(oldest, dice_.below(2)));
    spoken_of_.erase(oldest);
    ++oldest_;
  }

  void check() {
    if (in_tx_) return;
    auto node = disk_.recover();
    std::uint64_t references = 0;
    for (auto& [id, q] : queues_) {
      std::map<sequence, held> owed;
      for (const auto& [number, m] : q.messages)
        if (m.segment != 0) owed.emplace(number, m);
      references += owed.size();
      const auto found = node.queues.find(id);
      REQUIRE((found != node.queues.end() ? found->second.messages.size() : 0) == owed.size());
      if (owed.empty() || found == node.queues.end()) continue;
      std::vector<place> places;
      auto next = owed.begin();
      found->second.messages.for_each([&](sequence number, const stored_entry& e) {
        CHECK(number == next->first);
        CHECK(e.at.segment == next->second.segment);
        CHECK(e.deadline_ms == next->second.deadline_ms);
        CHECK(e.returns == next->second.returns);
        CHECK(e.redelivered == (next->second.returns > 0));
        CHECK(e.body_size == next->second.body.size());
        places.push_back(e.at);
        ++next;
      });
      check_bodies(id, places, owed);
    }
    for (const auto& [id, q] : node.queues) {
      sequence highest = 0;
      for (const auto& [segment, by_queue] : spoken_of_)
        if (const auto of = by_queue.find(id); of != by_queue.end())
          highest = std::max(highest, of->second);
      CHECK(q.next == highest + 1);
    }
    CHECK(node.live.references() == references);
    CHECK(node.definitions.size() == definitions_.size());
    for (const auto& [key, d] : node.definitions) {
      CHECK(d.value == definitions_[key].first);
      CHECK(d.at.segment == definitions_[key].second);
    }
    for (std::uint64_t id = 1; id <= 4; ++id) node.forget(id);
    CHECK(node.live.live_bytes() == 0);
  }

  void check_bodies(std::uint64_t id, const std::vector<place>& places,
                    const std::map<sequence, held>& owed) {
    std::vector<message_reader::outcome> got;
    message_reader{disk_.disk, log_folder}.read(id, places, got);
    auto next = owed.begin();
    for (const auto& one : got) {
      if (!one) FAIL(one.reason().text());
      std::string body;
      one->for_each_body_piece([&](byte_view piece) { body += as_text(piece); });
      CHECK(body == next->second.body);
      ++next;
    }
  }

  struct waiting_record {
    std::vector<queue_place> places;
    std::string body;
  };

  node_log disk_;
  simulation_random& dice_;
  record_writer w_;
  bool in_tx_ = false;
  bool was_tx_ = false;       // what is to be written is one tx
  std::vector<said> saying_;  // of records that are not written yet, in order
  std::vector<waiting_record> waiting_;
  std::map<std::uint64_t, queue> queues_;
  std::map<std::string, std::pair<std::string, std::uint32_t>> definitions_;  // value, segment
  std::map<std::uint32_t, std::map<std::uint64_t, sequence>> spoken_of_;      // by segment
  std::uint32_t oldest_ = 1;
  std::uint64_t bodies_ = 0;
};

}  // namespace

TEST_CASE("whatever a node has done, its log says what it has") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    node_life{seed}.live();
  }
}
