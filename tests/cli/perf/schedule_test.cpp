#include "cli/perf/schedule.hpp"

#include "tests/catch.hpp"

using baton::perf::schedule;

TEST_CASE("nothing is due before a schedule starts, and one message when it does", "[perf]") {
  const schedule s{1000, 5'000'000};
  CHECK(s.due_by(0) == 0);
  CHECK(s.due_by(4'999'999) == 0);
  CHECK(s.due_by(5'000'000) == 1);
  CHECK(s.due_by(5'999'999) == 1);
  CHECK(s.due_by(6'000'000) == 2);
}

TEST_CASE("a schedule does not move when its sender was late", "[perf]") {
  const schedule s{10'000, 0};
  CHECK(s.due_by(1'000'000'000) == 10'001);
  CHECK(s.due_at(10'000) == 1'000'000'000);
  CHECK(s.due_at(3) == 300'000);
}

TEST_CASE("a message counts as due exactly from its due time on, for any rate", "[perf]") {
  for (const double rate : {0.5, 3.0, 7.0, 999.0, 1'000.0, 30'000.0, 1'234'567.0}) {
    const schedule s{rate, 77};
    for (std::uint64_t n = 0; n < 2000; n += 13) {
      const auto due = s.due_at(n);
      CHECK(s.due_by(due) >= n + 1);
      if (n > 0) CHECK(s.due_by(s.due_at(n - 1)) <= n + 1);
      CHECK(s.due_by(due - 1) <= n);
    }
  }
}
