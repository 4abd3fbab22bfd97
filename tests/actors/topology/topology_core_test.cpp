#include <limits>

#include "tests/actors/topology/fixture.hpp"

namespace baton {
namespace {

using namespace topology_test;

const refusal default_refused{403, "operation not permitted on the default exchange"};

TEST_CASE("a virtual host has the exchanges that clients expect") {
  fixture t;
  names found;
  for (const auto& each : t.core.list_exchanges()) found.push_back(each.name);
  REQUIRE(found == names{"", "amq.direct", "amq.fanout", "amq.headers", "amq.match",
                         "amq.rabbitmq.trace", "amq.topic"});
  REQUIRE_FALSE(t.core.add_vhost("/"));
  REQUIRE_FALSE(t.core.add_vhost(""));
}

TEST_CASE("nothing can be declared, bound or deleted on the default exchange") {
  fixture t;
  t.queue("q");
  t.exchange("e", "fanout");
  REQUIRE(refused(t.try_exchange("", "direct")) == default_refused);
  REQUIRE(refused(t.core.declare_exchange(t.who, {t.vhost, "", "direct", true})) ==
          default_refused);
  REQUIRE(refused(t.core.delete_exchange(t.who, t.vhost, "", false)) == default_refused);
  REQUIRE(refused(t.core.bind(t.who, t.binding_of("", "q", "k"))) == default_refused);
  REQUIRE(refused(t.core.unbind(t.who, t.binding_of("", "q", "k"))) == default_refused);
  REQUIRE(refused(t.core.bind(t.who, t.binding_of("e", "", "k", {}, resource_kind::exchange))) ==
          default_refused);
}

TEST_CASE(
    "declaring an exchange again compares type, flags and alternate exchange, in this order") {
  fixture t;
  t.exchange("e", "topic", {{"alternate-exchange", text("a")}, {"other", number(1)}});
  const auto again = [&](std::string type, bool durable, bool auto_delete, bool internal,
                         field_table arguments) {
    return t.core.declare_exchange(t.who, {t.vhost, "e", std::move(type), false, durable,
                                           auto_delete, internal, std::move(arguments)});
  };
  const field_table same{{"alternate-exchange", text("a")}};
  const auto equal = again("topic", true, false, false, same);
  REQUIRE(equal);
  REQUIRE_FALSE(equal->created);
  REQUIRE(refused(again("direct", false, true, true, {})) ==
          refusal{406,
                  "inequivalent arg 'type' for exchange 'e' in vhost '/': received 'direct' "
                  "but current is 'topic'"});
  REQUIRE(refused(again("topic", false, true, true, {})) ==
          refusal{406,
                  "inequivalent arg 'durable' for exchange 'e' in vhost '/': received 'false' "
                  "but current is 'true'"});
  REQUIRE(refused(again("topic", true, true, true, {}))
              .text.starts_with("inequivalent arg 'auto_delete'"));
  REQUIRE(refused(again("topic", true, false, true, {}))
              .text.starts_with("inequivalent arg 'internal'"));
  REQUIRE(refused(again("topic", true, false, false, {})) ==
          refusal{406,
                  "inequivalent arg 'alternate-exchange' for exchange 'e' in vhost '/': "
                  "received none but current is the value 'a' of type 'longstr'"});
  REQUIRE(refused(again("silly", true, false, false, {})) ==
          refusal{406, "unknown exchange type 'silly'"});
}

TEST_CASE("a passive declare asks for existence only") {
  fixture t;
  t.exchange("e", "topic");
  t.queue("q");
  REQUIRE(t.core.declare_exchange(t.who, {t.vhost, "e", "silly", true}));
  REQUIRE(refused(t.core.declare_exchange(t.who, {t.vhost, "f", "topic", true})) ==
          refusal{404, "no exchange 'f' in vhost '/'"});
  REQUIRE(t.try_queue({t.vhost, "q", true, false, false, true, {}}));
  REQUIRE(refused(t.try_queue({t.vhost, "r", true})) == refusal{404, "no queue 'r' in vhost '/'"});
  REQUIRE(refused(t.try_queue({t.vhost, "", true})) == refusal{404, "no queue '' in vhost '/'"});
}

TEST_CASE("names that begin with amq. are the node's to give") {
  fixture t;
  REQUIRE(refused(t.try_queue("amq.q")) ==
          refusal{403, "queue name 'amq.q' contains reserved prefix 'amq.*'"});
  REQUIRE(refused(t.try_exchange("amq.e", "direct")) ==
          refusal{403, "exchange name 'amq.e' contains reserved prefix 'amq.*'"});
  REQUIRE(t.try_exchange("amq.direct", "direct"));  // equal to what is there
  REQUIRE(refused(t.core.delete_exchange(t.who, t.vhost, "amq.direct", false)) ==
          refusal{403, "deletion of system exchange 'amq.direct' in vhost '/' not allowed"});
}

TEST_CASE("names lose their line ends, and have a length") {
  fixture t;
  t.queue("a\r\nb\n");
  REQUIRE(t.has_queue("ab"));
  REQUIRE(t.try_queue("\nab")->status == queue_status::existing);
  REQUIRE(refused(t.try_queue(std::string(256, 'x'))).code == 406);
}

TEST_CASE("a queue without a name gets one that nobody else has") {
  fixture t;
  const auto a = t.queue(""), b = t.queue("");
  REQUIRE(a->name != b->name);
  REQUIRE(a->name.size() == 8 + 22);
  REQUIRE(a->name.starts_with("amq.gen-"));
  REQUIRE(a->name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                    "0123456789-_.") == std::string::npos);
  // Declaring it by that name is refused even to its owner.
  REQUIRE(refused(t.try_queue(a->name)).code == 403);
  REQUIRE(refused(t.try_queue("", {{"x-queue-type", text("quorum")}})) ==
          refusal{406, "Cannot declare a server-named queue for type quorum"});
}

TEST_CASE("declaring a queue again compares owner, flags and known arguments, in this order") {
  fixture t;
  t.queue("q", {{"x-message-ttl", number(1000)}, {"mine", number(1)}});
  const auto again = [&](bool durable, bool exclusive, bool auto_delete, field_table arguments) {
    return t.try_queue(
        {t.vhost, "q", false, durable, exclusive, auto_delete, std::move(arguments)});
  };
  t.who.connection = connection_id{1};
  REQUIRE(again(true, false, false,
                {{"x-message-ttl", number(1000, integer_width::i64)}, {"yours", text("x")}})
              ->status == queue_status::existing);
  REQUIRE(again(true, false, false,
                {{"x-message-ttl", number(1000)}, {"x-queue-type", text("classic")}}));
  REQUIRE(refused(again(false, true, true, {})).code == 405);
  REQUIRE(refused(again(false, false, true, {})) ==
          refusal{406,
                  "inequivalent arg 'durable' for queue 'q' in vhost '/': received 'false' "
                  "but current is 'true'"});
  REQUIRE(refused(again(true, false, true, {})) ==
          refusal{406,
                  "inequivalent arg 'auto_delete' for queue 'q' in vhost '/': received "
                  "'true' but current is 'false'"});
  REQUIRE(refused(again(true, false, false, {{"x-message-ttl", number(999)}})) ==
          refusal{406,
                  "inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received "
                  "'999' but current is '1000'"});
  REQUIRE(refused(again(true, false, false, {})) ==
          refusal{406,
                  "inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received none "
                  "but current is the value '1000' of type 'signedint'"});
  REQUIRE(refused(again(true, false, false,
                        {{"x-message-ttl", number(1000)}, {"x-expires", number(1)}})) ==
          refusal{406,
                  "inequivalent arg 'x-expires' for queue 'q' in vhost '/': received the "
                  "value '1' of type 'signedint' but current is none"});
}

TEST_CASE("an exclusive queue is its connection's alone, and goes with it") {
  fixture t;
  const requester owner{{}, connection_id{1}}, other{{}, connection_id{2}};
  const queue_declaration mine{t.vhost, "q", false, true, true, false, {}};
  auto made = t.core.declare_queue(owner, mine, t.targets());
  REQUIRE(made->status == queue_status::created);
  REQUIRE_FALSE(made->queue->survives_restart());
  t.exchange("e", "fanout");

  auto transient = mine;
  transient.durable = false;  // durable means nothing to it
  REQUIRE(t.core.declare_queue(owner, transient, t.targets())->status == queue_status::existing);
  auto shared_one = mine;
  shared_one.exclusive = false;
  auto passive = mine;
  passive.passive = true;
  const refusal locked{405,
                       "cannot obtain exclusive access to locked queue 'q' in vhost '/'. It could "
                       "be originally declared on another connection or the exclusive property "
                       "value does not match that of the original declaration."};
  REQUIRE(refused(t.core.declare_queue(owner, shared_one, t.targets())) == locked);
  REQUIRE(refused(t.core.declare_queue(other, mine, t.targets())) == locked);
  REQUIRE(refused(t.core.declare_queue(other, passive, t.targets())) == locked);
  REQUIRE(refused(t.core.bind(other, t.binding_of("e", "q", ""))) == locked);
  REQUIRE(t.core.declare_queue(owner, passive, t.targets()));
  REQUIRE(t.core.bind(owner, t.binding_of("e", "q", "")));
  REQUIRE(t.routed("e", "") == names{"q"});  // to publish to it is open to all

  REQUIRE(t.core.connection_closed(connection_id{2}).empty());
  const auto ended = t.core.connection_closed(connection_id{1});
  REQUIRE(ended.size() == 1);
  REQUIRE(ended[0] == made->queue);
  REQUIRE_FALSE(t.has_queue("q"));
  REQUIRE(t.routed("e", "").empty());
  REQUIRE_FALSE(t.core.queue_closed(t.vhost, made->queue->id));
  REQUIRE(t.core.declare_queue(other, mine, t.targets())->status == queue_status::created);
}

TEST_CASE("late word from a queue that has ended does not touch the next one of its name") {
  fixture t;
  const auto old = t.queue("q");
  REQUIRE(t.core.queue_closed(t.vhost, old->id) == old);
  const auto fresh = t.try_queue("q");
  REQUIRE(fresh->status == queue_status::created);
  REQUIRE(fresh->queue->id != old->id);
  REQUIRE_FALSE(t.core.queue_closed(t.vhost, old->id));
  REQUIRE(t.try_queue("q")->status == queue_status::existing);
}

TEST_CASE("a name for direct replies is routed to and declared passively, and is no queue") {
  fixture t;
  const std::string name = "amq.rabbitmq.reply-to.x";
  t.core.add_reply_name(t.vhost, name, std::make_shared<test_target>(queue_id{}));
  REQUIRE(t.routed("", name) == names{name});
  REQUIRE(t.try_queue({t.vhost, name, true}));
  REQUIRE(refused(t.try_queue(name)).code == 403);
  REQUIRE(refused(t.core.bind(t.who, t.binding_of("amq.fanout", name, ""))) == no_queue(name, "/"));
  REQUIRE(t.core.list_queues().empty());
  t.core.remove_reply_name(t.vhost, name);
  REQUIRE(t.routed("", name).empty());
  REQUIRE(refused(t.try_queue({t.vhost, name, true})).code == 404);
  t.queue("q");
  t.core.remove_reply_name(t.vhost, "q");
  REQUIRE(t.has_queue("q"));
}

TEST_CASE("an auto-delete exchange goes with its last binding, and so on along a chain") {
  fixture t;
  t.exchange("first", "fanout");
  const int length = 5000;
  std::string before = "first";
  for (int i = 0; i < length; ++i) {
    const std::string name = "chain" + std::to_string(i);
    t.auto_delete_exchange(name);
    t.bind_exchange(before, name);
    before = name;
  }
  t.bind_exchange("chain0", "chain0");
  REQUIRE(t.core.unbind(t.who, t.binding_of("chain0", "chain0", "", {}, resource_kind::exchange)));
  const auto q = t.queue("q");
  t.bind(before, "q");
  REQUIRE(t.routed("first", "") == names{"q"});
  REQUIRE(t.has_exchange("chain0"));
  t.core.queue_closed(t.vhost, q->id);
  REQUIRE_FALSE(t.has_exchange(before));
  REQUIRE_FALSE(t.has_exchange("chain0"));
  REQUIRE(t.has_exchange("first"));
  REQUIRE(t.core.list_bindings().empty());
  t.auto_delete_exchange("fresh");  // never had a binding: stays
  t.bind_exchange("first", "fresh");
  REQUIRE(t.core.unbind(t.who, t.binding_of("first", "fresh", "", {}, resource_kind::exchange)));
  REQUIRE(t.has_exchange("fresh"));
}

TEST_CASE("an exchange is in use while bindings lead from it, not to it") {
  fixture t;
  t.exchange("e", "fanout");
  t.exchange("f", "fanout");
  t.queue("q");
  t.bind_exchange("f", "e");
  t.bind("e", "q");
  REQUIRE(refused(t.core.delete_exchange(t.who, t.vhost, "e", true)) ==
          refusal{406, "exchange 'e' in vhost '/' in use"});
  t.unbind("e", "q");
  REQUIRE(t.core.delete_exchange(t.who, t.vhost, "e", true));
  REQUIRE(t.core.delete_exchange(t.who, t.vhost, "e", true));  // deleted is deleted
  REQUIRE(t.core.delete_exchange(t.who, t.vhost, "f", true));  // its binding went with e
}

TEST_CASE("a bind names the exchange first when both ends are missing") {
  fixture t;
  REQUIRE(refused(t.core.bind(t.who, t.binding_of("e", "q", ""))) ==
          refusal{404, "no exchange 'e' in vhost '/'"});
  t.exchange("e", "headers");
  REQUIRE(refused(t.core.bind(t.who, t.binding_of("e", "q", ""))) ==
          refusal{404, "no queue 'q' in vhost '/'"});
  REQUIRE(refused(t.core.bind(t.who, t.binding_of("e", "f", "", {}, resource_kind::exchange))) ==
          refusal{404, "no exchange 'f' in vhost '/'"});
  REQUIRE(t.core.unbind(t.who, t.binding_of("none", "none", "")));
  t.queue("q");
  REQUIRE(refused(t.core.bind(t.who, t.binding_of("e", "q", "", {{"x-match", text("foo")}}))) ==
          refusal{406,
                  "Invalid x-match field value <<\"foo\">>; expected all, any, all-with-x, or "
                  "any-with-x"});
  REQUIRE(refused(t.core.bind(t.who, t.binding_of("e", "q", "", {{"x-match", number(1)}})))
              .text.starts_with("Invalid x-match field type"));
}

TEST_CASE("an argument that is no number equals itself: bound once, and gone with the queue") {
  fixture t;
  const auto q = t.queue("q");
  const field_table arguments{{"a", {std::numeric_limits<double>::quiet_NaN()}},
                              {"b", {-std::numeric_limits<float>::quiet_NaN()}},
                              {"c", {field_array{{std::numeric_limits<double>::quiet_NaN()}}}}};
  t.bind("amq.headers", "q", "", arguments);
  t.bind("amq.headers", "q", "", arguments);
  REQUIRE(t.core.list_bindings().size() == 2);  // with the default exchange's
  t.core.queue_closed(t.vhost, q->id);
  REQUIRE(t.core.list_bindings().empty());
}

TEST_CASE("ten thousand bound queues go without looking at each other") {
  fixture t;
  t.exchange("e", "topic");
  std::vector<queue_id> queues;
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "q" + std::to_string(i);
    queues.push_back(t.queue(name)->id);
    t.bind("e", name, "a." + name + ".#");
    t.bind("e", name, "all");
  }
  t.core.publish();
  for (queue_id each : queues) REQUIRE(t.core.queue_closed(t.vhost, each));
  REQUIRE(t.routed("e", "all").empty());
  REQUIRE(t.core.list_bindings().empty());
}

