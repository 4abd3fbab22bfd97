#include <map>
#include <set>

#include "actors/topology/configured.hpp"
#include "config/load.hpp"
#include "tests/actors/topology/fixture.hpp"

namespace baton {
namespace {

using namespace topology_test;

/// What the store has been told so far.
class told {
public:
  void take(topology_core& core) {
    for (auto& [key, value] : core.take_changes()) {
      if (value)
        known_[std::move(key)] = *std::move(value);
      else
        REQUIRE(known_.erase(key) == 1);
    }
  }
  std::vector<definition> all() const {
    std::vector<definition> made;
    for (const auto& [key, value] : known_) made.push_back({key, value});
    return made;
  }
  names called() const {
    names made;
    for (const auto& [key, value] : known_) made.push_back(describe_key(key));
    return made;
  }

private:
  std::map<std::string, std::string> known_;
};

names called(const std::vector<definition_change>& changes) {
  names made;
  for (const auto& each : changes)
    made.push_back((each.value ? "+ " : "- ") + describe_key(each.key));
  return made;
}

/// The same node, started again with what was stored.
struct restarted {
  explicit restarted(std::vector<definition> stored) {
    left_out = core.restore(std::move(stored), [this](const queue_entry& queue) {
      made.push_back(queue.name);
      return std::make_shared<test_target>(queue.id);
    });
  }

  names complaints() const {
    names all;
    for (const auto& each : left_out) all.push_back(each.why);
    return all;
  }
  const queue_entry* queue(std::string_view name, std::string_view vhost = "/") const {
    return core.state().find_vhost(vhost)->find_queue(name);
  }

  topology_publication publication;
  topology_core core{publication, {}, false, [] { return std::array<std::uint8_t, 16>{}; }};
  names made;  // the queues, in the order of their making
  std::vector<topology_core::left_out> left_out;
};

/// A definition as it would have been stored by a core of its own.
std::vector<definition> stored_by(const std::function<void(fixture&)>& declare) {
  fixture t;
  declare(t);
  told store;
  store.take(t.core);
  return store.all();
}

TEST_CASE("what is durable is told to the store in order, and nothing else") {
  fixture t;
  CHECK(called(t.core.take_changes()) == names{"+ vhost '/'"});
  t.exchange("e", "topic");
  REQUIRE(t.core.declare_exchange(t.who, {t.vhost, "transient", "fanout"}));
  t.queue("q");
  REQUIRE(t.try_queue({t.vhost, "lost"}));
  t.who.connection = connection_id{1};
  REQUIRE(t.try_queue({t.vhost, "mine", false, true, true, false, {}}));
  for (const char* queue : {"q", "lost", "mine"})
    for (const char* exchange : {"e", "transient", "amq.direct"}) t.bind(exchange, queue, "k");
  t.bind_exchange("e", "amq.fanout");
  t.bind_exchange("e", "transient");
  t.bind_exchange("transient", "e");
  CHECK(called(t.core.take_changes()) ==
        names{"+ exchange 'e' in vhost '/'", "+ queue 'q' in vhost '/'",
              "+ binding of exchange 'e' to queue 'q' with key 'k' in vhost '/'",
              "+ binding of exchange 'amq.direct' to queue 'q' with key 'k' in vhost '/'",
              "+ binding of exchange 'e' to exchange 'amq.fanout' with key '' in vhost '/'"});
  t.queue("q");
  t.exchange("e", "topic");
  t.bind("e", "q", "k");
  t.core.connection_closed(connection_id{1});
  t.core.queue_closed(t.vhost, t.core.state().find_vhost("/")->find_queue("lost")->id);
  REQUIRE(t.core.delete_exchange(t.who, t.vhost, "transient", false));
  CHECK(t.core.take_changes().empty());
}

TEST_CASE("definitions go together with what they hang on") {
  fixture t;
  const auto q = t.queue("q");
  t.exchange("e", "fanout");
  t.auto_delete_exchange("a");
  t.auto_delete_exchange("b");
  t.bind("e", "q");
  t.bind("b", "q");
  t.bind_exchange("a", "b");
  t.core.take_changes();
  SECTION("a queue takes its bindings, and auto-delete exchanges in a chain") {
    t.core.queue_closed(t.vhost, q->id);
    const auto gone = called(t.core.take_changes());
    CHECK(
        std::set<std::string>(gone.begin(), gone.end()) ==
        std::set<std::string>{"- binding of exchange 'e' to queue 'q' with key '' in vhost '/'",
                              "- binding of exchange 'b' to queue 'q' with key '' in vhost '/'",
                              "- binding of exchange 'a' to exchange 'b' with key '' in vhost '/'",
                              "- exchange 'a' in vhost '/'", "- exchange 'b' in vhost '/'",
                              "- queue 'q' in vhost '/'"});
    CHECK(gone.size() == 6);
  }
  SECTION("an exchange takes its bindings") {
    REQUIRE(t.core.delete_exchange(t.who, t.vhost, "e", false));
    CHECK(called(t.core.take_changes()) ==
          names{"- binding of exchange 'e' to queue 'q' with key '' in vhost '/'",
                "- exchange 'e' in vhost '/'"});
  }
  SECTION("a virtual host takes everything") {
    told store;
    t.core.remove_vhost("/");
    CHECK(t.core.take_changes().size() == 1 + 1 + 3 + 3);
    CHECK(t.core.all_definitions().empty());
  }
}

TEST_CASE("what comes and goes between two takes is no change") {
  fixture t;
  t.core.take_changes();
  const auto q = t.queue("q");
  t.exchange("e", "fanout");
  t.bind("e", "q");
  t.core.queue_closed(t.vhost, q->id);
  REQUIRE(t.core.delete_exchange(t.who, t.vhost, "e", false));
  t.core.add_vhost("v").value();
  t.core.remove_vhost("v");
  CHECK(t.core.take_changes().empty());
}

TEST_CASE("what goes and comes again between two takes is one change, to what it is now") {
  fixture t;
  const auto old = t.queue("q");
  t.core.take_changes();
  t.core.queue_closed(t.vhost, old->id);
  const auto fresh = t.queue("q");
  const auto changes = t.core.take_changes();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0] == definition_change{stored_key(*fresh), encode(*fresh).value});
  t.core.queue_closed(t.vhost, fresh->id);
  t.queue("q");
  t.core.queue_closed(t.vhost, t.queue("q")->id);
  CHECK(called(t.core.take_changes()) == names{"- queue 'q' in vhost '/'"});
}

