#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "actors/queue/consumer_options.hpp"
#include "actors/queue/consumer_table.hpp"
#include "actors/queue/lease.hpp"
#include "actors/queue/queue_records.hpp"
#include "actors/queue/queue_refusal.hpp"
#include "actors/queue/queue_statistics.hpp"
#include "actors/queue/slot_store.hpp"
#include "actors/topology/queue_arguments.hpp"
#include "config/ids.hpp"
#include "config/result.hpp"
#include "storage/message.hpp"

namespace baton {

/// How a queue was declared, as far as the queue itself cares.
struct queue_options {
  queue_arguments arguments;
  bool auto_delete = false;
};

/// Why a message left a queue other than by being accepted.
enum class departure : std::uint8_t { rejected, expired, max_length, delivery_limit };

/// A message on its way out of a queue that has a dead-letter exchange.
struct departed_message {
  message content;
  departure why;
};

/// What a queue decides, without an actor and without a clock.
///
/// It numbers messages, keeps them until they are settled, and says who gets which. Times are
/// milliseconds since any fixed moment that the caller sticks to. The rhythm: after each call that
/// takes or returns messages or credit, or after several of them, `dispatch()` hands out what can
/// be handed out; then the timer is armed for `next_deadline()` if that is earlier than before.
///
/// Invariants: each message is ready, leased to exactly one owner, or gone; a lease is settled
/// once; what is handed out comes in the order of the sequences, each message back at its place
/// when it is released; a consumer's unsettled leases never exceed its prefetch.
class queue_core {
public:
  using moment = std::chrono::milliseconds;
  static constexpr moment never = slot_store::never;

  /// The next messages are kept in memory, and read ahead of the consumers: so many, within so many
  /// bytes.
  static constexpr std::uint64_t messages_ahead = 2048;
  static constexpr std::uint64_t bytes_ahead = 4 << 20;

  queue_core(queue_options options, moment now);

  // -- Messages in --------------------------------------------------------------------------------

  /// Takes over up to 64 messages. Bit i of the answer is set when message i was refused
  /// (`reject-publish`, and the queue is full); all others count as confirmed, also those that a
  /// limit or a time to live of 0 drops at once, and those for a closed queue.
  ///
  /// `joint`: those whose records are made elsewhere, for several queues together; where they stand
  /// here is told by `take_joint`.
  std::uint64_t publish(batch&& taken, moment now, std::uint64_t joint = 0);

  // -- Consumers ----------------------------------------------------------------------------------

  /// Subscribes `consumer`, which must not be subscribed already.
  result<void, queue_refusal> add(consumer_id consumer, const consumer_options& options);

  /// Ends a subscription: nothing more is assigned to it. What it has stays leased until it is
  /// settled. The queue may be `deletable()` now. An unknown consumer is ignored.
  void remove(consumer_id consumer, moment now);

  /// `bytes` of what was handed to it have left, to its socket or back: it may be handed as many
  /// again. Settling does not return byte credit.
  void grant(consumer_id consumer, std::uint64_t bytes);

  /// It may be handed `messages` more. Settling does not give demand back.
  void demand(consumer_id consumer, std::uint32_t messages);
  /// Sets what it may still be handed, from now on; absent: any number.
  void set_demand(consumer_id consumer, std::optional<std::uint32_t> messages);
  /// Takes back what demand it has left, which was never `any number`: how much; nothing if it is
  /// not subscribed. What it was handed before comes out of `dispatch` first, if that is called.
  std::optional<std::uint32_t> recall_demand(consumer_id consumer);
  /// Consumers that ready messages wait for and that lack nothing but demand. Each is named once
  /// until its demand changes.
  std::vector<consumer_id> take_short_of_demand() {
    if (totals_.ready == 0 || !consumers_.any_short_of_demand()) return {};
    return consumers_.take_short_of_demand();
  }

  // -- Messages out -------------------------------------------------------------------------------

  /// Hands ready messages to consumers with credit (unless some are overdue, see `expire`) and
  /// calls `sink(lease_batch&&)` for what each got, at most 64 messages or 64 KiB (plus one) at a
  /// time. The highest priority is served first; equals get one message each in turn. `sink` must
  /// not call back into the queue.
  template <class Sink>
  void dispatch(moment now, Sink&& sink) {
    assign(now);
    close_open_batches();
    for (auto& b : outbox_) sink(std::move(b));
    outbox_.clear();
  }

  struct got {
    lease leased;
    std::uint64_t remaining = 0;  ///< ready messages after this one
    std::uint64_t bytes = 0;      ///< footprint of the message
  };
  /// basic.get: the next message, whatever the windows. `owner` settles it (unless `no_ack`); it
  /// need not be a consumer. Counts as a use of the queue. Nothing also while `next_is_on_disk()`.
  std::optional<got> get(consumer_id owner, bool no_ack, moment now);

