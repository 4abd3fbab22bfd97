#include "config/load.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>

#include "config/document.hpp"
#include "tests/catch.hpp"
#include "tests/config/temporary_folder.hpp"

using namespace baton;
using namespace std::chrono_literals;

namespace {

/// The settings of a text that has to be good.
settings loaded(std::string_view text, const overrides& set = {}) {
  const auto made = load_text(text, "north.toml", set);
  if (!made)
    for (const auto& each : made.reason()) UNSCOPED_INFO(to_string(each));
  REQUIRE(made);
  return *made;
}

std::int64_t integer(const field_table& table, std::string_view name) {
  const auto* field = find_field(table, name);
  REQUIRE(field);
  REQUIRE(field->get<integer_value>());
  CHECK(field->get<integer_value>()->width == integer_width::i64);
  return field->get<integer_value>()->value;
}

}  // namespace

TEST_CASE("a node without a configuration listens on the loopback for guest") {
  const auto node = default_settings();
  REQUIRE(node.listeners.size() == 1);
  CHECK(node.listeners[0].address == "127.0.0.1");
  CHECK(node.listeners[0].port == 5672);
  REQUIRE(node.users.size() == 1);
  CHECK(node.users[0].name == "guest");
  CHECK(node.users[0].password == "guest");
  CHECK(node.users[0].loopback_only);
  CHECK(node.users[0].permissions.empty());
  CHECK(node.node.name == "baton");
  CHECK(node.limits.max_message_size == 128_MiB);
  CHECK(node.queues.empty());
}

TEST_CASE("every type of value is read as it was written") {
  const auto node = loaded(R"(
[node]
name = "north"
loops = 1_0
placement = "spread"
memory = "2GiB"
queue_share = "10%"
drain_timeout = "5min"
strict_arguments = true
[limits]
frame_max = 8192
heartbeat = 0
close_timeout = "1500ms"
[logging]
level = "debug"
[[user]]
name = "a"
password = "b"
tags = ["administrator", "ops"]
)");
  CHECK(node.node.name == "north");
  CHECK(node.node.loops == 10);
  CHECK(node.node.placement == placement::spread);
  CHECK(node.node.memory == 2_GiB);
  CHECK(node.node.queue_share == percent{10});
  CHECK(node.node.drain_timeout == 5min);
  CHECK(node.node.strict_arguments);
  CHECK(node.limits.frame_max == 8192_B);
  CHECK(node.limits.heartbeat == 0s);
  CHECK(node.limits.close_timeout == 1500ms);
  CHECK(node.logging.level == log_level::debug);
  CHECK(node.users.at(0).tags == std::vector<std::string>{"administrator", "ops"});
}

TEST_CASE("definitions keep their order, their defaults and their places") {
  const auto node = loaded(R"([[vhost]]
name = "shop"
[[exchange]]
name = "orders"
type = "topic"
[[exchange]]
name = "all"
vhost = "shop"
durable = false
[[queue]]
name = "invoices"
[[binding]]
exchange = "orders"
queue = "invoices"
key = "order.*.paid"
[[binding]]
exchange = "amq.topic"
to_exchange = "orders"
)");
  CHECK(node.vhosts.at(0).name == "shop");
  REQUIRE(node.exchanges.size() == 2);
  CHECK(node.exchanges[0].name == "orders");
  CHECK(node.exchanges[0].vhost == "/");
  CHECK(node.exchanges[0].type == "topic");
  CHECK(node.exchanges[0].durable);
  CHECK(node.exchanges[0].where == place{"north.toml", 3, 1});
  CHECK(node.exchanges[1].vhost == "shop");
  CHECK(node.exchanges[1].type == "direct");
  CHECK_FALSE(node.exchanges[1].durable);
  CHECK(node.queues.at(0).where == place{"north.toml", 10, 1});
  CHECK(node.bindings.at(0).key == "order.*.paid");
  CHECK(node.bindings.at(1).to_exchange == "orders");
}

