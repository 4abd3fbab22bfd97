#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "tests/actors/queue/messages.hpp"
#include "tests/actors/queue/paper_journal.hpp"
#include "tests/catch.hpp"

namespace baton::test {

constexpr std::uint64_t consumers = 3;
using moment = queue_core::moment;

/// One queue's life. What it hands out, loses and drops is looked up in the model; what it tells
/// the journal is compared with the model at each restart and at the end.
class stored_life {
public:
  explicit stored_life(std::uint32_t seed) : random_{seed} {
    keeps_departed_ = pick(2) == 0;
    all_stored_ = pick(4) == 0;
    if (pick(4) == 0) rules_.max_length = 1 + pick(300);
    // What is dropped and what expires unread cannot be told apart.
    has_ttl_ = pick(2) == 0 && (keeps_departed_ || !rules_.max_length);
    large_ = pick(4) == 0;
    begin();
  }

  void step() {
    switch (pick(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
        publish();
        break;
      case 4:
      case 5:
        settle();
        break;
      case 6:
        get();
        break;
      case 7:
      case 8:
        hand_out();
        break;
      case 9:
        if (pick(10) == 0) purge();
        break;
      case 10:
        pass_time();
        break;
      case 11:
      case 12:
        core_->evict(pick(4) == 0 ? pick(100'000) : 0);
        break;
      case 13:
      case 14:
        deliver_notice();
        break;
      case 15:
      case 16:
        deliver_reading();
        break;
      case 17:
        write_joint();
        break;
      case 18:
        disturb();
        break;
      case 19:
        if (pick(20) == 0)
          restart();
        else if (pick(4) == 0)
          come_and_go();
        break;
    }
    note_departed();
    if (pick(3) == 0) end_turn();
    compare();
  }

  /// All that is under way arrives, all messages leave: nothing may be left anywhere.
  void finish() {
    if (pick(3) == 0) {
      core_->close();
      messages_.clear();
      settle_down();
      CHECK(journal_.references() == 0);
      return;
    }
    settle_down();
    CHECK(core_->ready() + core_->unsettled() == messages_.size());
    compare_journal();
    for (std::uint64_t id = 1; id <= consumers; ++id) release_all(id);
    core_->remove(consumer_id{subscribed_}, now_);
    while (core_->ready() > 0) {
      get(true);
      settle_down();
    }
    CHECK(messages_.empty());
    CHECK(journal_.references() == 0);
    CHECK(journal_.replay().empty());
    compare_told();
  }

private:
  struct kept {
    std::string body;
    bool stored = false;
    bool joint = false;
    moment deadline{};
    std::uint64_t owner = 0;  // 0: ready
    bool redelivered = false;
    std::uint32_t returns = 0;
    std::uint64_t turn = 0;
  };
  using messages = std::map<sequence, kept>;

  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

  void begin() {
    core_.emplace(queue_options{rules_, false}, now_);
    core_->store(queue_id{1}, all_stored_, wall_offset_);
    core_->keep_departed(keeps_departed_);
  }

  // -- what a queue is asked

  void publish() {
    slab_writer writer;
    for (auto n = 1 + pick(pick(4) == 0 ? 100 : 5); n > 0; --n) {
      kept k;
      k.body = std::to_string(++made_) + std::string(large_ && pick(3) == 0 ? 4000 : pick(30), '.');
      std::optional<std::uint64_t> ttl;
      if (has_ttl_ && pick(3) == 0) ttl = 1 + pick(60);
      const bool persistent = pick(5) != 0;
      k.stored = persistent || all_stored_;
      k.joint = k.stored && pick(10) == 0;
      k.deadline = ttl ? now_ + moment{*ttl} : queue_core::never;
      k.turn = turn_;
      expire();
      const bool waits_for_disk = core_->next_is_on_disk();
      CHECK(core_->publish(batch_of(make_stored_message(writer, k.body, persistent, ttl)), now_,
                           k.joint ? 1 : 0) == 0);
      const auto number = core_->last_number();
      const auto joints = core_->take_joint();
      REQUIRE(joints.size() == (k.joint ? 1 : 0));
      if (k.joint) {
        CHECK(joints[0].where.number == number);
        joints_.insert(number);
        unwritten_joints_.push_back({joints[0].where, k.body});
      }
      messages_.emplace(number, std::move(k));
      if (waits_for_disk && !keeps_departed_) drop_excess();
      take_handed_out();  // else a limit comes second
      if (!keeps_departed_) drop_excess();
    }
  }

  void subscribe() {
    if (subscribed_ != 0) return;
    subscribed_ = 1 + pick(consumers);
    consumer_options options;
    options.no_ack = pick(4) == 0;
    options.prefetch = pick(2) == 0 ? 0 : 1 + pick(100);
    no_ack_ = options.no_ack;
    REQUIRE(core_->add(consumer_id{subscribed_}, freely(options)));
  }

  void come_and_go() {
    if (subscribed_ == 0) return subscribe();
    core_->remove(consumer_id{subscribed_}, now_);
    if (pick(2) == 0) release_all(subscribed_);
    subscribed_ = 0;
  }

  void hand_out() {
    read_on(false);
    take_handed_out();
  }

  void take_handed_out() {
    const auto out = dispatch(*core_, now_);
    note_departed(departure::expired);
    for (const auto& h : out) {
      REQUIRE(h.consumer == subscribed_);
      take(h.number, h.body, h.redelivered, h.returns, no_ack_ ? 0 : h.consumer);
    }
    note_departed();
  }

  void get() { get(pick(2) == 0); }
  void get(bool no_ack) {
    const auto who = 1 + pick(consumers);
    const auto got = core_->get(consumer_id{who}, no_ack, now_);
    note_departed();
    if (!got) {
      CHECK((core_->ready() == 0 || core_->next_is_on_disk()));
      return read_on(true);
    }
    const auto& l = got->leased;
    take(l.number, std::string{as_text(l.content.small_body())}, l.redelivered, l.returns,
         no_ack ? 0 : who);
  }

  /// The queue has handed out a message: it must be the next one. `owner` 0: it is gone.
  void take(sequence number, const std::string& body, bool redelivered, std::uint32_t returns,
            std::uint64_t owner) {
    expire();
    const auto next = next_ready();
    REQUIRE(next != messages_.end());
    REQUIRE(number == next->first);
    auto& m = next->second;
    CHECK(body == m.body);
    CHECK(redelivered == m.redelivered);
    CHECK(returns == m.returns);
    CHECK(m.deadline > now_);
    if (owner != 0)
      m.owner = owner;
    else
      forget(next);
  }

  void settle() {
    const auto who = 1 + pick(consumers);
    std::vector<sequence> held;
    for (const auto& [number, m] : messages_)
      if (m.owner == who) held.push_back(number);
    if (held.empty()) return;
    std::vector<settlement> all;
    for (auto n = 1 + pick(3); n > 0; --n)
      all.push_back({held[pick(static_cast<std::uint32_t>(held.size()))], 1 + pick(40),
                     static_cast<outcome>(pick(3))});
    bool returned = false;
    std::vector<std::string> rejected;
    for (const auto& s : all) {
      returned = returned || s.how == outcome::release;
      for (auto m = messages_.lower_bound(s.first);
           m != messages_.end() && m->first < s.first + s.count;) {
        const auto here = m++;
        if (here->second.owner != who) continue;
        if (s.how == outcome::reject && keeps_departed_) rejected.push_back(here->second.body);
        if (s.how == outcome::release)
          come_back(here->second);
        else
          forget(here);
      }
    }
    core_->settle(consumer_id{who}, all, now_);
    rejected_.insert(rejected.begin(), rejected.end());
    note_departed();
    if (returned && !keeps_departed_) drop_excess();
  }

  void release_all(std::uint64_t who) {
    for (auto& [number, m] : messages_)
      if (m.owner == who) come_back(m);
    core_->release_all(consumer_id{who}, now_);
    note_departed();
    if (!keeps_departed_) drop_excess();
  }

  static void come_back(kept& m) {
    m.owner = 0;
    m.redelivered = true;
    ++m.returns;
  }

  void purge() {
    core_->purge();
    note_departed();
    for (auto m = messages_.begin(); m != messages_.end();) {
      const auto here = m++;
      if (here->second.owner == 0) forget(here);
    }
    CHECK(core_->ready() == 0);
  }

  void pass_time() {
    now_ += moment{pick(20)};
    if (core_->next_deadline() <= now_) core_->expire(now_);
  }

  // -- what comes back late

  void end_turn() {
    ++turn_;
    send(journal_.write(core_->take_news()));
  }

  void send(const paper_journal::notice& told) {
    notices_.insert(notices_.end(), told.begin(), told.end());
  }

  void write_joint() {
    if (unwritten_joints_.empty()) return;
    auto& [where, body] = unwritten_joints_.front();
    std::vector<journal::queue_place> places{{2, 1000 + made_}, where};
    if (pick(2) == 0) std::swap(places[0], places[1]);
    slab_writer slabs;
    journal::record_writer writer;
    writer.add_enqueue(places, make_stored_message(slabs, body));
    send(journal_.write(writer.take(), {where.number}, true));
    unwritten_joints_.pop_front();
  }

  /// Some of what was written is told, of each message in order.
  void deliver_notice() {
    paper_journal::notice some;
    std::set<sequence> passed_over;
    for (auto n = notices_.begin(); n != notices_.end() && some.size() < 100;) {
      if (passed_over.count(n->number) == 0 && pick(8) != 0) {
        some.push_back(*n);
        n = notices_.erase(n);
      } else {
        passed_over.insert(n->number);
        ++n;
      }
    }
    tell(some);
  }
  void tell(const paper_journal::notice& some) {
    if (core_->closed())
      for (const auto& r : some) journal_.drop({{r.at.segment, 1, 1, r.bytes}});
    else
      core_->written(some);
  }
  void tell_all() { tell({notices_.begin(), notices_.end()}), notices_.clear(); }

  struct reading {
    std::vector<queue_core::read_message> messages;
    bool to_relocate = false;
  };

  void read_on(bool for_get) { read(core_->take_wanted(for_get), false); }
  /// Some are read at once, others only when the answer is due.
  void read(const std::vector<queue_core::wanted_message>& wanted, bool to_relocate) {
    if (wanted.empty()) return;
    reading made;
    made.to_relocate = to_relocate;
    for (const auto& w : wanted) {
      if (!to_relocate) CHECK(asked_for_.insert(w.number).second);
      made.messages.push_back({w.number, w.at, pick(2) == 0 ? journal_.read(w.at) : message{}});
    }
    readings_.push_back(std::move(made));
  }
  void deliver_reading() {
    if (readings_.empty()) return;
    auto answer = std::move(readings_.front());
    readings_.pop_front();
    bool unread = false;
    for (auto& m : answer.messages) {
      if (!m.content) m.content = journal_.read(m.at);
      unread = unread || !m.content;
    }
    if (unread) tell_all();  // as the actor does, before it gives anything up
    if (answer.to_relocate) return send(journal_.write(core_->relocate(answer.messages)));
    for (const auto& m : answer.messages) asked_for_.erase(m.number);
    CHECK(core_->loaded(std::move(answer.messages)) == 0);
    note_departed();
  }

  /// What happens to a journal.
  void disturb() {
    switch (pick(5)) {
      case 0:
        journal_.sync();
        break;
      case 1:
        send(journal_.fail_sync());
        break;
      case 2:
        journal_.begin_segment();
        break;
      default: {
        auto moved = core_->relocate(1 + pick(journal_.segment()));
        read(moved.to_read, true);
        send(journal_.write(moved));
        break;
      }
    }
  }

  void settle_down() {
    while (!unwritten_joints_.empty()) write_joint();
    end_turn();
    expire();
    for (int i = 0; i < 3; ++i) {
      tell_all();
      core_->expire(now_);
      read_on(false);
      while (!readings_.empty()) deliver_reading();
      tell_all();
      note_departed();
      end_turn();
    }
    tell_all();
  }

  void restart() {
    core_->expire(now_);
    expire();
    end_turn();
    note_departed();
    readings_.clear();
    asked_for_.clear();
    notices_.clear();
    subscribed_ = 0;
    for (const auto& [where, body] : unwritten_joints_) lost_.insert(where.number);
    for (const auto number : lost_) messages_.erase(number);
    unwritten_joints_.clear();
    // Of those that are rejected only their queue knew that they are to be kept for somebody.
    rejected_.clear();
    std::erase_if(messages_, [](const auto& m) { return !m.second.stored; });
    compare_journal();
    const bool killed = pick(2) == 0;
    journal::stored_index found;
    for (auto& [number, m] : messages_) m.owner = m.turn = 0;
    for (const auto& [number, f] : journal_.replay()) {
      auto entry = f.entry;
      entry.redelivered = entry.redelivered || entry.returns > 0 || killed;
      found.put(number, entry);
      if (const auto m = messages_.find(number); m != messages_.end())
        m->second.redelivered = entry.redelivered;
    }
    const auto next = core_->last_number() + 1;
    journal_.restart();
    begin();
    core_->recover(std::move(found), next);
    publish();  // if there are too many now
  }

  // -- the model

  messages::iterator next_ready() {
    return std::find_if(messages_.begin(), messages_.end(),
                        [](const auto& m) { return m.second.owner == 0; });
  }
  std::uint64_t ready() const {
    return static_cast<std::uint64_t>(std::count_if(
        messages_.begin(), messages_.end(), [](const auto& m) { return m.second.owner == 0; }));
  }

  messages::iterator forget(messages::iterator m) {
    if (m->second.turn == turn_ && !m->second.joint) never_told_.insert(m->first);
    if (!m->second.stored) never_told_.insert(m->first);
    return messages_.erase(m);
  }

  /// Those whose time has come; where they are kept for somebody, only when the queue says so.
  void expire() {
    if (keeps_departed_) return;
    for (auto m = messages_.begin(); m != messages_.end();)
      m = m->second.owner == 0 && m->second.deadline <= now_ ? forget(m) : std::next(m);
  }
  void drop_excess() {
    if (!rules_.max_length) return;
    while (ready() > *rules_.max_length) forget(next_ready());
  }

  void note_departed() {
    for (const auto why : {departure::expired, departure::rejected, departure::max_length})
      note_departed(why);
  }
  void note_departed(departure why) {
    for (auto& d : core_->take_departed()) departed_.push_back(std::move(d));
    for (auto& d : std::exchange(departed_, {})) {
      if (d.why != why) {
        departed_.push_back(std::move(d));
        continue;
      }
      const std::string body{as_text(d.content.small_body())};
      if (d.why == departure::rejected) {
        CHECK(rejected_.erase(body) == 1);
        continue;
      }
      const auto m = std::find_if(messages_.begin(), messages_.end(),
                                  [&](const auto& each) { return each.second.body == body; });
      REQUIRE(m != messages_.end());
      CHECK(m->second.owner == 0);
      if (d.why == departure::expired) {
        CHECK(m->second.deadline <= now_);
      } else {
        CHECK(m == next_ready());
        CHECK(ready() > *rules_.max_length);
      }
      forget(m);
    }
  }

  // -- comparisons

  void compare() {
    if (core_->next_deadline() <= now_) core_->expire(now_);  // some may have been read just now
    note_departed();
    read_on(false);
    // What is overdue may be on the disk, and counts until it has been read.
    std::uint64_t due = 0;
    std::uint64_t leased = 0;
    for (const auto& [number, m] : messages_) {
      due += m.owner == 0 && m.deadline <= now_;
      leased += m.owner != 0;
    }
    CHECK(core_->unsettled() == leased);
    CHECK(core_->ready() <= ready() + overdue_forgotten());
    CHECK(core_->ready() + due >= ready());
    CHECK(core_->on_disk() <= core_->ready());
    auto earliest = queue_core::never;
    for (const auto& [number, m] : messages_)
      if (m.owner == 0 && m.deadline > now_ && !is_read_with(number))
        earliest = std::min(earliest, m.deadline);
    CHECK(core_->next_deadline() <= earliest);
  }
  /// What is being read of its chunk tells of all deadlines in there when it comes.
  bool is_read_with(sequence number) const {
    const auto chunk = slot_chunk::number_of(number);
    const auto first = asked_for_.lower_bound(chunk * slot_chunk::size);
    return first != asked_for_.end() && slot_chunk::number_of(*first) == chunk;
  }
  /// The model forgets at once what expires unread.
  std::uint64_t overdue_forgotten() const {
    return has_ttl_ && !keeps_departed_ ? core_->on_disk() : 0;
  }

  /// A restart would find what the model has: all that is told by now is written.
  void compare_journal() {
    const auto found = journal_.replay();
    for (const auto& [number, m] : messages_) {
      if (!m.stored) {
        CHECK(found.count(number) == 0);
        continue;
      }
      const auto f = found.find(number);
      REQUIRE(f != found.end());
      CHECK(f->second.body == m.body);
      CHECK(f->second.entry.returns == m.returns);
      const auto deadline = m.deadline == queue_core::never
                                ? journal::queue_place::never
                                : static_cast<std::uint64_t>((m.deadline + wall_offset_).count());
      CHECK(f->second.entry.deadline_ms == deadline);
    }
    // What expires on the disk is told once it has been read.
    for (const auto& [number, f] : found)
      if (messages_.count(number) == 0)
        CHECK((f.entry.deadline_ms != journal::queue_place::never &&
               f.entry.deadline_ms <= static_cast<std::uint64_t>((now_ + wall_offset_).count())));
  }

  void compare_told() {
    for (const auto& [number, told] : journal_.told()) {
      INFO("message " << number);
      CHECK(never_told_.count(number) == 0);
      if (lost_.count(number) != 0) continue;
      CHECK(told.places > 0);
      if (joints_.count(number) == 0) CHECK(told.ends == 1);
      CHECK(told.ends > 0);
    }
  }

  std::mt19937 random_;
  queue_arguments rules_;
  bool keeps_departed_ = false;
  bool all_stored_ = false;
  bool has_ttl_ = false;
  bool large_ = false;
  moment now_{1000};
  const moment wall_offset_{1'000'000};
  std::uint64_t turn_ = 1;
  std::uint64_t made_ = 0;

  paper_journal journal_;
  std::optional<queue_core> core_;
  std::uint64_t subscribed_ = 0;
  bool no_ack_ = false;

  messages messages_;
  std::set<sequence> never_told_;
  std::set<sequence> joints_;
  std::set<sequence> lost_;
  std::vector<departed_message> departed_;
  std::multiset<std::string> rejected_;  // not told to have departed yet

  struct joint_message {
    journal::queue_place where;
    std::string body;
  };
  std::deque<joint_message> unwritten_joints_;
  std::deque<slot_store::written_record> notices_;
  std::deque<reading> readings_;
  std::set<sequence> asked_for_;
};

}  // namespace baton::test
