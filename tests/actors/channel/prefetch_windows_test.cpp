#include "actors/channel/prefetch_windows.hpp"

#include <functional>
#include <map>
#include <random>

#include "actors/channel/channel_mode.hpp"
#include "actors/channel/transaction.hpp"
#include "tests/catch.hpp"

using namespace baton;

namespace {

using kind = demand_change::kind;
using changes = prefetch_windows::changes;

const consumer_id a{1};
const consumer_id b{2};
const consumer_id c{3};

prefetch_windows windows_of(std::uint32_t shared) {
  prefetch_windows windows{1'000'000};
  changes tell;
  windows.set(shared, true, tell);
  return windows;
}

}  // namespace

TEST_CASE("a window without global is for consumers that start later, one each") {
  prefetch_windows windows{1'000'000};
  changes tell;
  CHECK(windows.for_new_consumer() == 0);
  windows.set(10, false, tell);
  CHECK(tell.empty());
  CHECK(windows.for_new_consumer() == 10);
}

TEST_CASE("without a global window the consumers of a channel share its limit") {
  prefetch_windows windows{10};
  changes tell;
  CHECK(windows.add(a, false) == 10u);
  CHECK(windows.add(b, false) == 0u);
  windows.set(100, true, tell);
  windows.set(0, true, tell);
  CHECK(tell.empty());
  windows.took(a, 10, tell);
  CHECK(tell.empty());
}

TEST_CASE("a wide window is dealt out in portions, the next when half of one is used") {
  prefetch_windows windows{1'000'000};
  changes tell;
  CHECK(windows.add(a, false) == 4096u);
  CHECK(windows.add(b, false) == 4096u);
  windows.took(a, 2047, tell);
  CHECK(tell.empty());
  windows.took(a, 1, tell);
  CHECK(tell == changes{{a, kind::more, 2048}});
}

TEST_CASE("a global window holds for running consumers at once, and counts what they have") {
  prefetch_windows windows{1'000'000};
  changes tell;
  windows.add(a, false);
  windows.took(a, 3, tell);
  windows.set(5, true, tell);
  CHECK(tell == changes{{a, kind::offer, 0}});
  CHECK(windows.narrowing());
  windows.took(a, 1, tell);  // was on its way
  tell.clear();
  windows.given_back(a, 4092, tell);
  CHECK(!windows.narrowing());
  CHECK(tell.empty());
  CHECK(windows.add(b, false) == 1u);
}

TEST_CASE("what is dealt out is never more than the window, and settling gives new demand") {
  auto windows = windows_of(4);
  changes tell;
  CHECK(windows.add(a, false) == 4u);
  CHECK(windows.add(b, false) == 0u);
  windows.took(a, 4, tell);
  CHECK(tell.empty());
  windows.settled(1, tell);
  CHECK(tell == changes{{a, kind::more, 1}});
}

TEST_CASE("a consumer that is short of demand gets what lies idle with another") {
  auto windows = windows_of(4);
  changes tell;
  windows.add(a, false);
  windows.add(b, false);
  windows.short_of_demand(b, tell);
  CHECK(tell == changes{{a, kind::offer, 0}});
  tell.clear();
  windows.took(a, 1, tell);
  CHECK(tell.empty());
  windows.given_back(a, 3, tell);
  CHECK(tell == changes{{b, kind::more, 2}});
  CHECK(windows.unsettled() == 1);
}

TEST_CASE("consumers that are short of demand are served in the order in which they said so") {
  auto windows = windows_of(1);
  changes tell;
  windows.add(a, false);
  windows.add(b, false);
  windows.add(c, false);
  windows.took(a, 1, tell);
  windows.short_of_demand(c, tell);
  windows.short_of_demand(b, tell);
  windows.short_of_demand(a, tell);
  windows.short_of_demand(c, tell);
  CHECK(tell.empty());
  for (auto next : {c, b}) {
    windows.settled(1, tell);
    CHECK(tell == changes{{next, kind::offer, 1}});
    tell.clear();
    windows.took(next, 1, tell);
    windows.given_back(next, 0, tell);
  }
  windows.settled(1, tell);
  CHECK(tell == changes{{a, kind::more, 1}});
  tell.clear();
  windows.took(a, 1, tell);
  windows.settled(1, tell);
  CHECK(tell == changes{{a, kind::more, 1}});  // nobody waits: whoever had the last one
}

TEST_CASE("what a consumer leaves behind goes to those who wait") {
  auto windows = windows_of(2);
  changes tell;
  windows.add(a, false);
  windows.add(b, false);
  windows.short_of_demand(b, tell);
  tell.clear();
  SECTION("while it is recalled") { windows.remove(a, tell); }
  SECTION("and a late answer does nothing") {
    windows.remove(a, tell);
    windows.given_back(a, 2, tell);
  }
  CHECK(tell == changes{{b, kind::more, 2}});
}

TEST_CASE("a consumer that has left no longer waits") {
  auto windows = windows_of(1);
  changes tell;
  windows.add(a, false);
  windows.took(a, 1, tell);
  windows.add(b, false);
  windows.short_of_demand(b, tell);
  windows.remove(b, tell);
  windows.settled(1, tell);
  CHECK(tell == changes{{a, kind::more, 1}});
}