TEST_CASE("a binding that is declared and unbound with other widths and order is one definition") {
  fixture t;
  t.queue("q");
  t.core.take_changes();
  t.bind("amq.headers", "q", "", {{"a", number(1)}, {"b", number(2)}});
  t.bind("amq.headers", "q", "", {{"b", number(2, integer_width::i64)}, {"a", number(1)}});
  CHECK(t.core.take_changes().size() == 1);
  t.unbind("amq.headers", "q", "", {{"b", number(2)}, {"a", number(1, integer_width::u8)}});
  CHECK(called(t.core.take_changes()) ==
        names{"- binding of exchange 'amq.headers' to queue 'q' with key '' in vhost '/'"});
}

TEST_CASE("a restarted node has what was durable, queues with their ids, and no changes") {
  fixture t;
  told store;
  const auto other = t.core.add_vhost("other").value();
  REQUIRE(t.core.declare_exchange(
      t.who, {other, "e", "topic", false, true, true, true, {{"alternate-exchange", text("x")}}}));
  t.queue("lost-before");
  const auto second = t.queue("b", {{"x-max-length", number(5)}, {"mine", text("kept")}});
  const auto generated = t.queue("");
  const auto last = t.try_queue({t.vhost, "a", false, true, false, true, {}})->queue;
  t.core.queue_closed(t.vhost, t.queue("lost-before")->id);
  t.bind("amq.topic", "b", "2");
  t.bind("amq.topic", "b", "1");
  store.take(t.core);

  auto stored = store.all();
  std::reverse(stored.begin(), stored.end());
  restarted u{stored};
  CHECK(u.complaints().empty());
  CHECK(u.made == names{"b", generated->name, "a"});
  const auto* exchange = u.core.state().find_vhost("other")->find_exchange("e");
  REQUIRE(exchange != nullptr);
  CHECK(exchange->definition().auto_delete);
  CHECK(exchange->definition().internal);
  CHECK(exchange->definition().type == exchange_type::topic);
  CHECK(exchange->definition().alternate == "x");
  REQUIRE(u.queue("b") != nullptr);
  CHECK(u.queue("b")->id == second->id);
  CHECK(u.queue("b")->arguments.max_length == 5u);
  CHECK(u.queue("b")->declared == second->declared);
  CHECK(u.queue("a")->auto_delete);
  CHECK(u.queue("a")->durable);
  CHECK(u.core.take_changes().empty());
  CHECK(u.core.publish());
  names keys;
  for (const auto& each : u.core.list_bindings())
    if (!each.source.empty()) keys.push_back(each.key);
  CHECK(keys == names{"2", "1"});

  // No id is given twice, not even one that was only heard of.
  u.core.reserve_ids(last->id.value + 100);
  const auto vhost = u.core.state().find_vhost("/")->id;
  const auto fresh =
      u.core.declare_queue({}, {vhost, "new", false, true, false, false, {}}, fixture::targets());
  CHECK(fresh->queue->id.value > last->id.value + 100);
}

