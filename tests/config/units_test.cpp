#include "config/units.hpp"

#include "tests/catch.hpp"

using namespace baton;
using std::chrono::milliseconds;

TEST_CASE("a size may be written in every unit, with and without a space") {
  CHECK(parse_byte_count("4096")->value == 4096);
  CHECK(parse_byte_count("1_000")->value == 1000);
  CHECK(parse_byte_count("7B")->value == 7);
  CHECK(*parse_byte_count("64KiB") == 64_KiB);
  CHECK(*parse_byte_count(" 64 KiB ") == 64_KiB);
  CHECK(parse_byte_count("10MB")->value == 10'000'000);
  CHECK(parse_byte_count("3kB")->value == 3'000);
  CHECK(*parse_byte_count("1GiB") == 1_GiB);
}

TEST_CASE("what is no size, or does not fit 63 bits, is refused") {
  const auto* text = GENERATE("", " ", "KiB", "1kib", "1 K", "-1", "1.5MiB", "_1", "1_", "1__0",
                              "8388608TiB", "9223372036854775808", "99999999999999999999", "1KiB2");
  CAPTURE(text);
  CHECK_FALSE(parse_byte_count(text));
}

TEST_CASE("a duration needs a unit, unless it is 0") {
  CHECK(*parse_duration("100ms") == milliseconds{100});
  CHECK(*parse_duration("10s") == milliseconds{10'000});
  CHECK(*parse_duration("5 min") == milliseconds{300'000});
  CHECK(*parse_duration("2h") == milliseconds{7'200'000});
  CHECK(*parse_duration("1d") == milliseconds{86'400'000});
  CHECK(*parse_duration("0") == milliseconds{0});
  CHECK_FALSE(parse_duration("10"));
  CHECK_FALSE(parse_duration("10 minutes"));
  CHECK_FALSE(parse_duration("36501d"));
}

TEST_CASE("a percentage is at most 100%") {
  CHECK(parse_percent("60%")->value == 60);
  CHECK(parse_percent("100%")->value == 100);
  CHECK_FALSE(parse_percent("101%"));
  CHECK_FALSE(parse_percent("60"));
  CHECK_FALSE(parse_percent("0.6"));
}

TEST_CASE("a part of the largest size does not overflow") {
  CHECK(percent{25}.of(1_GiB) == 256_MiB);
  CHECK(percent{60}.of({10}) == 6_B);
  CHECK(percent{100}.of({~0ull}).value == ~0ull);
}

TEST_CASE("a size is written with the largest unit that keeps it exact, and reads back") {
  CHECK(to_string(0_B) == "0");
  CHECK(to_string(128_KiB) == "128KiB");
  CHECK(to_string(10'000'000_B) == "10MB");
  CHECK(to_string(1025_B) == "1025B");
  const auto size =
      GENERATE(0_B, 1_B, 999_B, 1000_B, 1024_B, 4096_B, 1_GiB, 1'500'000_B, 512_MiB, 65536_GiB);
  CHECK(*parse_byte_count(to_string(size)) == size);
}

TEST_CASE("a duration is written with the largest unit that keeps it exact, and reads back") {
  CHECK(to_string(milliseconds{90'000}) == "90s");
  CHECK(to_string(milliseconds{60'000}) == "1min");
  const auto duration = milliseconds{GENERATE(0, 1, 1000, 1500, 60'000, 3'600'000, 86'400'000)};
  CHECK(*parse_duration(to_string(duration)) == duration);
}