TEST_CASE("a full global window holds a no-ack consumer too, whose messages do not count") {
  auto windows = windows_of(2);
  changes tell;
  CHECK(windows.add(a, false) == 2u);
  CHECK(windows.add(b, true) == std::nullopt);
  windows.took(b, 50, tell);
  CHECK(windows.unsettled() == 0);
  windows.took(a, 2, tell);
  CHECK(tell == changes{{b, kind::none}});
  CHECK(windows.add(c, true) == 0u);
  tell.clear();
  windows.settled(1, tell);
  CHECK(tell == changes{{a, kind::more, 1}, {b, kind::any}, {c, kind::any}});
}

TEST_CASE("a wider window serves those who wait at once") {
  auto windows = windows_of(1);
  changes tell;
  windows.add(a, false);
  windows.took(a, 1, tell);
  windows.short_of_demand(a, tell);
  windows.set(0, true, tell);
  CHECK(tell == changes{{a, kind::more, 4096}});
}

namespace {

/// Queues as `prefetch_windows` sees them: they use demand, say when they lack it, answer recalls.
struct queues_model {
  struct queue {
    std::uint64_t ready = 0;
    std::uint64_t demand = 0;
    bool told = false;
    std::vector<demand_change> arriving;
    std::vector<std::function<void(changes&)>> leaving;
  };
  std::map<consumer_id, queue> of;
};

}  // namespace

TEST_CASE("the global window is never exceeded and no message waits for ever") {
  for (std::uint32_t seed = 1; seed <= 500; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random{seed};
    const std::uint32_t window = 1 + random() % 20;
    auto windows = windows_of(window);
    changes tell;
    queues_model queues;
    const auto consumers = 1 + random() % 4;
    for (std::uint64_t id = 1; id <= consumers; ++id)
      queues.of[consumer_id{id}].demand = windows.add(consumer_id{id}, false).value();
    std::uint32_t unsettled = 0;
    auto settle = [&](std::uint32_t n) {
      unsettled -= n;
      windows.settled(n, tell);
    };
    auto step = [&](consumer_id who) {
      auto& q = queues.of[who];
      if (!q.leaving.empty() && random() % 2 == 0) {
        auto first = std::move(q.leaving.front());
        q.leaving.erase(q.leaving.begin());
        first(tell);
      } else if (!q.arriving.empty() && random() % 2 == 0) {
        auto change = q.arriving.front();
        q.arriving.erase(q.arriving.begin());
        q.told = false;
        q.demand += change.messages;
        if (change.how == kind::offer) {
          // As the queue does it: it uses what it can before it answers.
          if (auto n = static_cast<std::uint32_t>(std::min(q.ready, q.demand)); n > 0) {
            q.ready -= n;
            q.demand -= n;
            q.leaving.push_back([&, who, n](changes& t) {
              unsettled += n;
              windows.took(who, n, t);
            });
          }
          auto unused = static_cast<std::uint32_t>(std::exchange(q.demand, 0));
          q.leaving.push_back([&, who, unused](changes& t) { windows.given_back(who, unused, t); });
        }
      } else if (q.ready > 0 && q.demand > 0) {
        auto n = static_cast<std::uint32_t>(1 + random() % std::min(q.ready, q.demand));
        q.ready -= n;
        q.demand -= n;
        q.leaving.push_back([&, who, n](changes& t) {
          unsettled += n;
          windows.took(who, n, t);
        });
      } else if (q.ready > 0 && !std::exchange(q.told, true)) {
        q.leaving.push_back([&, who](changes& t) { windows.short_of_demand(who, t); });
      }
      for (const auto& change : std::exchange(tell, {}))
        queues.of[change.consumer].arriving.push_back(change);
      REQUIRE(unsettled <= window);
      REQUIRE(windows.unsettled() == unsettled);
    };
    for (int i = 0; i < 300; ++i) {
      auto who = consumer_id{1 + random() % consumers};
      if (random() % 4 == 0) queues.of[who].ready += random() % 5;
      if (unsettled > 0 && random() % 4 == 0) settle(1 + random() % unsettled);
      step(who);
    }
    for (int i = 0; i < 5000; ++i) {
      if (unsettled > 0 && random() % 4 == 0) settle(1 + random() % unsettled);
      step(consumer_id{1 + random() % consumers});
    }
    for (const auto& [id, q] : queues.of) CHECK(q.ready == 0);
  }
}

TEST_CASE("confirms and transactions exclude each other on an AMQP channel") {
  channel_mode mode;
  CHECK(mode.need_transaction().reason() == "channel is not transactional");
  SECTION("confirms first") {
    REQUIRE(mode.select_confirm());
    CHECK(mode.select_confirm());
    CHECK(mode.select_transaction().reason() == "cannot switch from confirm to tx mode");
    CHECK(mode.confirms());
  }
  SECTION("a transaction first") {
    REQUIRE(mode.select_transaction());
    CHECK(mode.select_transaction());
    CHECK(mode.select_confirm().reason() == "cannot switch from tx to confirm mode");
    CHECK(mode.need_transaction());
  }
}

TEST_CASE("a transaction keeps publishes in order, to its limit, until commit or rollback") {
  transaction<int> tx{100};
  CHECK(tx.fits(100));
  CHECK(!tx.fits(101));
  CHECK(!tx.fits(90, 11));
  CHECK(!tx.fits(~std::uint64_t{0}));
  tx.add(1, 60);
  tx.add(2, 40);
  CHECK(!tx.fits(1));
  CHECK(tx.commit() == std::vector<int>{1, 2});
  CHECK(tx.committing());
  tx.committed();
  CHECK(tx.bytes() == 0);
  tx.add(3, 10);
  tx.rollback();
  CHECK(tx.size() == 0);
  CHECK(tx.commit().empty());
}
