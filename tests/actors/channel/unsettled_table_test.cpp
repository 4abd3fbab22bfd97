#include "actors/channel/unsettled_table.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "actors/channel/settlement_groups.hpp"
#include "storage/memory_account.hpp"
#include "tests/catch.hpp"

using namespace baton;

namespace {

struct collected {
  std::vector<settled_run> runs;
  void operator()(const settled_run& run) { runs.push_back(run); }
};

std::uint64_t record(unsettled_table& table, sequence number, std::uint64_t consumer = 1,
                     std::uint32_t queue = 0) {
  return table.record({number, consumer_id{consumer}, queue});
}

}  // namespace

TEST_CASE("delivery tags are consecutive from 1, those of no-ack deliveries included") {
  unsettled_table table;
  CHECK(record(table, 10) == 1);
  CHECK(table.skip() == 2);
  CHECK(record(table, 11) == 3);
  CHECK(table.size() == 2);
}

TEST_CASE("a multiple ack of neighbours is one run") {
  unsettled_table table;
  for (sequence s = 100; s < 300; ++s) record(table, s);
  collected got;
  REQUIRE(table.settle(150, true, outcome::accept, got));
  REQUIRE(got.runs.size() == 1);
  CHECK(got.runs[0].leases == settlement{100, 150, outcome::accept});
  CHECK(table.size() == 50);
}

TEST_CASE("deliveries of different queues or consumers are never one run") {
  unsettled_table table;
  record(table, 1, 1, 0);
  record(table, 2, 2, 0);
  record(table, 3, 2, 1);
  record(table, 5, 2, 1);
  collected got;
  REQUIRE(table.settle(0, true, outcome::release, got));
  CHECK(got.runs.size() == 4);
}

