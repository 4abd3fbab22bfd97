#include "cli/perf/report.hpp"

#include "tests/catch.hpp"

using namespace baton::perf;

TEST_CASE("numbers are shown with thousands separators and three digits below that", "[perf]") {
  CHECK(number_text(0) == "0.00");
  CHECK(number_text(0.061) == "0.061");
  CHECK(number_text(1.234) == "1.23");
  CHECK(number_text(12.34) == "12.3");
  CHECK(number_text(999.4) == "999");
  CHECK(number_text(999.7) == "1,000");
  CHECK(number_text(1234567.8) == "1,234,568");
  CHECK(number_text(-1234.0) == "-1,234");
}

TEST_CASE("durations are shown in the unit that fits", "[perf]") {
  CHECK(duration_text(850) == "850 ns");
  CHECK(duration_text(12'340) == "12.3 us");
  CHECK(duration_text(4'560'000) == "4.56 ms");
  CHECK(duration_text(1'230'000'000) == "1.23 s");
}

TEST_CASE("a report is a table for people and one JSON object for programs", "[perf]") {
  report r;
  r.add("rate_per_second", 1234567.0);
  r.add("count", std::uint64_t{1'000});
  r.add("acks", std::string_view{"say \"10\"\n"});
  r.add_flag("durable", true);
  r.add("ratio", 0.25);
  CHECK(r.as_json() ==
        "{\"rate_per_second\": 1234567, \"count\": 1000, \"acks\": \"say \\\"10\\\"\\u000a\", "
        "\"durable\": true, \"ratio\": 0.25}\n");
  const auto table = r.as_table();
  CHECK(table.starts_with("rate per second  1,234,567\ncount            1,000\n"));
}
