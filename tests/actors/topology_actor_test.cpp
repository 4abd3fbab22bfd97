#include "actors/topology_actor.hpp"

#include <optional>

#include "actors/node_services.hpp"
#include "actors/runtime/simulated_runtime.hpp"
#include "config/load.hpp"
#include "tests/catch.hpp"

using namespace baton;

TEST_CASE("the queues of a node have the sync policies that it is configured with") {
  simulated_runtime world;
  node_services node{*load_text(R"([journal]
sync = "interval"
[[sync]]
queues = "^log"
sync = "never"
[[queue]]
name = "bills"
[[queue]]
name = "logs"
)",
                                "n.toml"),
                     world};
  std::optional<bool> declared;
  auto topology =
      spawn<topology_actor>(world.at(0), node, recovered_topology{},
                            [&](result<void> outcome) { declared = static_cast<bool>(outcome); });
  REQUIRE(world.run_until_idle());
  REQUIRE(declared == true);
  const auto now = node.publication().latest();
  const auto* here = now->find_vhost("/");
  CHECK(here->find_queue("bills")->sync == sync_policy::interval);
  CHECK(here->find_queue("logs")->sync == sync_policy::never);
  topology = {};
  world.stop();
}
