#include "actors/topology/sync_rules.hpp"

#include "config/load.hpp"
#include "tests/actors/topology/fixture.hpp"

namespace baton {
namespace {

using namespace topology_test;

sync_rules rules(std::string_view configured) {
  return sync_rules{load_text(configured, "n.toml").value()};
}

TEST_CASE("a queue's sync policy is that of the first table that names it, else the journal's") {
  const auto configured = rules(R"([journal]
sync = "interval"
[[vhost]]
name = "other"
[[sync]]
queues = "^log"
sync = "never"
[[sync]]
queues = "^logins$"
sync = "always"
[[sync]]
queues = "bill"
sync = "always"
[[sync]]
vhost = "other"
queues = ".*"
sync = "never"
)");
  CHECK(configured.of("/", "log.a") == sync_policy::never);
  CHECK(configured.of("/", "logins") == sync_policy::never);  // the table above holds already
  CHECK(configured.of("/", "my.bills") == sync_policy::always);
  CHECK(configured.of("/", "a.log") == sync_policy::interval);
  CHECK(configured.of("other", "bill") == sync_policy::never);
  CHECK(configured.of("third", "bill") == sync_policy::interval);
  CHECK(sync_rules{}.of("/", "q") == sync_policy::always);
}

TEST_CASE("a queue carries its sync policy from its declaration on") {
  fixture t;
  topology_core core{
      t.publication, {}, false, [&t] { return t.random(); }, rules("[journal]\nsync = \"never\"")};
  const auto vhost = core.add_vhost("/").value();
  const auto made =
      core.declare_queue(t.who, {vhost, "q", false, true, false, false, {}}, t.targets());
  CHECK(made->queue->sync == sync_policy::never);
  CHECK(t.queue("q")->sync == sync_policy::always);
}

TEST_CASE("a durable queue stores persistent messages, a quorum queue or a stream every one") {
  queue_entry queue;
  CHECK(queue.stores(true));
  CHECK_FALSE(queue.stores(false));
  for (const auto type : {queue_type::quorum, queue_type::stream}) {
    queue.arguments.type = type;
    CHECK(queue.stores(true));
    CHECK(queue.stores(false));
  }
  queue.arguments.type = queue_type::classic;
  queue.owner = connection_id{1};
  CHECK_FALSE(queue.stores(true));
  queue.owner.reset();
  queue.durable = false;
  CHECK_FALSE(queue.stores(true));
}

}  // namespace
}  // namespace baton
