#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/queue/queue_core.hpp"
#include "storage/journal/record.hpp"
#include "tests/actors/queue/messages.hpp"
#include "tests/catch.hpp"

namespace baton::test {

/// A journal without a disk, for the queues of a test. It keeps what it is told as records, knows
/// where each message lies and who has references to it, and says what a restart would find.
class paper_journal {
public:
  using notice = std::vector<slot_store::written_record>;
  static constexpr std::uint32_t first_segment = 1;

  /// A message as a restart would find it.
  struct found {
    std::string body;
    journal::queue_place where;
    journal::stored_entry entry;
  };

  /// Writes records, `names` of them messages: the answer is what the queue is to be told.
  notice write(const journal::encoded_records& records, const std::vector<sequence>& names = {},
               bool joint = false) {
    notice told;
    for (auto& r : taken_apart(records)) {
      if (!r.places.empty()) {
        r.number = names.at(told.size());
        CHECK(std::any_of(r.places.begin(), r.places.end(),
                          [&](const auto& p) { return p.number == r.number; }));
        r.joint = joint;
      }
      put(r, told);
      log_.push_back(std::move(r));
    }
    return told;
  }
  /// All that a queue has to say.
  notice write(queue_core::news news) {
    auto told = write(news.messages, news.sequences);
    CHECK(write(news.changes).empty());
    drop(news.drops);
    return told;
  }
  notice write(const queue_core::relocation& moved) {
    return write(moved.messages, moved.sequences);
  }

  void drop(const std::vector<journal::reference_drop>& gone) {
    for (const auto& d : gone) {
      auto& left = references_[{d.segment, d.queue}];
      REQUIRE(left.count >= d.references);
      REQUIRE(left.bytes >= d.bytes);
      left.count -= d.references;
      left.bytes -= d.bytes;
      if (left.count == 0) {
        CHECK(left.bytes == 0);
        references_.erase({d.segment, d.queue});
      }
    }
  }

  /// The node has been killed: what is needed is what a restart finds.
  void restart(std::uint64_t queue = 1) {
    references_.clear();
    for (const auto& [number, f] : replay(queue)) {
      auto& to = references_[{f.entry.at.segment, queue}];
      ++to.count;
      to.bytes += f.entry.bytes;
    }
  }

  /// From here on records lie in another segment.
  void begin_segment() { end_ = {end_.segment + 1, 64}; }
  std::uint32_t segment() const { return end_.segment; }

  void sync() { synced_ = log_.size(); }
  /// What is not synced cannot be read any more and is written anew.
  notice fail_sync() {
    begin_segment();
    notice told;
    for (auto i = synced_; i < log_.size(); ++i) {
      dead_.insert(log_[i].at);
      put(log_[i], told);
    }
    return told;
  }

  /// Empty: it cannot be read.
  message read(journal::place at) const {
    if (dead_.count(at) != 0) return {};
    const auto r = by_place_.find(at);
    return r != by_place_.end() ? made_of(log_.at(r->second)) : message{};
  }
  std::vector<queue_core::read_message> read(
      const std::vector<queue_core::wanted_message>& wanted) const {
    std::vector<queue_core::read_message> all;
    for (const auto& w : wanted) all.push_back({w.number, w.at, read(w.at)});
    return all;
  }

  /// What would be found of `queue`, as if all of the log were there.
  std::map<sequence, found> replay(std::uint64_t queue = 1) const {
    std::map<sequence, found> all;
    std::set<sequence> early;  // ended before their records
    std::map<sequence, std::uint32_t> early_returns;
    for (const auto& r : log_) {
      for (const auto& p : r.places) {
        if (p.queue != queue || early.count(p.number) != 0) continue;
        auto& f = all[p.number];
        f.body = r.body;
        f.where = p;
        f.entry = {r.at,
                   static_cast<std::uint32_t>(journal::reference_bytes(r.size, r.places.size())),
                   static_cast<std::uint32_t>(r.body.size()),
                   p.deadline_ms,
                   static_cast<std::uint16_t>(p.returns),
                   p.redelivered != 0};
        if (const auto back = early_returns.find(p.number); back != early_returns.end()) {
          come_back(f, back->second);
          early_returns.erase(back);
        }
      }
      for (const auto& run : r.runs)
        for (auto n = run.first; run.queue == queue && n < run.first + run.count; ++n)
          if (all.erase(n) == 0) early.insert(n);
      for (const auto& back : r.returns) {
        if (back.queue != queue) continue;
        if (const auto f = all.find(back.number); f != all.end())
          come_back(f->second, static_cast<std::uint32_t>(back.returns));
        else
          early_returns[back.number] = static_cast<std::uint32_t>(back.returns);
      }
    }
    return all;
  }