  /// Ends leases of `consumer`, one that has left included. Sequences that are not leased to it are
  /// ignored: a late or repeated settlement does nothing.
  void settle(consumer_id consumer, std::span<const settlement> settlements, moment now);

  /// Releases all that `consumer` has, for one that cannot say what it was. Takes time in
  /// proportion to the span of sequences since its oldest lease; settle() is for those who know.
  void release_all(consumer_id consumer, moment now);

  /// Drops all ready messages; returns how many.
  std::uint64_t purge();

  // -- Time ---------------------------------------------------------------------------------------

  /// When `expire` wants to be called next: the earliest deadline of a ready message or of the
  /// queue itself (`x-expires`); `never` if there is none. May be early, never late.
  moment next_deadline() const noexcept;

  /// Drops ready messages whose time has come, wherever they stand, the earliest deadline first,
  /// and about `limit` at a time: if more are due, `next_deadline()` is not after `now`.
  void expire(moment now, std::size_t limit = 4096);

  /// A (passive) declare has used the queue: its `x-expires` lease starts anew.
  void touch(moment now) noexcept { last_use_ = now; }

  // -- Its end ------------------------------------------------------------------------------------

  /// `auto_delete`, it has had a consumer, and the last one is gone.
  bool deletable() const noexcept;
  /// `x-expires`: it was neither consumed from nor used for so long.
  bool unused_since_lease(moment now) const noexcept { return lease_end() <= now; }
  /// Whether queue.delete may go on.
  result<void, queue_refusal> may_delete(bool if_unused, bool if_empty) const;

  /// The end: lets go of all messages and returns the consumers, who want to be told. Everything
  /// else may still be called and does nothing.
  std::vector<consumer_id> close();
  bool closed() const noexcept { return closed_; }

  // -- Memory -------------------------------------------------------------------------------------

  /// Footprint of all messages that it has, leased ones included.
  std::uint64_t held_bytes() const noexcept { return totals_.held_bytes; }

  /// Looks at the next `chunks` x 64 slots, around and around, and copies ready messages out of
  /// slabs that mostly hold what is gone. Returns the bytes that it expects to have freed. A queue
  /// that holds many messages does it as it grows; may also be called when memory is short.
  std::uint64_t repack(std::size_t chunks);

  /// Messages wait although there are consumers, and at least one of these only waits for its
  /// socket: it has used up its byte credit, not its window.
  bool waits_for_sockets() const noexcept {
    return totals_.ready > 0 && consumers_.front() == consumer_table::none &&
           consumers_.any_without_bytes();
  }

  /// The same, but at least one of them only waits for its own settlements.
  bool waits_for_settlements() const noexcept {
    return totals_.ready > 0 && consumers_.front() == consumer_table::none &&
           consumers_.any_without_window();
  }

  // -- The journal and the disk: queue_storage.cpp ------------------------------------------------

  /// From now on persistent messages (or `all`) are to be in the journal, where this queue goes by
  /// `id`. A moment is `wall_offset` less than the milliseconds since 1970.
  void store(queue_id id, bool all, moment wall_offset);
  bool stores() const noexcept { return slots_.records() != nullptr; }
  /// Whether it is to be in the journal.
  bool stores(const message& m) const noexcept {
    return stores() && (store_all_ || m.persistent());
  }
  /// Takes up what a recovery has found, before anything else happens.
  void recover(journal::stored_index found, sequence next);

  /// Of the last call of `publish`: where the joint messages that it took stand, by their index.
  struct joint_place {
    unsigned index;
    journal::queue_place where;
  };
  std::vector<joint_place> take_joint() noexcept { return std::exchange(moving_->joint, {}); }

  /// What has happened to stored messages since the last call, for the journal.
  struct news {
    journal::encoded_records messages;  ///< one record each, for:
    std::vector<sequence> sequences;
    journal::encoded_records changes;  ///< requeues and settlements
    std::vector<journal::reference_drop> drops;

    bool empty() const noexcept { return messages.empty() && changes.empty() && drops.empty(); }
  };
  news take_news();
  /// The journal has written them there; now they can be let go of.
  void written(std::span<const slot_store::written_record> records) {
    if (!closed_) slots_.written(records);
  }

  /// Puts messages that are far from being handed out on the disk until the queue holds at most
  /// `most` bytes in memory, as far as it can. Half of that is for those that come next.
  void evict(std::uint64_t most);

