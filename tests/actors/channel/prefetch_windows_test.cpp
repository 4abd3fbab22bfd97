#include "actors/channel/prefetch_windows.hpp"

#include <map>
#include <random>

#include "actors/channel/channel_mode.hpp"
#include "actors/channel/transaction.hpp"
#include "tests/catch.hpp"

using namespace baton;

namespace {

const consumer_id a{1};
const consumer_id b{2};

}  // namespace

TEST_CASE("a window without global is for consumers that start later, one each") {
  prefetch_windows windows;
  prefetch_windows::changes tell;
  CHECK(windows.for_new_consumer() == 0);
  CHECK(windows.add(a, false) == std::nullopt);
  windows.set(10, false, tell);
  CHECK(tell.empty());
  CHECK(windows.for_new_consumer() == 10);
  CHECK(windows.admit(a, 1000, tell) == 1000);
}

TEST_CASE("a global window holds for running consumers at once, and counts what they have") {
  prefetch_windows windows;
  prefetch_windows::changes tell;
  windows.add(a, false);
  CHECK(windows.admit(a, 3, tell) == 3);
  windows.set(5, true, tell);
  CHECK(tell == prefetch_windows::changes{{a, true, 2}});
  CHECK(windows.add(b, false) == 2u);
}

TEST_CASE("what exceeds the global window is not admitted, and settling gives new demand") {
  prefetch_windows windows;
  prefetch_windows::changes tell;
  windows.set(4, true, tell);
  CHECK(windows.add(a, false) == 4u);
  CHECK(windows.add(b, false) == 4u);
  CHECK(windows.admit(a, 4, tell) == 4);
  CHECK(windows.admit(b, 4, tell) == 0);
  CHECK(tell.empty());
  windows.settled(1, tell);
  CHECK(tell == prefetch_windows::changes{{a, false, 1}, {b, false, 1}});
  tell.clear();
  CHECK(windows.admit(b, 1, tell) == 1);
  CHECK(windows.admit(a, 1, tell) == 0);
  CHECK(windows.unsettled() == 4);
}

TEST_CASE("a full global window holds a no-ack consumer too, whose messages do not count") {
  prefetch_windows windows;
  prefetch_windows::changes tell;
  windows.set(2, true, tell);
  CHECK(windows.add(a, false) == 2u);
  CHECK(windows.add(b, true) == std::nullopt);
  CHECK(windows.admit(b, 50, tell) == 50);
  CHECK(windows.unsettled() == 0);
  CHECK(windows.admit(a, 2, tell) == 2);
  CHECK(tell == prefetch_windows::changes{{b, true, 0}});
  tell.clear();
  windows.settled(1, tell);
  CHECK(tell == prefetch_windows::changes{{a, false, 1}, {b, true, std::nullopt}});
}

TEST_CASE("a global window of 0 lets everybody go") {
  prefetch_windows windows;
  prefetch_windows::changes tell;
  windows.set(2, true, tell);
  windows.add(a, false);
  windows.set(0, true, tell);
  CHECK(tell == prefetch_windows::changes{{a, true, std::nullopt}});
  CHECK(windows.admit(a, 100, tell) == 100);
}

TEST_CASE("the global window is never exceeded and no consumer is left without demand for ever") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random{seed};
    prefetch_windows windows;
    prefetch_windows::changes tell;
    const std::uint32_t window = 1 + random() % 20;
    windows.set(window, true, tell);
    // What the queues have been told; they use it up some time later.
    std::map<consumer_id, std::uint64_t> demand;
    const auto consumers = 1 + random() % 4;
    for (std::uint64_t id = 1; id <= consumers; ++id)
      demand[consumer_id{id}] = windows.add(consumer_id{id}, false).value();
    std::uint32_t unsettled = 0;
    auto pass_on = [&] {
      for (const auto& change : tell)
        demand[change.consumer] =
            (change.set ? 0 : demand[change.consumer]) + change.messages.value();
      tell.clear();
    };
    for (int i = 0; i < 300; ++i) {
      auto who = consumer_id{1 + random() % consumers};
      if (demand[who] > 0) {
        auto leases = static_cast<std::uint32_t>(1 + random() % demand[who]);
        demand[who] -= leases;
        unsettled += windows.admit(who, leases, tell);
      } else if (unsettled > 0) {
        auto n = static_cast<std::uint32_t>(1 + random() % unsettled);
        unsettled -= n;
        windows.settled(n, tell);
      }
      pass_on();
      REQUIRE(unsettled <= window);
      REQUIRE(windows.unsettled() == unsettled);
      for (const auto& [id, n] : demand) REQUIRE((n > 0 || unsettled == window));
    }
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
