// A queue and its journal against a map of messages, with everything late that can be late.

#include "storage/memory_account.hpp"
#include "tests/actors/queue/stored_life.hpp"

using namespace baton;
using namespace baton::test;

TEST_CASE("a queue and its journal do what a map of messages would do, however late all comes") {
  const auto before = memory_account::total();
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    {
      stored_life one{seed};
      for (int i = 0; i < 300; ++i) one.step();
      one.finish();
    }
    REQUIRE(memory_account::total() == before);
  }
}
