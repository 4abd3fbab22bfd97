// The queue against a model that is too simple to be wrong: a map of messages, walked from its
// beginning for everything.

#include <algorithm>
#include <list>
#include <map>
#include <random>
#include <set>

#include "storage/memory_account.hpp"
#include "tests/actors/queue/messages.hpp"
#include "tests/catch.hpp"

using namespace baton;
using namespace baton::test;
using moment = queue_core::moment;

namespace {

class queue_model {
public:
  explicit queue_model(queue_arguments rules) : rules_{std::move(rules)} {}

  struct kept {
    std::string body;
    std::uint64_t footprint;
    moment deadline;
    std::uint64_t owner = 0;  // 0: ready
    bool redelivered = false;
    std::uint32_t returns = 0;
  };
  struct consumer {
    consumer_options options;
    std::int64_t balance = 0;
    std::optional<std::uint64_t> demand;
    bool told = false;  // that it is short of demand
  };

  std::map<sequence, kept> messages;
  std::map<std::uint64_t, consumer> consumers;
  std::vector<handed> out;  // since the last dispatch
  std::vector<std::string> departed;

  std::uint64_t ready() const {
    return static_cast<std::uint64_t>(std::count_if(
        messages.begin(), messages.end(), [](const auto& m) { return m.second.owner == 0; }));
  }
  std::uint64_t unsettled(std::uint64_t owner) const {
    return static_cast<std::uint64_t>(std::count_if(
        messages.begin(), messages.end(), [&](const auto& m) { return m.second.owner == owner; }));
  }
  std::uint64_t ready_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [number, m] : messages) sum += m.owner == 0 ? m.body.size() : 0;
    return sum;
  }

  std::uint64_t publish(
      const std::vector<std::tuple<std::string, std::uint64_t, std::optional<std::uint64_t>>>& all,
      moment now) {
    expire(now);
    const bool limited = rules_.max_length || rules_.max_length_bytes;
    const bool refuses = limited && rules_.overflow != overflow_policy::drop_head;
    std::uint64_t refused = 0;
    bool at_once = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& [body, footprint, own_ttl] = all[i];
      if (refuses &&
          ((rules_.max_length && ready() + 1 > *rules_.max_length) ||
           (rules_.max_length_bytes && ready_bytes() + body.size() > *rules_.max_length_bytes))) {
        refused |= std::uint64_t{1} << i;
        if (rules_.overflow == overflow_policy::reject_publish_dlx) departed.push_back(body);
        continue;
      }
      auto deadline = queue_core::never;
      if (rules_.message_ttl) deadline = now + *rules_.message_ttl;
      if (own_ttl) deadline = std::min(deadline, now + moment{*own_ttl});
      at_once = at_once || deadline <= now;
      messages.emplace(next_++, kept{body, footprint, deadline});
      if (refuses) hand_out();
    }
    if (limited || at_once) hand_out();
    drop();
    if (at_once) expire(now);
    return refused;
  }

  bool lacks_only_demand(std::uint64_t id) const {
    const auto& c = consumers.at(id);
    return c.balance > 0 &&
           (c.options.no_ack || c.options.prefetch == 0 || unsettled(id) < c.options.prefetch);
  }

  std::set<std::uint64_t> take_short_of_demand() {
    std::set<std::uint64_t> found;
    if (ready() == 0) return found;
    for (auto& [id, c] : consumers)
      if (c.demand == 0u && lacks_only_demand(id) && !std::exchange(c.told, true)) found.insert(id);
    return found;
  }

  void refresh(std::uint64_t id) {
    auto at = consumers.find(id);
    if (at == consumers.end()) return;
    const auto& c = at->second;
    auto& ring = rings_[c.options.priority];
    auto standing = std::find(ring.begin(), ring.end(), id);
    const bool may = lacks_only_demand(id) && (!c.demand || *c.demand > 0);
    if (may && standing == ring.end()) ring.push_back(id);
    if (!may && standing != ring.end()) ring.erase(standing);
  }

  void remove(std::uint64_t id) {
    auto at = consumers.find(id);
    if (at == consumers.end()) return;
    rings_[at->second.options.priority].remove(id);
    consumers.erase(at);
  }

  void hand_out() {
    for (auto m = messages.begin(); m != messages.end();) {
      auto here = m++;
      if (here->second.owner != 0) continue;
      auto ring = std::find_if(rings_.rbegin(), rings_.rend(),
                               [](const auto& r) { return !r.second.empty(); });
      if (ring == rings_.rend()) return;
      auto id = ring->second.front();
      ring->second.pop_front();
      auto& c = consumers.at(id);
      out.push_back(
          {id, here->first, here->second.body, here->second.redelivered, here->second.returns});
      c.balance -= static_cast<std::int64_t>(here->second.footprint);
      if (c.demand) --*c.demand;
      if (c.options.no_ack)
        messages.erase(here);
      else
        here->second.owner = id;
      refresh(id);
    }
  }

  void settle(std::uint64_t owner, const settlement& s) {
    for (auto m = messages.lower_bound(s.first);
         m != messages.end() && m->first < s.first + s.count;) {
      auto here = m++;
      auto& k = here->second;
      if (k.owner != owner) continue;
      k.owner = 0;
      if (s.how == outcome::reject) departed.push_back(k.body);
      const bool too_often = s.how == outcome::release && k.returns == rules_.delivery_limit;
      if (too_often) departed.push_back(k.body);
      if (s.how != outcome::release || too_often) {
        messages.erase(here);
      } else {
        k.redelivered = true;
        ++k.returns;
      }
    }
  }

  void expire(moment now) {
    std::vector<std::pair<moment, sequence>> due;
    for (const auto& [number, m] : messages)
      if (m.owner == 0 && m.deadline <= now) due.emplace_back(m.deadline, number);
    std::sort(due.begin(), due.end());
    for (auto [deadline, number] : due) lose(number);
  }

  void drop() {
    if (rules_.overflow != overflow_policy::drop_head) return;
    while ((rules_.max_length && ready() > *rules_.max_length) ||
           (rules_.max_length_bytes && ready_bytes() > *rules_.max_length_bytes))
      lose(first_ready()->first);
  }

  std::map<sequence, kept>::iterator first_ready() {
    return std::find_if(messages.begin(), messages.end(),
                        [](const auto& m) { return m.second.owner == 0; });
  }

