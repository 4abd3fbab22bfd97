// The queue actor's dealings with the store and the reader.

#include <algorithm>
#include <utility>

#include "actors/queue_actor.hpp"
#include "actors/support/log.hpp"
#include "storage/memory_account.hpp"

namespace baton {

namespace {

/// Hands on what was read once the store has nothing more to say of where that lies.
class reading_in_doubt final : public journal::record_owner {
public:
  reading_in_doubt(queue_ref queue, messages_read answer)
      : queue_{std::move(queue)}, answer_{std::move(answer)} {}

  void written(std::span<const journal::record_place>) noexcept override {}
  void safe() noexcept override {
    answer_.is_final = true;
    queue_.send(std::move(answer_));
  }

private:
  queue_ref queue_;
  messages_read answer_;
};

}  // namespace

/// The messages, a bit each, whose records are shared with other queues.
std::uint64_t queue_actor::joint_of(const publish& request) const {
  if (!journal_) return 0;
  std::uint64_t mask = 0;
  for (const auto& [index, share] : request.joints) mask |= std::uint64_t{1} << index;
  return mask;
}

/// Whether it is this queue's business to have some of the messages stored.
bool queue_actor::has_to_store(const publish& request, std::uint64_t joint) const {
  if (!journal_) return false;
  for (std::size_t i = 0; i < request.messages.size(); ++i)
    if ((joint >> i & 1) == 0 && core_.stores(request.messages[i])) return true;
  return false;
}

void queue_actor::put_joint(publish& request) {
  auto share = request.joints.begin();
  for (const auto& [index, where] : core_.take_joint()) {
    while (share->first != index) ++share;
    std::move(share->second).put(queue_ref{self()}, where, entry_.sync);
  }
  request.joints.clear();
}

void queue_actor::tell_store() {
  if (!journal_) return;
  auto news = core_.take_news();
  auto publishes = std::exchange(journal_->unrecorded, {});
  if (news.messages.empty()) {
    // They have come and gone since, or are recorded together with other queues' ones.
    for (auto& each : publishes) each.safe();
  } else {
    journal::journal_entry entry;
    entry.records = std::move(news.messages);
    entry.sync = entry_.sync;
    entry.owner =
        std::make_unique<messages_to_store>(journal_->store, entry_.id, queue_ref{self()},
                                            std::move(news.sequences), std::move(publishes));
    journal_->store.send(append{std::move(entry)});
  }
  if (!news.changes.empty()) {
    journal::journal_entry entry;
    entry.records = std::move(news.changes);
    entry.sync = sync_policy::never;
    entry.drops = std::move(news.drops);
    journal_->store.send(append{std::move(entry)});
  } else if (!news.drops.empty()) {
    journal_->store.send(drop_references{std::move(news.drops)});
  }
}

void queue_actor::handle(stored& notice) {
  core_.written(std::move(notice).take());
  core_.evict(allowance_.bytes(memory_account::total()) / 4);
  pay_debts();
  want_dispatch();
}

void queue_actor::read_ahead() {
  if (!journal_) return;
  if (core_.on_disk() == 0) {
    if (std::exchange(journal_->reads, false)) journal_->reader.send(leave_journal{entry_.id});
    return;
  }
  auto wanted =
      core_.take_wanted(!journal_->fetches.empty(), allowance_.bytes(memory_account::total()) / 4);
  if (!wanted.empty()) read(std::move(wanted), read_purpose::hand_out);
}

void queue_actor::read(std::vector<queue_core::wanted_message> wanted, read_purpose purpose) {
  journal_->reads = true;
  journal_->reader.send(read_messages{queue_ref{self()}, entry_.id, std::move(wanted), purpose});
}

void queue_actor::handle(finish&) { dispatch(); }

void queue_actor::handle(relocate& request) {
  auto moved = core_.relocate(request.segment);
  if (!moved.to_read.empty()) read(std::move(moved.to_read), read_purpose::relocate);
  append_relocated(std::move(moved));
}

void queue_actor::append_relocated(queue_core::relocation&& moved) {
  if (moved.sequences.empty()) return;
  journal::journal_entry entry;
  entry.records = std::move(moved.messages);
  entry.sync = sync_policy::never;
  entry.owner = std::make_unique<messages_to_store>(journal_->store, entry_.id, queue_ref{self()},
                                                    std::move(moved.sequences),
                                                    std::vector<publishes_to_store>{});
  journal_->store.send(append{std::move(entry)});
}

void queue_actor::handle(messages_read& answer) {
  if (answer.purpose == read_purpose::peek) return answer_peek(answer);
  const auto is_unread = [](const auto& m) { return !m.content; };
  if (!answer.is_final && std::any_of(answer.messages.begin(), answer.messages.end(), is_unread)) {
    // After a failed sync they lie elsewhere, or will: they are lost if that is not the reason.
    journal::journal_entry entry;
    entry.sync = sync_policy::never;
    entry.owner = std::make_unique<reading_in_doubt>(queue_ref{self()}, std::move(answer));
    return journal_->store.send(append{std::move(entry)});
  }
  if (answer.purpose == read_purpose::relocate)
    return append_relocated(core_.relocate(answer.messages));
  if (const auto lost = core_.loaded(std::move(answer.messages)); lost > 0)
    log::error("messages lost", std::to_string(lost) + " messages of queue '" + entry_.name +
                                    "' in vhost '" + entry_.vhost_name +
                                    "' cannot be read from the journal");
  dispatch();
}

/// Whatever has become of what they waited for: it was read, or has gone without that.
void queue_actor::answer_fetches() {
  if (!journal_) return;
  while (!journal_->fetches.empty() && answer_fetch(journal_->fetches.front()))
    journal_->fetches.pop_front();
}

}  // namespace baton
