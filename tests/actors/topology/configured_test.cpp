#include "actors/topology/configured.hpp"

#include <string>
#include <vector>

#include "config/load.hpp"
#include "tests/actors/topology/fixture.hpp"
#include "tests/catch.hpp"

using namespace baton;
using lines = std::vector<std::string>;

namespace {

lines written(const mistakes& all) {
  lines made;
  for (const auto& each : all) made.push_back(to_string(each));
  return made;
}

/// A configuration of which each key is good.
settings configured(std::string_view text) {
  auto made = load_text(text, "n.toml");
  REQUIRE(made);
  return *std::move(made);
}

queue_settings queue_at(std::string name, bool durable, std::uint32_t line) {
  queue_settings made;
  made.name = std::move(name);
  made.durable = durable;
  made.where = {"n.toml", line, 1};
  return made;
}

}  // namespace

TEST_CASE("all that a configuration declares and the topology refuses is told at once") {
  const auto outcome = check_configured(configured(R"([[exchange]]
name = "e"
arguments = { alternate-exchange = 5 }
[[queue]]
name = "a"
arguments = { x-expires = 0 }
[[queue]]
name = "b"
[[queue]]
name = "c"
arguments = { x-overflow = "spill" }
[[binding]]
exchange = "amq.headers"
queue = "b"
arguments = { x-match = "some" }
[[binding]]
exchange = "amq.fanout"
queue = "b"
)"));
  REQUIRE(outcome.refused.size() == 4);
  CHECK(outcome.refused[0].where == place{"n.toml", 1, 1});
  CHECK(outcome.refused[1].where == place{"n.toml", 4, 1});
  CHECK_THAT(outcome.refused[1].text, Catch::Matchers::ContainsSubstring("x-expires"));
  CHECK(outcome.refused[2].where == place{"n.toml", 9, 1});
  CHECK_THAT(outcome.refused[2].text, Catch::Matchers::ContainsSubstring("x-overflow"));
  CHECK(outcome.refused[3].where == place{"n.toml", 12, 1});
}

TEST_CASE("a binding of what was refused is not refused as well") {
  const auto outcome = check_configured(configured(R"([[queue]]
name = "a"
arguments = { x-expires = 0 }
[[binding]]
exchange = "amq.fanout"
queue = "a"
)"));
  CHECK(outcome.refused.size() == 1);
}

TEST_CASE("a conflict of two definitions names both places") {
  settings wanted;
  wanted.queues = {queue_at("a", true, 1), queue_at("a", false, 5), queue_at("a", true, 9),
                   queue_at("b", true, 13), queue_at("b", false, 17)};
  CHECK(written(check_configured(wanted).refused) ==
        lines{"n.toml:5:1: inequivalent arg 'durable' for queue 'a' in vhost '/': received 'false' "
              "but current is 'true', which is declared at n.toml:1:1",
              "n.toml:17:1: inequivalent arg 'durable' for queue 'b' in vhost '/': received "
              "'false' but current is 'true', which is declared at n.toml:13:1"});
}

TEST_CASE("a conflict with what is there already says so, and bindings of that are made") {
  topology_publication publication;
  topology_core core{publication, {}, false, [] { return std::array<std::uint8_t, 16>{}; }};
  const auto target = topology_test::fixture::targets();
  settings before, after;
  before.queues = {queue_at("a", true, 1), queue_at("c", false, 2)};
  CHECK(declare_configured(core, before, target).refused.empty());

  after.queues = {queue_at("a", false, 3), queue_at("b", true, 5), queue_at("c", true, 7)};
  after.bindings.emplace_back().exchange = "amq.fanout";
  after.bindings.back().queue = "a";
  const auto outcome = declare_configured(core, after, target);
  CHECK(written(outcome.refused) ==
        lines{"n.toml:3:1: inequivalent arg 'durable' for queue 'a' in vhost '/': received 'false' "
              "but current is 'true', which is in the journal",
              "n.toml:7:1: inequivalent arg 'durable' for queue 'c' in vhost '/': received 'true' "
              "but current is 'false', which is on this node"});
  CHECK(core.list_queues().size() == 3);
}

TEST_CASE("unknown arguments of configured things are warnings with their place") {
  const auto outcome =
      check_configured(configured("[[queue]]\nname = \"a\"\narguments = { x-max-lenght = 5 }"));
  CHECK(outcome.refused.empty());
  CHECK(
      written(outcome.warnings) ==
      lines{"n.toml:1:1: unknown argument 'x-max-lenght' for queue 'a' in vhost '/'; did you mean "
            "'x-max-length'?"});
  CHECK(check_configured(configured("[node]\nstrict_arguments = true\n[[queue]]\nname = \"a\"\n"
                                    "arguments = { x-max-lenght = 5 }"))
            .refused.size() == 1);
}
