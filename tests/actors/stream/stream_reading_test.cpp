#include "actors/stream/stream_reading.hpp"

#include "actors/topology/age.hpp"
#include "tests/catch.hpp"
#include "transport/amqp091/field_table.hpp"

namespace baton {

namespace {

constexpr std::uint64_t now_ms = 1'700'000'000'000;

result<stream_reading> parse(const field_table& table) {
  amqp091::output_buffer out;
  amqp091::encode_table(out, table);
  return parse_stream_reading(out.view().subspan(4), now_ms);
}

result<stream_reading> parse(const char* name, field_value value) {
  return parse({{name, std::move(value)}});
}

using kind = stream_start::kind;

}  // namespace

TEST_CASE("a reader of a stream that says nothing begins with what comes next", "[stream]") {
  CHECK(*parse({}) == stream_reading{});
  CHECK(parse({})->start.from == kind::next);
}

TEST_CASE("an offset in a stream is a word, a number, a time or an age", "[stream]") {
  const auto start = [](field_value value) { return parse("x-stream-offset", value)->start; };
  CHECK(start({std::string{"first"}}) == stream_start{kind::first});
  CHECK(start({std::string{"last"}}) == stream_start{kind::last});
  CHECK(start({std::string{"next"}}) == stream_start{kind::next});
  CHECK(start({integer_value{17}}) == stream_start{kind::offset, 17});
  CHECK(start({integer_value{0, integer_width::i8}}) == stream_start{kind::offset, 0});
  CHECK(start({timestamp_value{5}}) == stream_start{kind::time, 5000});
  CHECK(start({std::string{"1h"}}) == stream_start{kind::time, now_ms - 3'600'000});
  CHECK(start({std::string{"900Y"}}) == stream_start{kind::time, 0});
}

TEST_CASE("a wrong argument of a stream's reader is named, with what was expected", "[stream]") {
  for (const auto& value : std::vector<field_value>{{std::string{"yesterday"}},
                                                    {std::string{}},
                                                    {std::string{"h"}},
                                                    {std::string{"0h"}},
                                                    {std::string{"1x"}},
                                                    {std::string{"-1h"}},
                                                    {integer_value{-1}},
                                                    {true},
                                                    {1.5}}) {
    const auto got = parse("x-stream-offset", value);
    REQUIRE_FALSE(got);
    CHECK(got.reason().text.find("'x-stream-offset'") != std::string::npos);
    CHECK(got.reason().text.find("expected first, last, next") != std::string::npos);
  }
  CHECK_FALSE(parse("x-stream-filter", {integer_value{1}}));
  CHECK_FALSE(parse("x-stream-filter", {field_array{}}));
  CHECK_FALSE(parse("x-stream-filter", {field_array{{std::string{"a"}}, {integer_value{1}}}}));
  CHECK_FALSE(parse("x-stream-match-unfiltered", {std::string{"yes"}}));
}

TEST_CASE("a filter of a stream's reader is a string or several", "[stream]") {
  const auto several =
      parse({{"x-stream-filter", {field_array{{std::string{"a"}}, {std::string{"b"}}}}},
             {"x-stream-match-unfiltered", {true}}});
  CHECK(several->filter == std::vector<std::string>{"a", "b"});
  CHECK(several->wants("b"));
  CHECK(several->wants(std::nullopt));
  CHECK_FALSE(several->wants("c"));
  const auto one = parse("x-stream-filter", {std::string{"a"}});
  CHECK(one->filter == std::vector<std::string>{"a"});
  CHECK_FALSE(one->wants(std::nullopt));
}

TEST_CASE("an age is a number above 0 and a unit", "[stream]") {
  using namespace std::chrono_literals;
  CHECK(parse_age("1s") == 1s);
  CHECK(parse_age("2m") == 2min);
  CHECK(parse_age("3h") == 3h);
  CHECK(parse_age("7D") == 24h * 7);
  CHECK(parse_age("1M") == 24h * 30);
  CHECK(parse_age("1000Y") == 24h * 365 * 1000);
  for (const auto* wrong :
       {"", "1", "s", "0s", "1001Y", "99999999999999999999s", "1.5h", "1 h", "+1h"})
    CHECK_FALSE(parse_age(wrong));
}

}  // namespace baton
