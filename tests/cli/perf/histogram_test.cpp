#include "cli/perf/histogram.hpp"

#include "tests/catch.hpp"

using baton::perf::histogram;

TEST_CASE("an empty histogram reports zero everywhere", "[perf]") {
  const histogram h;
  CHECK(h.count() == 0);
  CHECK(h.min() == 0);
  CHECK(h.max() == 0);
  CHECK(h.mean() == 0);
  CHECK(h.percentile(50) == 0);
}

TEST_CASE("a histogram is exact for small values", "[perf]") {
  histogram h;
  for (std::uint64_t v = 1; v <= 100; ++v) h.record(v);
  CHECK(h.percentile(1) == 1);
  CHECK(h.percentile(50) == 50);
  CHECK(h.percentile(99) == 99);
  CHECK(h.percentile(99.9) == 100);
  CHECK(h.percentile(100) == 100);
  CHECK(h.mean() == 50.5);
}

TEST_CASE("a percentile is never below the recorded value and at most 0.8 % above it", "[perf]") {
  for (std::uint64_t v = 1; v < (std::uint64_t{1} << 62); v += v / 3 + 1) {
    histogram h;
    h.record(v, 99);
    h.record(UINT64_MAX);
    const auto reported = h.percentile(50);
    CHECK(reported >= v);
    CHECK(static_cast<double>(reported - v) <= 0.008 * static_cast<double>(v));
  }
}

TEST_CASE("a percentile never exceeds the largest recorded value", "[perf]") {
  histogram h;
  h.record(1'000'003);
  CHECK(h.percentile(50) == 1'000'003);
  CHECK(h.max() == 1'000'003);
  CHECK(h.min() == 1'000'003);
}

TEST_CASE("the largest number fits a histogram", "[perf]") {
  histogram h;
  h.record(UINT64_MAX);
  h.record(0);
  CHECK(h.percentile(50) == 0);
  CHECK(h.percentile(100) == UINT64_MAX);
}

TEST_CASE("merged histograms answer as one that recorded everything", "[perf]") {
  histogram a, b, all;
  for (std::uint64_t v = 1; v < 5'000'000; v = v * 5 / 4 + 1) {
    (v % 2 ? a : b).record(v, v % 7 + 1);
    all.record(v, v % 7 + 1);
  }
  a.merge(b);
  CHECK(a.count() == all.count());
  CHECK(a.min() == all.min());
  CHECK(a.max() == all.max());
  for (const double p : {1.0, 25.0, 50.0, 90.0, 99.0, 99.9})
    CHECK(a.percentile(p) == all.percentile(p));
  a.clear();
  CHECK(a.count() == 0);
  CHECK(a.percentile(99) == 0);
}