  /// Messages on the disk that are wanted in memory, in order, each named once: somebody may be
  /// handed them soon (`for_get`: whoever gets), or they are overdue, or are to be dropped and kept
  /// for `take_departed`. About `most` bytes of them, if those are few.
  struct wanted_message {
    sequence number;
    journal::place at;
  };
  std::vector<wanted_message> take_wanted(bool for_get, std::uint64_t most = bytes_ahead);
  /// What came of it: all messages of one call of `take_wanted`; empty ones could not be read and
  /// are lost. How many are.
  struct read_message {
    sequence number;
    journal::place at;  ///< where it was looked for
    message content;
  };
  std::size_t loaded(std::vector<read_message>&& read);
  /// Messages whose records lie in `segment`, for records that take their place: those in memory
  /// are encoded, with their names; of those on the disk some are named, to be read first.
  struct relocation {
    journal::encoded_records messages;
    std::vector<sequence> sequences;
    std::vector<wanted_message> to_read;
  };
  relocation relocate(std::uint32_t segment);
  /// The same for what was read; what has another place meanwhile, or is gone, is left out.
  relocation relocate(std::span<const read_message> read);
  /// There are ready messages, but the next one is on the disk.
  bool next_is_on_disk() noexcept { return slots_.next_is_on_disk(); }
  /// The number of the youngest message there ever was, or a higher one.
  sequence last_number() const noexcept { return slots_.next() - 1; }
  /// How many are on the disk only.
  std::uint64_t on_disk() const noexcept { return slots_.on_disk(); }

  // -- What others ask ----------------------------------------------------------------------------

  std::uint64_t ready() const noexcept { return totals_.ready; }
  std::uint64_t unsettled() const noexcept { return totals_.unsettled; }
  std::size_t consumers() const noexcept { return consumers_.subscribed(); }
  queue_statistics statistics() const noexcept;
  /// Bytes that a consumer may still be handed.
  std::int64_t byte_credit(consumer_id consumer) const noexcept;

  /// The ready messages that come next, without any effect on them: see `slot_store`.
  std::vector<slot_store::peeked_slot> peek(std::size_t count, std::uint64_t bytes) const {
    return slots_.peek(count, bytes);
  }

  /// From now on, messages that are rejected, expire or exceed a limit are kept for
  /// `take_departed()`, in that order, instead of being let go.
  void keep_departed(bool keep) noexcept { keep_departed_ = keep; }
  std::vector<departed_message> take_departed() noexcept { return std::exchange(departed_, {}); }

private:
  // Messages in: queue_core.cpp
  sequence append(message&& m, moment deadline, bool joint);
  void refuse(message m);
  void repack_while_growing(std::size_t published);
  bool would_overflow(const message& one_more) const noexcept;
  void drop_excess();
  void drop_oldest_on_disk();
  void drop_disk();
  moment deadline_for(const message& m, moment now) const noexcept;

  // Messages out: queue_dispatch.cpp
  void assign(moment now);
  void hand_out();
  void hand_out_of(slot_chunk& c, slab_holds& holds);
  void open_batch(consumer_table::index taker);
  void lease_to(consumer_table::index owner, slot& s, sequence number) noexcept {
    auto& o = consumers_[owner];
    if (o.unsettled++ == 0 || number < o.oldest) o.oldest = number;
    s.owner = owner;
  }
  void close_open_batches();

  // Messages back: queue_core.cpp
  void settle_across(consumer_table::index owner, const settlement& s, slab_releases& releases);
  void settle_in_chunk(consumer_table::index owner, slot_chunk& c, std::uint64_t mask, outcome how,
                       slab_releases& releases);
  void after_settling(consumer_table::index owner, bool returned, moment now);
  std::uint64_t& departures(departure why) noexcept;
  void depart(slot_chunk& c, std::uint64_t mask, departure why, slab_releases& releases);
  void forget_ready(const slot& s) noexcept;

  // The disk: queue_storage.cpp
  std::size_t load(const journal::stored_chunk& from, std::span<read_message> read);

  // Time and end: queue_lifetime.cpp
  bool due(moment now) const noexcept { return slots_.next_deadline() <= now; }
  void expire_if_due(moment now) {
    if (due(now)) expire(now);
  }
  moment lease_end() const noexcept;

  queue_options options_;
  slot_store slots_;
  consumer_table consumers_;
  queue_statistics totals_;

  std::vector<lease_batch> outbox_;
  std::vector<consumer_table::index> takers_;  // those with an open batch
  std::vector<departed_message> departed_;

  /// What is under way between memory and the disk.
  struct moving {
    std::vector<std::uint64_t> loading;  // chunks
    std::uint64_t loading_messages = 0;
    std::uint64_t evict_at = 0;  // number of the next chunk to look at
    std::vector<joint_place> joint;
    bool read_to_drop = false;  // the next ones on the disk are too many
  };
  std::unique_ptr<moving> moving_;   // of a queue that stores
  std::uint64_t repack_at_ = 0;      // number of the next chunk to look at
  std::uint64_t not_looked_at_ = 0;  // messages published since
  moment last_use_;
  bool had_consumer_ = false;
  bool closed_ = false;
  bool keep_departed_ = false;
  bool store_all_ = false;
};

}  // namespace baton