TEST_CASE("a virtual host takes everything in it along") {
  fixture t;
  const vhost_id other = t.core.add_vhost("other").value();
  const requester owner{{}, connection_id{1}};
  REQUIRE(t.core.declare_queue(owner, {other, "q", false, false, true, false, {}}, t.targets()));
  REQUIRE(t.core.bind(owner, {other, "amq.fanout", resource_kind::queue, "q", "", {}}));
  REQUIRE(t.core.remove_vhost("nope").empty());
  const auto ended = t.core.remove_vhost("other");
  REQUIRE(ended.size() == 1);
  REQUIRE(t.core.connection_closed(connection_id{1}).empty());
  REQUIRE(
      refused(t.core.bind(owner, {other, "amq.fanout", resource_kind::queue, "q", "", {}})).code ==
      404);
  const vhost_id again = t.core.add_vhost("other").value();
  REQUIRE(again != other);
  REQUIRE(t.core.list_queues().empty());
}

TEST_CASE("a limit of queues, exchanges or bindings is a refusal that names it") {
  fixture t{false, {2, 7, 1, 1}};
  t.exchange("e", "fanout");
  REQUIRE(refused(t.try_exchange("f", "fanout")) ==
          refusal{406,
                  "cannot declare exchange 'f' in vhost '/': the limit of 7 exchanges is "
                  "reached"});
  t.queue("q");
  REQUIRE(refused(t.try_queue("r")) ==
          refusal{406, "cannot declare queue 'r' in vhost '/': the limit of 1 queues is reached"});
  t.bind("e", "q");
  t.bind("e", "q");
  REQUIRE(refused(t.core.bind(t.who, t.binding_of("e", "q", "k"))).code == 406);
  REQUIRE(t.core.add_vhost("second"));
  REQUIRE_FALSE(t.core.add_vhost("third"));
}

TEST_CASE("a list of bindings is in order of declaration, with those to the default exchange") {
  fixture t;
  t.queue("b");
  t.queue("a");
  t.bind("amq.topic", "b", "2");
  t.bind("amq.direct", "a", "1", {{"x", number(1)}});
  names found;
  for (const auto& each : t.core.list_bindings())
    found.push_back(each.source + ">" + each.destination + ":" + each.key);
  REQUIRE(found == names{">a:a", ">b:b", "amq.topic>b:2", "amq.direct>a:1"});
}

TEST_CASE("many changes make one version") {
  fixture t;
  const auto before = t.publication.version();
  REQUIRE_FALSE(t.core.publish());
  for (int i = 0; i < 10; ++i) t.queue("q" + std::to_string(i));
  REQUIRE(t.publication.version() == before);
  REQUIRE(t.core.publish());
  REQUIRE(t.publication.version() == before + 1);
  t.queue("q1");  // exists: no change
  REQUIRE_FALSE(t.core.publish());
}

}  // namespace
}  // namespace baton