private:
  void lose(sequence number) {
    departed.push_back(messages.at(number).body);
    messages.erase(number);
  }

  queue_arguments rules_;
  sequence next_ = 1;
  std::map<std::int32_t, std::list<std::uint64_t>> rings_;
};

/// Drives both with the same random calls and compares all that can be seen.
class twin {
public:
  explicit twin(std::uint32_t seed)
      : random_{seed}, rules_{random_rules()}, core_{{rules_, false}, now_}, model_{rules_} {
    core_.keep_departed(true);
  }

  void step() {
    switch (pick(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        publish();
        break;
      case 4:
      case 5:
      case 6:
        settle();
        break;
      case 7:
        subscribe();
        break;
      case 8:
        unsubscribe();
        break;
      case 9:
      case 10:
        grant();
        break;
      case 11:
        get();
        break;
      case 12:
        pass_time();
        break;
      case 13:
        if (pick(4) == 0) release_all();
        break;
      case 14:
        if (pick(10) == 0) purge();
        break;
      case 15:
        core_.repack(1 + pick(3));
        break;
    }
    compare();
  }

  void finish() {
    core_.close();
    CHECK(core_.ready() + core_.unsettled() == 0);
  }

private:
  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

  queue_arguments random_rules() {
    queue_arguments rules;
    if (pick(3) == 0) rules.max_length = pick(100);
    if (pick(3) == 0) rules.max_length_bytes = pick(2000);
    rules.overflow = static_cast<overflow_policy>(pick(3));
    if (pick(3) == 0) rules.message_ttl = moment{pick(50)};
    if (pick(3) == 0) rules.delivery_limit = pick(4);
    return rules;
  }

  void publish() {
    std::vector<std::tuple<std::string, std::uint64_t, std::optional<std::uint64_t>>> all;
    slab_writer writer;
    writer.expect(4000);
    batch b;
    for (auto n = 1 + pick(pick(4) == 0 ? 64 : 4); n > 0; --n) {
      auto body = std::to_string(++made_) + std::string(pick(80), '.');
      std::optional<std::uint64_t> ttl;
      if (pick(5) == 0) ttl = pick(40);
      auto m = make_message(writer, body, ttl);
      all.emplace_back(body, m.footprint(), ttl);
      b.add(std::move(m));
    }
    auto expected = model_.publish(all, now_);
    CHECK(core_.publish(std::move(b), now_) == expected);
  }

  void subscribe() {
    if (model_.consumers.size() >= 6) return;
    consumer_options o;
    o.no_ack = pick(4) == 0;
    o.priority = static_cast<std::int32_t>(pick(3)) - 1;
    o.prefetch = pick(8);
    o.byte_credit = pick(3) == 0 ? pick(1000) : 1 << 20;
    if (pick(3) == 0) o.demand = pick(20);
    auto id = ++last_consumer_;
    CHECK(core_.add(consumer_id{id}, o));
    queue_model::consumer c{o, static_cast<std::int64_t>(o.byte_credit), o.demand, false};
    model_.consumers.emplace(id, c);
    model_.refresh(id);
    owners_.push_back(id);
  }

  void unsubscribe() {
    if (owners_.empty()) return;
    auto id = owners_[pick(static_cast<std::uint32_t>(owners_.size()))];
    core_.remove(consumer_id{id}, now_);
    model_.remove(id);
  }

  void grant() {
    if (owners_.empty()) return;
    auto id = owners_[pick(static_cast<std::uint32_t>(owners_.size()))];
    auto c = model_.consumers.find(id);
    auto amount = pick(10);
    const bool known = c != model_.consumers.end();
    switch (pick(4)) {
      case 0:
        core_.grant(consumer_id{id}, amount * 100);
        if (known) c->second.balance += amount * 100;
        break;
      case 1:
        core_.demand(consumer_id{id}, amount);
        if (known && c->second.demand) {
          *c->second.demand += amount;
          c->second.told = false;
        }
        break;
      case 2: {
        auto demand = pick(4) == 0 ? std::nullopt : std::optional<std::uint32_t>{amount};
        core_.set_demand(consumer_id{id}, demand);
        if (known) {
          c->second.demand = demand;
          c->second.told = false;
        }
        break;
      }
      case 3: {
        if (known && !c->second.demand) break;
        auto left = core_.recall_demand(consumer_id{id});
        CHECK(left.has_value() == known);
        if (!known) break;
        CHECK(left == c->second.demand);
        c->second.demand = 0;
        c->second.told = false;
        break;
      }
    }
    model_.refresh(id);
  }

  void settle() {
    if (owners_.empty()) return;
    auto id = owners_[pick(static_cast<std::uint32_t>(owners_.size()))];
    std::vector<settlement> all;
    for (auto n = 1 + pick(4); n > 0; --n)
      all.push_back({1 + random_() % (made_ + 2), 1 + pick(100), static_cast<outcome>(pick(3))});
    core_.settle(consumer_id{id}, all, now_);
    bool returned = false;
    bool known = model_.consumers.count(id) > 0 || model_.unsettled(id) > 0;
    for (const auto& s : all) {
      model_.settle(id, s);
      returned = returned || s.how == outcome::release;
    }
    model_.refresh(id);
    if (returned && known) returned_late();
  }

  void release_all() {
    if (owners_.empty()) return;
    auto id = owners_[pick(static_cast<std::uint32_t>(owners_.size()))];
    bool known = model_.consumers.count(id) > 0 || model_.unsettled(id) > 0;
    core_.release_all(consumer_id{id}, now_);
    model_.settle(id, {1, 1'000'000, outcome::release});
    model_.refresh(id);
    if (known) returned_late();
  }

  void returned_late() {
    model_.expire(now_);
    model_.drop();
  }

  void get() {
    auto id = pick(2) == 0 || owners_.empty()
                  ? ++last_consumer_
                  : owners_[pick(static_cast<std::uint32_t>(owners_.size()))];
    owners_.push_back(id);
    getters_.insert(id);  // what it gets counts in its window, but is not held back by it
    const bool no_ack = pick(2) == 0;
    model_.expire(now_);
    auto expected = model_.first_ready();
    auto got = core_.get(consumer_id{id}, no_ack, now_);
    REQUIRE(got.has_value() == (expected != model_.messages.end()));
    if (!got) return;
    CHECK(got->leased.number == expected->first);
    CHECK(got->leased.redelivered == expected->second.redelivered);
    CHECK(got->bytes == expected->second.footprint);
    CHECK(as_text(got->leased.content.small_body()) == expected->second.body);
    if (no_ack)
      model_.messages.erase(expected);
    else
      expected->second.owner = id;
    CHECK(got->remaining == model_.ready());
    model_.refresh(id);
  }

  void purge() {
    CHECK(core_.purge() == model_.ready());
    std::erase_if(model_.messages, [](const auto& m) { return m.second.owner == 0; });
  }

  void pass_time() {
    now_ += moment{pick(20)};
    if (core_.next_deadline() <= now_) {
      core_.expire(now_);
      model_.expire(now_);
    }
  }

  void compare() {
    model_.expire(now_);
    model_.hand_out();
    auto out = dispatch(core_, now_);
    auto by_number = [](const handed& a, const handed& b) { return a.number < b.number; };
    std::stable_sort(out.begin(), out.end(), by_number);
    CHECK(out == model_.out);
    model_.out.clear();
    std::set<std::uint64_t> short_of_demand;
    for (auto id : core_.take_short_of_demand()) CHECK(short_of_demand.insert(id.value).second);
    CHECK(short_of_demand == model_.take_short_of_demand());

    std::vector<std::string> departed;
    for (auto& d : core_.take_departed()) departed.emplace_back(as_text(d.content.small_body()));
    CHECK(departed == model_.departed);
    model_.departed.clear();

    const auto peeked = core_.peek(5, 200);
    std::uint64_t bytes = 200;
    std::size_t looked_at = 0;
    for (const auto& [number, m] : model_.messages) {
      if (m.owner != 0) continue;
      if (looked_at == 5 || (looked_at > 0 && m.body.size() > bytes)) break;
      bytes -= std::min<std::uint64_t>(bytes, m.body.size());
      REQUIRE(looked_at < peeked.size());
      const auto& p = peeked[looked_at++];
      CHECK(p.number == number);
      CHECK(as_text(p.content.small_body()) == m.body);
      CHECK((p.redelivered == m.redelivered && p.returns == m.returns));
      CHECK(p.deadline == m.deadline);
    }
    CHECK(peeked.size() == looked_at);

    auto seen = core_.statistics();
    CHECK(seen.ready == model_.ready());
    CHECK(seen.unsettled == model_.messages.size() - model_.ready());
    CHECK(seen.ready_bytes == model_.ready_bytes());
    CHECK(seen.consumers == model_.consumers.size());
    std::uint64_t held = 0;
    auto earliest = queue_core::never;
    for (const auto& [number, m] : model_.messages) {
      held += m.footprint;
      if (m.owner == 0) earliest = std::min(earliest, m.deadline);
    }
    CHECK(seen.held_bytes == held);
    CHECK(core_.next_deadline() <= earliest);
    for (const auto& [id, c] : model_.consumers)
      if (c.options.prefetch > 0 && !c.options.no_ack && getters_.count(id) == 0)
        CHECK(model_.unsettled(id) <= c.options.prefetch);
  }

  std::mt19937 random_;
  moment now_{1000};
  queue_arguments rules_;
  queue_core core_;
  queue_model model_;
  std::uint64_t made_ = 0;
  std::uint64_t last_consumer_ = 0;
  std::vector<std::uint64_t> owners_;
  std::set<std::uint64_t> getters_;
};

}  // namespace

TEST_CASE("a queue does what a map of its messages would do, whatever it is asked") {
  auto before = memory_account::total();
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    {
      twin both{seed};
      for (int i = 0; i < 400; ++i) both.step();
      both.finish();
    }
    REQUIRE(memory_account::total() == before);
  }
}
