#include "cli/perf/flow_plan.hpp"

#include "tests/catch.hpp"

using namespace baton::perf;
using names = std::vector<std::string>;

TEST_CASE("patterns name queues and keys", "[perf]") {
  CHECK(fill_pattern("%p-%i", "run", "", 7) == "run-7");
  CHECK(fill_pattern("a.%q.%i.%", "run", "q", 0) == "a.q.0.%");
  CHECK(fill_pattern("100%x", "run", "q", 0) == "100%x");
}

TEST_CASE("by default a flow is one queue and a connection for each client", "[perf]") {
  flow_options options;
  options.producers = 2;
  options.consumers = 3;
  const auto plan = make_plan(options, "run");
  CHECK(plan.exchange.empty());
  CHECK(plan.queues == names{"run-0"});
  CHECK(plan.bindings.empty());
  REQUIRE(plan.connections.size() == 5);
  CHECK(plan.connections[1].producers.at(0).keys == names{"run-0"});
  CHECK(plan.connections[4].consumers.at(0).queues == names{"run-0"});
}

TEST_CASE("few clients share many queues, many clients take turns on few", "[perf]") {
  flow_options options;
  options.queues = 5;
  options.producers = 2;
  options.consumers = 7;
  const auto plan = make_plan(options, "q");
  CHECK(plan.connections[0].producers.at(0).keys == names{"q-0", "q-2", "q-4"});
  CHECK(plan.connections[1].producers.at(0).keys == names{"q-1", "q-3"});
  CHECK(plan.connections[2 + 6].consumers.at(0).queues == names{"q-1"});
}

TEST_CASE("clients can share connections, among themselves and across roles", "[perf]") {
  flow_options options;
  options.fanout = 100;
  options.consumers = 100;
  options.consumer_connections = 10;
  auto plan = make_plan(options, "run");
  CHECK(plan.connections.size() == 11);
  CHECK(plan.connections[1].consumers.size() == 10);

  options = {};
  options.queues = options.producers = options.consumers = 4;
  options.shared_connections = true;
  plan = make_plan(options, "run");
  REQUIRE(plan.connections.size() == 4);
  CHECK(plan.connections[3].producers.at(0).keys == plan.connections[3].consumers.at(0).queues);
}

TEST_CASE("a fan-out binds every queue to one fanout exchange", "[perf]") {
  flow_options options;
  options.fanout = 3;
  options.consumers = 3;
  const auto plan = make_plan(options, "run");
  CHECK(plan.exchange == "run-fanout");
  CHECK(plan.exchange_type == "fanout");
  CHECK(plan.queues.size() == 3);
  CHECK(plan.bindings.size() == 3);
  CHECK(plan.deliveries_per_publish == 3);
  CHECK(plan.connections[0].producers.at(0).keys == names{""});
}

TEST_CASE("an exchange's queues are bound and published to by key patterns", "[perf]") {
  flow_options options;
  options.exchange = "amq.topic";
  options.queues = 2;
  options.key_pattern = "a.%i.z";
  options.binding_pattern = "a.%i.*";
  const auto plan = make_plan(options, "run");
  CHECK(plan.bindings[1] == std::pair<std::string, std::string>{"run-1", "a.1.*"});
  CHECK(plan.connections[0].producers.at(0).keys == names{"a.0.z", "a.1.z"});
  CHECK(plan.connections[0].producers.at(0).exchange == "amq.topic");
}

TEST_CASE("a flow without consumers expects no deliveries", "[perf]") {
  flow_options options;
  options.consumers = 0;
  const auto plan = make_plan(options, "run");
  CHECK(plan.deliveries_per_publish == 0);
  CHECK(plan.connections.size() == 1);
}