TEST_CASE("all definitions are what the changes add up to") {
  fixture t;
  told store;
  t.exchange("e", "topic");
  t.queue("q");
  t.queue("r");
  t.bind("e", "q", "k");
  t.core.queue_closed(t.vhost, t.core.state().find_vhost("/")->find_queue("r")->id);
  store.take(t.core);
  auto all = t.core.all_definitions();
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.key < b.key; });
  CHECK(all == store.all());
}

TEST_CASE("limits and strictness do not count for what was stored") {
  const auto stored = stored_by([](fixture& t) {
    t.queue("q", {{"mine", number(1)}});
    t.queue("r");
    t.exchange("e", "fanout");
    t.bind("e", "q");
    t.bind("e", "r");
  });
  topology_publication publication;
  topology_core core{
      publication, {1, 1, 1, 1}, true, [] { return std::array<std::uint8_t, 16>{}; }};
  CHECK(core.restore(stored, fixture::targets()).empty());
  CHECK(core.list_queues().size() == 2);
  CHECK(refused(core.declare_queue({}, {core.state().find_vhost("/")->id, "s"}, fixture::targets()))
            .code == 406);
}

TEST_CASE("what cannot be put back is left out by name, and everything else is there") {
  auto stored = stored_by([](fixture& t) {
    const auto v = t.core.add_vhost("v").value();
    REQUIRE(t.core.declare_queue(t.who, {v, "in-v", false, true, false, false, {}}, t.targets()));
    t.exchange("gone", "fanout");
    t.exchange("e", "fanout");
    t.queue("q");
    t.queue("r");
    t.queue("odd", {{"x-max-length", number(1)}});
    t.bind("gone", "q");
    t.bind("e", "q");
    t.bind("e", "r");
  });
  std::erase_if(stored, [](const definition& each) {
    const auto name = describe_key(each.key);
    return name == "vhost 'v'" || name == "exchange 'gone' in vhost '/'";
  });
  for (auto& each : stored) {
    const auto name = describe_key(each.key);
    if (name == "queue 'r' in vhost '/'") each.value.pop_back();
    if (name == "queue 'odd' in vhost '/'")
      each.value.replace(each.value.find("x-max-length"), 13,
                         "x-max-length"
                         "V");
  }
  stored.push_back({std::string{'\x7f'}, {}});
  restarted u{stored};
  auto complaints = u.complaints();
  std::sort(complaints.begin(), complaints.end());
  REQUIRE(complaints.size() == 6);
  CHECK(complaints[0] ==
        "binding of exchange 'e' to queue 'r' with key '' in vhost '/': no queue 'r' in vhost '/'");
  CHECK(complaints[1] ==
        "binding of exchange 'gone' to queue 'q' with key '' in vhost '/': no exchange 'gone' in "
        "vhost '/'");
  CHECK(complaints[2] ==
        "definition with key 7f: its kind is 127, which this version does not know");
  CHECK(complaints[3] == "queue 'in-v' in vhost 'v': no vhost 'v'");
  CHECK_THAT(complaints[4], Catch::Matchers::StartsWith("queue 'odd' in vhost '/': its arguments"));
  CHECK(complaints[5] == "queue 'r' in vhost '/': its value is cut short");
  CHECK(u.made == names{"q"});
  CHECK(u.core.list_bindings().size() == 2);  // with the default exchange's
}

