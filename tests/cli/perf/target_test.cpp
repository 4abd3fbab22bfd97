#include "cli/perf/target.hpp"

#include "tests/catch.hpp"

using namespace baton::perf;

TEST_CASE("a URI names host, port, login and virtual host", "[perf]") {
  const auto to = parse_uri("amqp://us%40er:p%3Ass@example:5673/north%2Feast");
  REQUIRE(to);
  CHECK((*to).user == "us@er");
  CHECK((*to).password == "p:ss");
  CHECK((*to).host == "example");
  CHECK((*to).port == 5673);
  CHECK((*to).virtual_host == "north/east");
  CHECK_FALSE((*to).relay);
}

TEST_CASE("what a URI leaves out has its usual value", "[perf]") {
  for (const auto* uri :
       {"amqp://127.0.0.1", "amqp://127.0.0.1/", "amqp://guest:guest@:5672/%2F"}) {
    const auto to = parse_uri(uri);
    REQUIRE(to);
    CHECK((*to).host == "127.0.0.1");
    CHECK((*to).port == 5672);
    CHECK((*to).user == "guest");
    CHECK((*to).virtual_host == "/");
  }
}

TEST_CASE("an IPv6 host is written in brackets", "[perf]") {
  const auto to = parse_uri("amqp://[::1]:5673");
  REQUIRE(to);
  CHECK((*to).host == "::1");
  CHECK((*to).port == 5673);
}

TEST_CASE("a relay's output is on its next port", "[perf]") {
  const auto to = parse_uri("relay://127.0.0.1:7000");
  REQUIRE(to);
  CHECK((*to).relay);
  const auto resolved = resolve(*to);
  REQUIRE(resolved);
  CHECK(relay_output(*resolved).port == 7001);
}

TEST_CASE("a URI that cannot be meant is refused with its text", "[perf]") {
  for (const auto* uri : {"http://host", "host:5672", "amqp://h:0", "amqp://h:99999", "amqp://h:x",
                          "amqp://u:%zz@h", "amqp://u:%4", "amqp://[::1", "amqp://h/%"}) {
    const auto to = parse_uri(uri);
    REQUIRE_FALSE(to);
    CHECK(to.reason().text.starts_with(uri));
  }
}