TEST_CASE("a tag that is not outstanding is unknown") {
  unsettled_table table;
  collected got;
  record(table, 1);
  record(table, 2);
  record(table, 3);
  SECTION("because it was settled") {
    REQUIRE(table.settle(2, false, outcome::accept, got));
    auto again = table.settle(2, false, outcome::accept, got);
    REQUIRE(!again);
    CHECK(to_string(again.reason()) == "unknown delivery tag 2");
  }
  SECTION("also with multiple, although older ones are open") {
    REQUIRE(table.settle(2, false, outcome::accept, got));
    CHECK(!table.settle(2, true, outcome::accept, got));
    CHECK(table.size() == 2);
  }
  SECTION("because it was never sent") {
    CHECK(!table.settle(4, false, outcome::accept, got));
    CHECK(!table.settle(1'000'000'000, true, outcome::accept, got));
  }
  SECTION("because it was sent without ack") {
    auto tag = table.skip();
    CHECK(!table.settle(tag, true, outcome::accept, got));
  }
  SECTION("because it is 0 without multiple") {
    CHECK(!table.settle(0, false, outcome::accept, got));
  }
}

TEST_CASE("tag 0 with multiple settles everything, which may be nothing") {
  unsettled_table table;
  collected got;
  CHECK(table.settle(0, true, outcome::accept, got));
  CHECK(got.runs.empty());
  record(table, 7);
  CHECK(table.settle(0, true, outcome::accept, got));
  CHECK(got.runs.size() == 1);
  CHECK(table.size() == 0);
}

TEST_CASE("one delivery that is never settled does not keep memory of all later ones") {
  auto before = memory_account::total();
  {
    unsettled_table table;
    collected ignored;
    record(table, 1);
    for (sequence s = 2; s < 1'000'000; ++s) {
      auto tag = record(table, s);
      if (!table.settle(tag, false, outcome::accept, ignored)) FAIL("not outstanding");
      ignored.runs.clear();
    }
    CHECK(memory_account::total() - before < 8192);
    REQUIRE(table.settle(1, false, outcome::accept, ignored));
    CHECK(ignored.runs[0].leases.first == 1);
  }
  CHECK(memory_account::total() == before);
}

TEST_CASE("what was set aside ends at commit, in the order of the acks") {
  unsettled_table table;
  collected got;
  for (sequence s = 1; s <= 200; ++s) record(table, s);
  REQUIRE(table.set_aside(150, false, outcome::reject));
  REQUIRE(table.set_aside(100, true, outcome::accept));
  CHECK(!table.set_aside(50, false, outcome::accept));
  CHECK(!table.settle(150, true, outcome::accept, got));
  CHECK(table.size() == 200);
  table.commit(got);
  REQUIRE(got.runs.size() == 2);
  CHECK(got.runs[0].leases == settlement{150, 1, outcome::reject});
  CHECK(got.runs[1].leases == settlement{1, 100, outcome::accept});
  CHECK(table.size() == 99);
}

TEST_CASE("after a rollback the same tags are outstanding again") {
  unsettled_table table;
  collected got;
  for (sequence s = 1; s <= 100; ++s) record(table, s);
  REQUIRE(table.set_aside(80, true, outcome::accept));
  table.rollback();
  table.commit(got);
  CHECK(got.runs.empty());
  REQUIRE(table.settle(80, true, outcome::accept, got));
  CHECK(got.runs[0].leases == settlement{1, 80, outcome::accept});
  CHECK(table.size() == 20);
}

TEST_CASE("settlements are grouped by queue and consumer") {
  unsettled_table table;
  for (sequence s = 1; s <= 80; ++s) record(table, s, 1 + s % 8, s % 8 < 4 ? 0 : 1);
  settlement_groups groups;
  REQUIRE(table.settle(80, true, outcome::accept, [&](const settled_run& r) { groups.add(r); }));
  auto all = groups.take();
  REQUIRE(all.size() == 8);
  for (const auto& g : all) {
    CHECK(g.count == 10);
    CHECK(g.leases.size() == 10);
  }
  CHECK(groups.empty());
}

TEST_CASE("an unsettled table does what a map of tags would do") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random{seed};
    auto pick = [&](std::uint64_t below) { return random() % below; };
    unsettled_table table;
    std::map<std::uint64_t, unsettled_delivery> model;
    std::vector<std::pair<std::uint64_t, outcome>> aside;
    std::map<std::uint64_t, unsettled_delivery> set_aside;
    std::uint64_t next = 1;
    sequence number = 1;

    auto expand = [](const std::vector<settled_run>& runs) {
      std::vector<std::tuple<std::uint32_t, std::uint64_t, sequence, outcome>> all;
      for (const auto& r : runs)
        for (std::uint32_t i = 0; i < r.leases.count; ++i)
          all.emplace_back(r.queue, r.consumer.value, r.leases.first + i, r.leases.how);
      return all;
    };
    auto named = [&](std::uint64_t tag, bool multiple) {
      std::vector<std::uint64_t> tags;
      if (!multiple) {
        tags.push_back(tag);
        return tags;
      }
      for (const auto& [t, d] : model)
        if (tag == 0 || t <= tag) tags.push_back(t);
      return tags;
    };

    for (int i = 0; i < 600; ++i) {
      auto action = pick(10);
      if (action < 5) {
        for (auto n = pick(40); n > 0; --n) {
          if (pick(10) == 0) {
            REQUIRE(table.skip() == next++);
            continue;
          }
          number += pick(4) == 0 ? 2 : 1;
          unsettled_delivery d{number, consumer_id{1 + pick(2)},
                               static_cast<std::uint32_t>(pick(2))};
          REQUIRE(table.record(d) == next);
          model.emplace(next++, d);
        }
      } else if (action < 9) {
        auto tag = pick(next + 2);
        bool multiple = pick(2) == 0;
        auto how = static_cast<outcome>(pick(4));
        bool fine = tag == 0 ? multiple : model.count(tag) > 0;
        auto tags = fine ? named(tag, multiple) : std::vector<std::uint64_t>{};
        if (pick(3) == 0) {
          REQUIRE(static_cast<bool>(table.set_aside(tag, multiple, how)) == fine);
          for (auto t : tags) {
            aside.emplace_back(t, how);
            set_aside.insert(model.extract(t));
          }
        } else {
          collected got;
          REQUIRE(static_cast<bool>(table.settle(tag, multiple, how, got)) == fine);
          decltype(expand({})) expected;
          for (auto t : tags) {
            const auto& d = model.at(t);
            expected.emplace_back(d.queue, d.consumer.value, d.number, how);
            model.erase(t);
          }
          REQUIRE(expand(got.runs) == expected);
        }
      } else if (pick(2) == 0) {
        collected got;
        table.commit(got);
        decltype(expand({})) expected;
        for (auto [t, how] : aside) {
          const auto& d = set_aside.at(t);
          expected.emplace_back(d.queue, d.consumer.value, d.number, how);
        }
        REQUIRE(expand(got.runs) == expected);
        aside.clear();
        set_aside.clear();
      } else {
        table.rollback();
        aside.clear();
        model.merge(set_aside);
      }
      REQUIRE(table.size() == model.size() + set_aside.size());
    }
  }
}