TEST_CASE("arguments become fields of the types that they have, in the order of the text") {
  const auto node = loaded(R"(
[[queue]]
name = "q"
[queue.arguments]
x-max-length = 100_000
x-negative = -1
text = "reject-publish"
truth = true
ratio = 0.5
list = [1, "two"]
nested = { z = 1, a = 2 }
moment = 1970-01-02T00:00:10Z
east = 1970-01-02T02:00:00+02:00
day = 1970-01-02
)");
  const auto& arguments = node.queues.at(0).arguments;
  REQUIRE(arguments.size() == 10);
  CHECK(arguments[0].first == "x-max-length");
  CHECK(arguments[9].first == "day");
  CHECK(integer(arguments, "x-max-length") == 100'000);
  CHECK(integer(arguments, "x-negative") == -1);
  CHECK(*find_field(arguments, "text")->get<std::string>() == "reject-publish");
  CHECK(*find_field(arguments, "truth")->get<bool>());
  CHECK(*find_field(arguments, "ratio")->get<double>() == 0.5);
  CHECK(find_field(arguments, "list")->get<field_array>()->size() == 2);
  const auto& nested = *find_field(arguments, "nested")->get<field_table>();
  CHECK(nested[0].first == "z");
  CHECK(integer(nested, "a") == 2);
  CHECK(find_field(arguments, "moment")->get<timestamp_value>()->seconds == 86'410);
  CHECK(find_field(arguments, "east")->get<timestamp_value>()->seconds == 86'400);
  CHECK(find_field(arguments, "day")->get<timestamp_value>()->seconds == 86'400);
}

TEST_CASE("a string goes on behind the end of a line with any letter") {
  CHECK(loaded("[node]\nname = \"\"\"\\\n  \u00e9t\u00e9\"\"\"").node.name == "\u00e9t\u00e9");
}

TEST_CASE("permissions belong to the user that they are written below") {
  const auto node = loaded(R"(
[[user]]
name = "a"
password_hash = "$argon2id$v=19$m=65536,t=2,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNo"
[[user.permission]]
configure = ""
read = "^orders\\."
[[user]]
name = "b"
password = "b"
)");
  REQUIRE(node.users.at(0).permissions.size() == 1);
  CHECK(node.users[0].permissions[0].vhost == "/");
  CHECK(node.users[0].permissions[0].configure.empty());
  CHECK(node.users[0].permissions[0].write == ".*");
  CHECK(node.users[0].permissions[0].read == "^orders\\.");
  CHECK(node.users.at(1).permissions.empty());
}

TEST_CASE("a relative path is relative to the file that it is in, or to us when set by hand") {
  CHECK(load_text("[node]\ndata = \"d\"", "etc/north.toml")->node.data == "etc/d");
  CHECK(load_text("[node]\ndata = \"/d\"", "etc/north.toml")->node.data == "/d");
  CHECK(load_text("", "etc/north.toml", {"node.data=d"})->node.data == "d");
}

TEST_CASE("message limits that nobody set follow the memory budget, and set ones stay") {
  const auto small = loaded("[node]\nmemory = \"64MiB\"");
  CHECK(small.limits.max_message_size == 8_MiB);
  CHECK(small.limits.max_incomplete_per_connection == 8_MiB);
  CHECK(small.limits.max_incomplete_per_node == 16_MiB);
  const auto set = loaded("[node]\nmemory = \"64MiB\"\n[limits]\nmax_message_size = \"20MiB\"");
  CHECK(set.limits.max_message_size == 20_MiB);
  CHECK(set.limits.max_incomplete_per_connection == 20_MiB);
  CHECK(set.limits.max_incomplete_per_node == 20_MiB);
}

TEST_CASE("shares of memory that nobody set fit a small budget and a low high mark") {
  const auto small = loaded("[node]\nmemory = \"16MiB\"\nhigh_mark = \"95%\"");
  CHECK(small.limits.max_transaction == 2_MiB);
  CHECK(small.journal.max_unsynced == 2_MiB);
  CHECK(small.limits.publish_reserve == byte_count{(16u << 20) - percent{95}.of(16_MiB).value});
  CHECK(loaded("[node]\nhigh_mark = \"20%\"").node.queue_share == percent{20});
  CHECK(loaded("[node]\nhigh_mark = \"95%\"").limits.publish_reserve == 1_MiB);
  CHECK(loaded("[journal]\nmax_unsynced = \"500MiB\"").journal.max_unsynced == 500_MiB);
}

TEST_CASE("sync policies of queues are read in the order of the text") {
  const auto node = loaded(R"([journal]
sync = "interval"
sync_interval = "10ms"
[[vhost]]
name = "v"
[[sync]]
queues = "^log"
sync = "never"
[[sync]]
queues = "^log"
vhost = "v"
)");
  CHECK(node.journal.sync == sync_policy::interval);
  CHECK(node.journal.sync_interval == 10ms);
  REQUIRE(node.syncs.size() == 2);
  CHECK(node.syncs[0].queues == "^log");
  CHECK(node.syncs[0].vhost == "/");
  CHECK(node.syncs[0].sync == sync_policy::never);
  CHECK(node.syncs[1].vhost == "v");
  CHECK(node.syncs[1].sync == sync_policy::always);
}

TEST_CASE("what is set by hand wins over the files, and needs no quotes") {
  const auto node =
      loaded("[node]\nname = \"north\"\n[[listener]]\nport = 1\n[[listener]]\nport = 2",
             {"node.name=south", "node.memory=2GiB", "limits.heartbeat=10s", "node.queue_share=50%",
              "logging.level=debug", "listener.1.port=7", "listener.2.port=8", "queue.0.name=q",
              "node.strict_arguments=true", "queue.0.arguments.x-max-length=5",
              "queue.0.arguments.mode=lazy"});
  CHECK(node.node.name == "south");
  CHECK(node.node.memory == 2_GiB);
  CHECK(node.node.queue_share == percent{50});
  CHECK(node.node.strict_arguments);
  CHECK(node.limits.heartbeat == 10s);
  CHECK(node.logging.level == log_level::debug);
  REQUIRE(node.listeners.size() == 3);
  CHECK(node.listeners[0].port == 1);
  CHECK(node.listeners[1].port == 7);
  CHECK(node.listeners[2].port == 8);
  CHECK(integer(node.queues.at(0).arguments, "x-max-length") == 5);
  CHECK(*find_field(node.queues[0].arguments, "mode")->get<std::string>() == "lazy");
}

TEST_CASE("a string that is set by hand may look like anything") {
  CHECK(loaded("", {"node.name=123"}).node.name == "123");
  CHECK(loaded("", {"node.name=true"}).node.name == "true");
  CHECK(loaded("", {"node.name=\"a b\""}).node.name == "a b");
  CHECK(loaded("", {"node.name=a=b"}).node.name == "a=b");
  CHECK(loaded("", {"node.name=1 2"}).node.name == "1 2");
}

TEST_CASE("the default listener and user can be changed by hand") {
  const auto node = loaded("", {"listener.0.port=5673", "user.0.loopback_only=false"});
  CHECK(node.listeners.at(0).port == 5673);
  CHECK(node.users.at(0).name == "guest");
  CHECK_FALSE(node.users.at(0).loopback_only);
}

TEST_CASE("the files of a folder are read in name order as if they were one") {
  const temporary_folder folder;
  folder.write("20.toml", "[[queue]]\nname = \"second\"\n[limits]\nheartbeat = \"5s\"");
  folder.write("10.toml", "[[queue]]\nname = \"first\"\n[limits]\nchannel_max = 7");
  folder.write("notes.txt", "not TOML");
  folder.write(".#20.toml", "an editor's lock");
  const auto node = load({folder.path()});
  REQUIRE(node);
  REQUIRE(node->queues.size() == 2);
  CHECK(node->queues[0].name == "first");
  CHECK(node->queues[1].name == "second");
  CHECK(node->limits.channel_max == 7);
  CHECK(node->limits.heartbeat == 5s);
}

TEST_CASE("a password file gives its text without the end of the line") {
  const temporary_folder folder;
  folder.write("secret", "pa ss\r\n");
  folder.write("node.toml", "[[user]]\nname = \"u\"\npassword_file = \"secret\"");
  const auto node = load({folder.path() / "node.toml"});
  REQUIRE(node);
  CHECK(node->users.at(0).password == "pa ss");
}