TEST_CASE("stored definitions that contradict each other are left out") {
  const auto stored = stored_by([](fixture& t) {
    t.exchange("e", "fanout");
    t.queue("q");
    t.bind("e", "q");
  });
  auto twice = stored;
  twice.insert(twice.end(), stored.begin(), stored.end());
  queue_entry same_id;
  same_id.vhost_name = "/";
  same_id.name = "r";
  same_id.id = restarted{stored}.queue("q")->id;
  twice.push_back(encode(same_id));
  exchange_definition reserved;
  reserved.name = "amq.direct";
  twice.push_back(encode("/", reserved));
  queue_entry wrong;
  wrong.vhost_name = "/";
  wrong.name = "w";
  wrong.id = queue_id{1000};
  wrong.declared = {{"x-expires", number(0)}};
  twice.push_back(encode(wrong));
  binding unmatched{9,
                    restarted{stored}
                        .core.state()
                        .find_vhost("/")
                        ->find_exchange("amq.headers")
                        ->shared_definition(),
                    {},
                    "",
                    {{"x-match", text("most")}}};
  unmatched.to.queue = shared<queue_entry>::make([] {
    queue_entry q;
    q.name = "q";
    return q;
  }());
  twice.push_back(encode("/", unmatched));
  restarted u{twice};
  auto complaints = u.complaints();
  std::sort(complaints.begin(), complaints.end());
  CHECK(complaints ==
        names{"binding of exchange 'amq.headers' to queue 'q' with key '' in vhost '/': Invalid "
              "x-match field value <<\"most\">>; expected all, any, all-with-x, or any-with-x",
              "binding of exchange 'e' to queue 'q' with key '' in vhost '/': it is stored twice",
              "exchange 'amq.direct' in vhost '/': every virtual host has its own",
              "exchange 'e' in vhost '/': it is stored twice",
              "queue 'q' in vhost '/': it is stored twice",
              "queue 'r' in vhost '/': its id, " + std::to_string(same_id.id.value) +
                  ", is another queue's",
              "queue 'w' in vhost '/': invalid arg 'x-expires' for queue 'w' in vhost '/': "
              "{value_zero,0}",
              "vhost '/': it is stored twice"});
  // The ids of what was left out are used up all the same.
  const auto fresh =
      u.core.declare_queue({}, {u.core.state().find_vhost("/")->id, "n"}, fixture::targets());
  CHECK(fresh->queue->id.value > 1000);
}

TEST_CASE("a configuration finds what was restored, and a conflict names the journal") {
  const auto configured = [](std::string_view type, int length) {
    return load_text("[[exchange]]\nname = \"e\"\ntype = \"" + std::string{type} +
                         "\"\n[[queue]]\nname = \"q\"\narguments = { x-max-length = " +
                         std::to_string(length) +
                         " }\n[[binding]]\nexchange = \"e\"\nqueue = \"q\"\n",
                     "n.toml")
        .value();
  };
  told store;
  fixture t;
  CHECK(declare_configured(t.core, configured("topic", 5), t.targets()).refused.empty());
  store.take(t.core);

  restarted same{store.all()};
  CHECK(declare_configured(same.core, configured("topic", 5), fixture::targets()).refused.empty());
  CHECK(same.core.take_changes().empty());
  CHECK(same.core.list_queues().size() == 1);

  restarted other{store.all()};
  const auto refused = declare_configured(other.core, configured("direct", 6), fixture::targets());
  REQUIRE(refused.refused.size() == 2);
  CHECK(to_string(refused.refused[0]) ==
        "n.toml:1:1: inequivalent arg 'type' for exchange 'e' in vhost '/': received 'direct' but "
        "current is 'topic', which is in the journal");
  CHECK(to_string(refused.refused[1]) ==
        "n.toml:4:1: inequivalent arg 'x-max-length' for queue 'q' in vhost '/': received '6' but "
        "current is '5', which is in the journal");
}

TEST_CASE("an auto-delete exchange that lost its last binding to a restart stays until the next") {
  restarted u{stored_by([](fixture& t) {
    t.auto_delete_exchange("e");
    REQUIRE(t.try_queue({t.vhost, "lost"}));
    t.bind("e", "lost");
  })};
  const auto* here = u.core.state().find_vhost("/");
  CHECK(here->find_exchange("e") != nullptr);
  CHECK(here->find_queue("lost") == nullptr);
}

}  // namespace
}  // namespace baton
