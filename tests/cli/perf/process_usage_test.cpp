#include "cli/perf/process_usage.hpp"

#include <unistd.h>

#include "tests/catch.hpp"

using namespace baton::perf;

TEST_CASE("CPU times are found behind a command name with spaces and parentheses", "[perf]") {
  const auto usage = parse_stat(
      "4321 (beam (smp) x) S 1 4321 4321 0 -1 4194304 9 0 0 0 250 150 0 0 20 0 24 0 99 1 2 3\n",
      100);
  REQUIRE(usage);
  CHECK((*usage).user_seconds == 2.5);
  CHECK((*usage).system_seconds == 1.5);
  CHECK((*usage).cpu_seconds() == 4.0);
}

TEST_CASE("a stat text that is cut anywhere before its CPU times is refused", "[perf]") {
  const std::string_view whole = "1 (a) S 1 1 1 0 -1 4 9 0 0 0 250 150";
  REQUIRE(parse_stat(whole, 100));
  for (std::size_t length = 0; length < whole.size() - 3; ++length)
    CHECK_FALSE(parse_stat(whole.substr(0, length), 100));
  CHECK_FALSE(parse_stat("1 (a) S 1 1 1 0 -1 4 9 0 0 0 x 150", 100));
}

TEST_CASE("memory comes from the lines VmHWM and VmRSS of a status text", "[perf]") {
  const auto usage = parse_status(
      "Name:\tVmRSS: 7 kB\nVmPeak:\t  900 kB\nVmHWM:\t  512 kB\nVmRSS:\t  256 kB\n", {});
  REQUIRE(usage);
  CHECK((*usage).resident_bytes == 256 * 1024);
  CHECK((*usage).peak_resident_bytes == 512 * 1024);
  CHECK_FALSE(parse_status("Name:\tkthreadd\n", {}));
  CHECK_FALSE(parse_status("VmHWM:\nVmRSS:\n", {}));
}

TEST_CASE("what was written comes from the line write_bytes, not from those that end like it") {
  const auto usage = parse_io(
      "rchar: 1\nwchar: 2\nread_bytes: 3\nwrite_bytes: 4096\ncancelled_write_bytes: 5\n", {});
  REQUIRE(usage);
  CHECK((*usage).written_bytes == 4096);
  CHECK_FALSE(parse_io("rchar: 1\ncancelled_write_bytes: 5\n", {}));
  CHECK_FALSE(parse_io("rchar: 1\nwrite_bytes:\n", {}));
}

TEST_CASE("the usage of a running process can be read, that of no process cannot", "[perf]") {
  const auto own = read_process_usage(getpid());
  REQUIRE(own);
  CHECK((*own).resident_bytes > 0);
  CHECK((*own).peak_resident_bytes >= (*own).resident_bytes);
  CHECK(own_usage().cpu_seconds() > 0);
  CHECK_FALSE(read_process_usage(-1));
}
