#include "actors/support/repeat_limiter.hpp"
#include "tests/catch.hpp"

using namespace baton;
using namespace std::chrono_literals;

TEST_CASE("lines of a kind are left out beyond their limit and counted in the next interval") {
  repeat_limiter limiter{2, 1min};
  repeat_limiter::time_point now{};
  CHECK(limiter.admit("refused", now) == 0u);
  CHECK(limiter.admit("refused", now) == 0u);
  CHECK(limiter.admit("refused", now + 1s) == std::nullopt);
  CHECK(limiter.admit("refused", now + 59s) == std::nullopt);
  CHECK(limiter.admit("other", now + 59s) == 0u);
  CHECK(limiter.admit("refused", now + 60s) == 2u);
  CHECK(limiter.admit("refused", now + 61s) == 0u);
}

TEST_CASE("a limit of nothing leaves no line out") {
  repeat_limiter limiter{0, 1min};
  for (int i = 0; i < 100; ++i) CHECK(limiter.admit("any", {}) == 0u);
}
