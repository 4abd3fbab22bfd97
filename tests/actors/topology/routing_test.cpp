#include <thread>

#include "tests/actors/topology/fixture.hpp"

namespace baton {
namespace {

using namespace topology_test;

TEST_CASE("the default exchange routes to the queue that the key names") {
  fixture t;
  t.queue("invoices");
  REQUIRE(t.routed("", "invoices") == names{"invoices"});
  REQUIRE(t.routed("", "invoice").empty());
}

TEST_CASE("a message goes to a queue once, however many keys and bindings lead there") {
  fixture t;
  t.exchange("e", "direct");
  t.queue("q");
  t.queue("r");
  t.bind("e", "q", "a");
  t.bind("e", "q", "b");
  t.bind("e", "q", "a", {{"x", number(1)}});
  t.bind("e", "r", "b");
  REQUIRE(t.routed("e", "a") == names{"q"});
  REQUIRE(t.routed("e", "a", {}, {"b", "a"}) == names{"q", "r"});
  REQUIRE(t.routed("", "q", {}, {"r", "q", "none"}) == names{"q", "r"});
}

TEST_CASE("a queue stays bound until its last binding of a key goes") {
  fixture t;
  t.exchange("e", "direct");
  t.queue("q");
  t.bind("e", "q", "a");
  t.bind("e", "q", "a");  // the same once more
  t.bind("e", "q", "a", {{"x", number(1)}});
  t.unbind("e", "q", "a");
  REQUIRE(t.routed("e", "a") == names{"q"});
  t.unbind("e", "q", "a", {{"x", number(1, integer_width::i64)}});  // the width does not matter
  REQUIRE(t.routed("e", "a").empty());
}

TEST_CASE("topic patterns match as RabbitMQ matches them") {
  struct example {
    const char* pattern;
    names match;
    names no_match;
  };
  const example examples[] = {
      {"*", {"a"}, {"", "a.b", "."}},
      {"#", {"", "a", ".", "a.b.c"}, {}},
      {"#.#", {"", "a", ".", "a.b.c"}, {}},
      {"*.#", {"a", "a.b", ".", "a."}, {""}},
      {"#.*", {"a", "a.b", "."}, {""}},
      {"a.#", {"a", "a.", "a.x.y"}, {"", "b", "ab", ".a"}},
      {"*.*", {".", "a.", ".b", "a.b"}, {"", "a", "a.b.c"}},
      {"", {""}, {".", "a"}},
      {"a*", {"a*"}, {"a", "ab"}},
      {"a..b", {"a..b"}, {"a.b", "a.x.b"}},
      {"a.*.b", {"a..b", "a.x.b"}, {"a.b", "a.x.y.b"}},
      {"#.b.#", {"b", "a.b", "b.c", "a.b.c", "b.b"}, {"", "a", "a.c"}},
      {"#.a.#.a.#", {"a.a", "x.a.y.a.z"}, {"a", "a.b"}},
      {"*.b.#.d", {"a.b.d", "a.b.c.d", "a.b.c.c.d"}, {"b.d", "a.b.d.c"}},
  };
  for (const example& each : examples) {
    fixture t;
    t.exchange("e", "topic");
    t.queue("q");
    t.bind("e", "q", each.pattern);
    for (const std::string& key : each.match) {
      INFO(each.pattern << " and " << key);
      REQUIRE(t.routed("e", key) == names{"q"});
    }
    for (const std::string& key : each.no_match) {
      INFO(each.pattern << " and " << key);
      REQUIRE(t.routed("e", key).empty());
    }
    t.unbind("e", "q", each.pattern);
    for (const std::string& key : each.match) REQUIRE(t.routed("e", key).empty());
  }
}

TEST_CASE("a pattern of many '#' costs no more than its prefixes times the words of the key") {
  fixture t;
  t.exchange("e", "topic");
  t.queue("q");
  std::string pattern = "#", key = "a";
  for (int i = 0; i < 40; ++i) {
    pattern += ".a.#";
    key += ".a";
  }
  t.bind("e", "q", pattern + ".b");
  REQUIRE(t.routed("e", key).empty());  // 3^40 alternatives, were they tried one by one
  REQUIRE(t.routed("e", key + ".b") == names{"q"});
}

TEST_CASE("headers exchanges compare as RabbitMQ 3.10 compares") {
  struct example {
    field_table wanted;
    field_table given;
    bool match;
  };
  const auto mode = [](const char* of) { return std::pair{std::string{"x-match"}, text(of)}; };
  const field_value nothing{void_value{}};
  const example examples[] = {
      {{}, {}, true},  // all of nothing
      {{mode("all")}, {}, true},
      {{mode("any")}, {{"a", number(1)}}, false},
      {{{"a", number(1)}}, {{"a", number(1)}}, true},
      {{{"a", number(1)}, {"b", number(2)}}, {{"a", number(1)}}, false},
      {{mode("any"), {"a", number(1)}, {"b", number(2)}}, {{"a", number(1)}}, true},
      {{mode("any"), {"a", number(1)}}, {{"a", number(2)}}, false},
      {{{"a", nothing}}, {{"a", text("whatever")}}, true},
      {{{"a", nothing}}, {}, false},
      {{{"a", number(1)}}, {{"a", number(1, integer_width::i64)}}, true},
      {{{"a", number(1)}}, {{"a", {1.0}}}, true},
      {{{"a", number(1)}}, {{"a", {1.5}}}, false},
      {{{"a", {1.5f}}}, {{"a", {1.5}}}, true},
      {{{"a", number(5)}}, {{"a", {timestamp_value{5}}}}, true},
      {{{"a", number(9007199254740993, integer_width::i64)}}, {{"a", {9007199254740992.0}}}, false},
      {{{"a", number(1)}}, {{"a", text("1")}}, false},
      {{{"a", number(1)}}, {{"a", {true}}}, false},
      {{{"a", text("v")}}, {{"a", {binary_value{"v"}}}}, true},
      {{{"x-a", number(1)}}, {}, true},  // x- is not looked at
      {{mode("all-with-x"), {"x-a", number(1)}}, {}, false},
      {{mode("all-with-x"), {"x-a", number(1)}}, {{"x-a", number(1)}}, true},
      {{mode("any-with-x"), {"x-a", number(1)}}, {{"x-a", number(1)}}, true},
      {{mode("any"), {"x-a", number(1)}}, {{"x-a", number(1)}}, false},
  };
  int at = 0;
  for (const example& each : examples) {
    INFO("example " << at++);
    fixture t;
    t.exchange("e", "headers");
    t.queue("q");
    t.bind("e", "q", "", each.wanted);
    REQUIRE(t.routed("e", "ignored", each.given).empty() != each.match);
  }
}

TEST_CASE("a message passes exchanges that are bound in a circle once each") {
  fixture t;
  for (const char* name : {"a", "b", "c"}) t.exchange(name, "fanout");
  t.bind_exchange("a", "b");
  t.bind_exchange("b", "c");
  t.bind_exchange("c", "a");
  t.bind_exchange("c", "c");
  t.queue("q");
  t.queue("r");
  t.bind("a", "q");
  t.bind("c", "q");
  t.bind("c", "r");
  for (const char* name : {"a", "b", "c"}) REQUIRE(t.routed(name, "") == names{"q", "r"});
}

TEST_CASE("the alternate exchange takes what an exchange leads nowhere") {
  fixture t;
  t.exchange("first", "direct", {{"alternate-exchange", text("second")}});
  t.exchange("second", "direct", {{"alternate-exchange", text("third")}});
  t.exchange("third", "direct", {{"alternate-exchange", text("first")}});  // a circle
  t.queue("q1");
  t.queue("q3");
  t.bind("first", "q1", "one");
  t.bind("third", "q3", "three");
  REQUIRE(t.routed("first", "one") == names{"q1"});
  REQUIRE(t.routed("first", "three") == names{"q3"});
  REQUIRE(t.routed("first", "none").empty());

  SECTION("an exchange as destination counts as somewhere") {
    t.exchange("silent", "fanout");
    t.bind_exchange("first", "silent", "three");
    REQUIRE(t.routed("first", "three").empty());
  }
  SECTION("one that does not exist is nowhere, until it does") {
    t.exchange("lonely", "fanout", {{"alternate-exchange", text("later")}});
    for (int i = 0; i < 3; ++i) REQUIRE(t.routed("lonely", "k").empty());
    t.exchange("later", "fanout");
    t.bind("later", "q1");
    REQUIRE(t.routed("lonely", "k") == names{"q1"});
  }
  SECTION("it may be the default exchange") {
    t.exchange("lonely", "fanout", {{"alternate-exchange", text("")}});
    for (int i = 0; i < 3; ++i) REQUIRE(t.routed("lonely", "q9").empty());
    t.queue("q9");
    REQUIRE(t.routed("lonely", "q9") == names{"q9"});
  }
}

TEST_CASE("a route says why there is none") {
  fixture t;
  REQUIRE(t.core.declare_exchange(t.who, {t.vhost, "int", "fanout", false, true, false, true, {}}));
  t.core.publish();
  t.view.refresh();
  REQUIRE(t.view.route({t.vhost, "nope", "k"}).status == route_status::no_exchange);
  REQUIRE(t.view.route({t.vhost, "int", "k"}).status == route_status::internal);
  REQUIRE(t.view.route({vhost_id{99}, "amq.direct", "k"}).status == route_status::no_exchange);
}

TEST_CASE("a cached route follows every change that concerns it") {
  fixture t;
  t.exchange("e", "topic");
  t.exchange("f", "fanout");
  t.queue("q");
  t.queue("r");
  t.bind("e", "q", "a.#");
  for (int i = 0; i < 3; ++i) REQUIRE(t.routed("e", "a.b") == names{"q"});
  t.bind_exchange("e", "f", "*.b");
  for (int i = 0; i < 3; ++i) REQUIRE(t.routed("e", "a.b") == names{"q"});
  t.bind("f", "r");
  for (int i = 0; i < 3; ++i) REQUIRE(t.routed("e", "a.b") == names{"q", "r"});
  REQUIRE(t.core.queue_closed(t.vhost, t.queue("r")->id));
  for (int i = 0; i < 3; ++i) REQUIRE(t.routed("e", "a.b") == names{"q"});
  REQUIRE(t.core.delete_exchange(t.who, t.vhost, "e", false));
  t.core.publish();
  t.view.refresh();
  REQUIRE(t.view.route({t.vhost, "e", "a.b"}).status == route_status::no_exchange);
  t.exchange("e", "topic");
  REQUIRE(t.routed("e", "a.b").empty());
}

TEST_CASE("a route is found in the cache while other exchanges change") {
  fixture t;
  t.exchange("e", "direct");
  t.exchange("busy", "direct");
  for (const char* name : {"q1", "q2", "q3", "q4", "q5"}) {
    t.queue(name);
    t.bind("e", name, "k");
  }
  for (int i = 0; i < 2; ++i) t.routed("e", "k");
  const queue_entry* const* cached = t.view.route({t.vhost, "e", "k"}).queues.data();
  for (int i = 0; i < 100; ++i) {
    t.bind("busy", "q1", std::to_string(i));
    t.core.publish();
    REQUIRE(t.view.refresh());
    REQUIRE(t.view.route({t.vhost, "e", "k"}).queues.data() == cached);
  }
}

TEST_CASE("a view stays as it is until it is refreshed") {
  fixture t;
  t.exchange("e", "fanout");
  const auto q = t.queue("q");
  t.bind("e", "q");
  REQUIRE(t.routed("e", "k") == names{"q"});
  t.core.queue_closed(t.vhost, q->id);
  REQUIRE(t.view.route({t.vhost, "e", "k"}).queues.size() == 1);
  t.core.publish();
  REQUIRE(t.view.route({t.vhost, "e", "k"}).queues.size() == 1);
  REQUIRE(t.view.refresh());
  REQUIRE_FALSE(t.view.refresh());
  REQUIRE(t.view.route({t.vhost, "e", "k"}).queues.empty());
}

TEST_CASE("what was published before a message between threads is seen after it") {
  fixture t;
  t.exchange("e", "direct");
  t.core.publish();
  std::atomic<int> declared{0};
  std::atomic<bool> missed{false};
  std::vector<std::thread> loops;
  for (int loop = 0; loop < 2; ++loop)
    loops.emplace_back([&] {
      loop_view view{t.publication};
      for (int seen = 0; seen < 300;) {
        const int now = declared.load();
        if (now == seen) continue;
        seen = now;
        view.refresh();
        const std::string name = "q" + std::to_string(seen);
        if (view.route({t.vhost, "", name}).queues.size() != 1) missed = true;
        if (view.route({t.vhost, "e", name}).queues.size() != 1) missed = true;
        if (view.route({t.vhost, "e", "q1"}).queues.size() != 1) missed = true;
      }
    });
  for (int i = 1; i <= 300; ++i) {
    const std::string name = "q" + std::to_string(i);
    t.queue(name);
    t.bind("e", name, name);
    t.core.publish();
    declared = i;
  }
  for (auto& loop : loops) loop.join();
  REQUIRE_FALSE(missed);
}

}  // namespace
}  // namespace baton
