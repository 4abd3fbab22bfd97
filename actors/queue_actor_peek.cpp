// Looking at a queue's messages without taking them.

#include <algorithm>
#include <utility>

#include "actors/queue_actor.hpp"
#include "config/check.hpp"

namespace baton {

namespace {

// Whoever looks is answered in one piece, by the loop that hands out messages.
constexpr std::uint64_t most_bytes = 4 << 20;

std::string first_bytes(const message& of, std::size_t most) {
  std::string made;
  of.for_each_body_piece([&](byte_view piece) {
    made.append(as_text(piece.first(std::min(piece.size(), most - made.size()))));
  });
  return made;
}

}  // namespace

void queue_actor::handle(peek_queue& request) {
  waiting_peek what{std::move(request), {}};
  what.seen = core_.peek(what.asked.count, most_bytes);
  std::vector<queue_core::wanted_message> wanted;
  for (const auto& each : what.seen)
    if (!each.content) wanted.push_back({each.number, each.at});
  if (wanted.empty()) return answer_peek(what);
  read(std::move(wanted), read_purpose::peek);
  journal_->peeks.push_back(std::move(what));
}

void queue_actor::answer_peek(messages_read& answer) {
  BATON_CHECK(!journal_->peeks.empty());
  auto what = std::move(journal_->peeks.front());
  journal_->peeks.pop_front();
  auto read = answer.messages.begin();
  for (auto& each : what.seen)
    if (!each.content) each.content = std::move((read++)->content);
  answer_peek(what);
  read_ahead();
}

void queue_actor::answer_peek(waiting_peek& what) {
  queue_peek answer;
  answer.ready = core_.ready();
  for (const auto& each : what.seen) {
    if (!each.content) continue;  // it has gone, or cannot be read: whoever is handed it will know
    auto& shown = answer.messages.emplace_back();
    shown.number = each.number;
    shown.exchange = each.content.exchange();
    shown.routing_key = each.content.routing_key();
    shown.redelivered = each.redelivered;
    shown.returns = each.returns;
    shown.on_disk = each.at != journal::place{};
    if (each.deadline != queue_core::never)
      shown.expires_in_ms = std::max<queue_core::moment>(each.deadline - now(), {}).count();
    shown.properties = as_text(each.content.properties());
    shown.body_size = each.body_size;
    shown.body = first_bytes(each.content, what.asked.body_bytes);
  }
  std::move(what.asked.reply).keep(std::move(answer));
}

}  // namespace baton
