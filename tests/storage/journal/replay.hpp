#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/journal/journal.hpp"
#include "storage/journal/log_recovery.hpp"
#include "tests/catch.hpp"

namespace baton::journal::test {

using key = std::pair<std::uint64_t, sequence>;  // a message's place in a queue

/// What a restart knows, from the log alone.
class replay {
public:
  struct standing {
    place at;
    std::uint32_t share = 0;  // of its record's bytes
    std::uint64_t message = 0;
    std::size_t body = 0;
  };

  void apply(place at, byte_view frame, const record& r) {
    if (const auto* e = std::get_if<enqueue>(&r)) {
      for (const auto& p : e->places) put(at, frame, e->places.size(), p, e->message);
    } else if (const auto* s = std::get_if<settle>(&r)) {
      done(at, s->runs);
    } else if (const auto* m = std::get_if<move>(&r)) {
      done(at, m->runs);
      for (const auto& p : m->places) put(at, frame, m->places.size(), p, m->message);
    } else if (const auto* p = std::get_if<purge>(&r)) {
      purge_queue(at, *p);
    } else if (const auto* again = std::get_if<relocate>(&r)) {
      for (const auto& each : again->places) {
        put(at, frame, again->places.size(), each, again->message, true);
      }
    } else if (const auto* d = std::get_if<define>(&r)) {
      if (d->value)
        defined[std::string{d->key}] = {std::string{as_text(*d->value)}, at.segment};
      else
        defined.erase(std::string{d->key});
    } else if (const auto* whole = std::get_if<tx>(&r)) {
      for_each_part(at, *whole, [this](place where, byte_view part, const record& of) {
        apply(where, part, of);
      });
    }
  }

  std::map<key, standing> messages;
  /// What was done with before its enqueue, and where that was said. When that segment is freed the
  /// message would come back, so it is to be said again first.
  std::map<key, std::uint32_t> to_settle_again;
  std::map<std::string, std::pair<std::string, std::uint32_t>> defined;  // value and segment

private:
  struct purged {
    std::uint32_t segment = 0;
    sequence end = 0;
    std::set<sequence> kept;
    bool has(sequence number) const { return number < end && kept.count(number) == 0; }
  };

  void put(place at, byte_view frame, std::size_t places, const queue_place& p,
           const stored_message& m, bool relocated = false) {
    const key where{p.queue, p.number};
    if (!relocated) {
      std::optional<std::uint32_t> done_in;
      if (const auto found = early_.find(where); found != early_.end()) done_in = found->second;
      for (const auto& each : purges_[p.queue])
        if (each.has(p.number)) done_in = each.segment;
      if (done_in) to_settle_again[where] = *done_in;
      if (done_in) return;
    }
    const auto size = static_cast<std::uint32_t>(frame.size());
    messages[where] = {at, static_cast<std::uint32_t>(reference_bytes(size, places)),
                       std::stoull(std::string{m.routing_key}), m.body.size()};
  }
  void done(place at, const entries<queue_run>& runs) {
    for (const auto& run : runs)
      for (auto number = run.first; number < run.first + run.count; ++number) {
        const key k{run.queue, number};
        if (to_settle_again.erase(k) == 0 && messages.erase(k) == 0) early_[k] = at.segment;
      }
  }
  void purge_queue(place at, const purge& p) {
    purged now{at.segment, p.end, {}};
    for (const auto& run : p.kept)
      for (auto number = run.first; number < run.first + run.count; ++number)
        now.kept.insert(number);
    const auto is_gone = [&](const auto& each) {
      return each.first.first == p.queue && now.has(each.first.second);
    };
    std::erase_if(messages, is_gone);
    std::erase_if(to_settle_again, is_gone);
    purges_[p.queue].push_back(std::move(now));
  }

  std::map<key, std::uint32_t> early_;  // done with, before their enqueues; the segment
  std::map<std::uint64_t, std::vector<purged>> purges_;
};

}  // namespace baton::journal::test