  /// References of a queue that were not dropped.
  std::uint64_t references(std::uint64_t queue = 1) const {
    std::uint64_t sum = 0;
    for (const auto& [where, left] : references_)
      if (where.second == queue) sum += left.count;
    return sum;
  }
  std::uint64_t references_to(std::uint32_t segment, std::uint64_t queue = 1) const {
    const auto at = references_.find({segment, queue});
    return at != references_.end() ? at->second.count : 0;
  }
  /// What was said of a message: how often that it is there, and that it has ended.
  struct told_of {
    std::uint64_t places = 0;
    std::uint64_t returns = 0;
    std::uint64_t ends = 0;
  };
  std::map<sequence, told_of> told(std::uint64_t queue = 1) const {
    std::map<sequence, told_of> all;
    for (const auto& r : log_) {
      for (const auto& p : r.places)
        if (p.queue == queue) ++all[p.number].places;
      for (const auto& back : r.returns)
        if (back.queue == queue) ++all[back.number].returns;
      for (const auto& run : r.runs)
        for (auto n = run.first; run.queue == queue && n < run.first + run.count; ++n)
          ++all[n].ends;
    }
    return all;
  }
  std::size_t records() const { return log_.size(); }

private:
  struct paper_record {
    journal::place at;
    std::uint32_t size = 0;
    std::vector<journal::queue_place> places;
    std::vector<journal::queue_run> runs;
    std::vector<journal::queue_return> returns;
    std::string body;
    bool persistent = false;
    std::optional<std::uint64_t> expiration_ms;
    sequence number = 0;
    bool joint = false;
  };
  struct count_and_bytes {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };

  static void come_back(found& f, std::uint32_t returns) {
    f.entry.returns = static_cast<std::uint16_t>(returns);
    f.entry.redelivered = true;
  }

  static std::vector<paper_record> taken_apart(const journal::encoded_records& records) {
    std::vector<paper_record> all;
    for (std::size_t nth = 0; nth < records.count(); ++nth) {
      std::vector<std::uint8_t> bytes;
      records.for_each_piece(nth, nth + 1, [&](byte_view piece) {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
      });
      bytes.resize(journal::padded(bytes.size()));
      auto frame = journal::read_frame(bytes, 0);
      REQUIRE(frame);
      auto decoded = journal::decode(*frame);
      REQUIRE(decoded);
      paper_record made;
      made.size = static_cast<std::uint32_t>(frame->size());
      const auto take_message = [&](const auto& r) {
        for (const auto& p : r.places) made.places.push_back(p);
        made.body = as_text(r.message.body);
        made.persistent = r.message.persistent;
        made.expiration_ms = r.message.expiration_ms;
      };
      if (const auto* e = std::get_if<journal::enqueue>(&*decoded)) take_message(*e);
      if (const auto* again = std::get_if<journal::relocate>(&*decoded)) take_message(*again);
      if (const auto* s = std::get_if<journal::settle>(&*decoded))
        for (const auto& run : s->runs) made.runs.push_back(run);
      if (const auto* back = std::get_if<journal::requeue>(&*decoded))
        for (const auto& each : back->returns) made.returns.push_back(each);
      all.push_back(std::move(made));
    }
    return all;
  }

  static message made_of(const paper_record& r) {
    slab_writer writer;
    message_parts parts;
    parts.persistent = r.persistent;
    parts.expiration_ms = r.expiration_ms;
    return writer.add(parts, as_bytes(r.body));
  }

  /// Puts a record at the end of the log.
  void put(paper_record& r, notice& told) {
    r.at = end_;
    end_.offset += static_cast<std::uint32_t>(journal::padded(r.size));
    if (r.places.empty()) return;
    by_place_[r.at] = log_index_of(r);
    const auto bytes = journal::reference_bytes(r.size, r.places.size());
    for (const auto& p : r.places) {
      auto& to = references_[{r.at.segment, p.queue}];
      ++to.count;
      to.bytes += bytes;
    }
    told.push_back({r.number, r.at, static_cast<std::uint32_t>(bytes), r.joint});
  }
  std::size_t log_index_of(const paper_record& r) const {
    const bool inside = !log_.empty() && &r >= log_.data() && &r < log_.data() + log_.size();
    return inside ? static_cast<std::size_t>(&r - log_.data()) : log_.size();
  }

  journal::place end_{first_segment, 64};
  std::vector<paper_record> log_;
  std::size_t synced_ = 0;
  std::map<journal::place, std::size_t> by_place_;
  std::set<journal::place> dead_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, count_and_bytes> references_;
};

/// A message for a queue that stores.
inline message make_stored_message(slab_writer& writer, std::string_view body,
                                   bool persistent = true,
                                   std::optional<std::uint64_t> expiration_ms = {}) {
  message_parts parts;
  parts.persistent = persistent;
  parts.expiration_ms = expiration_ms;
  return writer.add(parts, as_bytes(body));
}

/// `count` persistent messages with the bodies "1", "2", ..., or longer ones that begin so.
inline void publish_stored(queue_core& queue, std::size_t count, std::size_t size = 0,
                           std::optional<std::uint64_t> expiration_ms = {}) {
  slab_writer writer;
  for (std::size_t i = 1; i <= count; ++i) {
    auto body = std::to_string(i);
    if (size > body.size()) body += std::string(size - body.size(), '.');
    queue.publish(batch_of(make_stored_message(writer, body, true, expiration_ms)), {});
  }
}

}  // namespace baton::test
