#include <string>
#include <vector>

#include "config/load.hpp"
#include "tests/catch.hpp"
#include "tests/config/temporary_folder.hpp"

using namespace baton;
using lines = std::vector<std::string>;

namespace {

lines written(const result<settings, mistakes>& loaded) {
  lines all;
  if (!loaded)
    for (const auto& each : loaded.reason()) all.push_back(to_string(each));
  return all;
}

/// Everything that is wrong with a text, one a line.
lines wrong(std::string_view text, const overrides& set = {}) {
  return written(load_text(text, "n.toml", set));
}

}  // namespace

TEST_CASE("every mistake is reported at once, in the order of the text") {
  CHECK(wrong(R"([node]
nmae = "north"
memory = "1Gib"
loops = 5000
strict_arguments = 1
[limits]
heartbeat = 60
channel_max = 70000
[[listener]]
protocol = "http"
)") == lines{
           "n.toml:2:1: unknown key node.nmae; did you mean node.name?",
           "n.toml:3:10: node.memory: found \"1Gib\", expected a size like \"64KiB\", \"10MB\" or "
           "4096",
           "n.toml:4:9: node.loops: found 5000, expected 0 to 1_024",
           "n.toml:5:20: node.strict_arguments: found 1, expected true or false",
           "n.toml:7:13: limits.heartbeat: found 60, expected a duration like \"100ms\", "
           "\"10s\", \"5min\", \"2h\" or \"1d\"",
           "n.toml:8:15: limits.channel_max: found 70000, expected an integer from 0 to 65535",
           "n.toml:10:12: listener.protocol: found \"http\", expected \"amqp\""});
}

TEST_CASE("an unknown key names the nearest one, one of another section, or all there are") {
  CHECK(wrong("[nod]") == lines{"n.toml:1:2: unknown key nod; did you mean node?"});
  CHECK(wrong("[node]\nframe_max = 1") ==
        lines{"n.toml:2:1: unknown key node.frame_max; did you mean limits.frame_max?"});
  CHECK(wrong("[[vhost]]\nname = \"a\"\ncolour = 1") ==
        lines{"n.toml:3:1: unknown key vhost.colour; expected one of name"});
}

TEST_CASE("a table in the place of tables, or the other way round, is told how to be written") {
  CHECK(wrong("[queue]\nname = \"a\"") ==
        lines{"n.toml:1:1: queue: found a table, expected tables, each written [[queue]]"});
  CHECK(wrong("[[node]]\nname = \"a\"") ==
        lines{"n.toml:1:1: node: found an array, expected a table, written [node]"});
}

TEST_CASE("a required key that is missing is reported at its table") {
  CHECK(wrong("\n[[queue]]\ndurable = false") ==
        lines{"n.toml:2:1: queue.name: missing, expected a string, 1 to 255 printable bytes"});
}

TEST_CASE("names that cannot be sent or printed are refused") {
  CHECK(wrong("[[queue]]\nname = \"\"").size() == 1);
  CHECK(wrong("[[queue]]\nname = \"a\\nb\"").size() == 1);
  CHECK(wrong("[[queue]]\nname = \"" + std::string(256, 'a') + "\"").size() == 1);
  CHECK(wrong("[[queue]]\nname = \"" + std::string(255, 'a') + "\"").empty());
}

TEST_CASE("what is declared twice is reported with both places") {
  CHECK(wrong("[[queue]]\nname = \"a\"\n[[queue]]\nname = \"a\"") ==
        lines{"n.toml:3:1: queue \"a\" in vhost \"/\" is declared twice, first at n.toml:1:1"});
  CHECK(wrong("[[listener]]\n[[listener]]") ==
        lines{"n.toml:2:1: listener 127.0.0.1:5672 is declared twice, first at n.toml:1:1"});
  CHECK(wrong("[[listener]]\nport = 0\n[[listener]]\nport = 0").empty());
  CHECK(wrong("[[user]]\nname = \"a\"\npassword = \"b\"\n[[user]]\nname = \"a\"\npassword = \"b\"")
            .size() == 1);
  CHECK(wrong("[[vhost]]\nname = \"a\"\n[[vhost]]\nname = \"a\"").size() == 1);
}

TEST_CASE("two queues of one name in two virtual hosts are two queues") {
  CHECK(wrong("[[vhost]]\nname = \"v\"\n[[queue]]\nname = \"a\"\n"
              "[[queue]]\nname = \"a\"\nvhost = \"v\"")
            .empty());
}

TEST_CASE("bindings are the same when all their parts are, arguments too") {
  const std::string one =
      "[[binding]]\nexchange = \"amq.headers\"\nqueue = \"q\"\narguments = { a = 1 }\n";
  const std::string two =
      "[[binding]]\nexchange = \"amq.headers\"\nqueue = \"q\"\narguments = { a = 2 }\n";
  const std::string queue = "[[queue]]\nname = \"q\"\n";
  CHECK(wrong(queue + one + two).empty());
  CHECK(wrong(queue + one + two + one) ==
        lines{"n.toml:11:1: binding of exchange \"amq.headers\" is declared twice, first at "
              "n.toml:3:1"});
}

TEST_CASE("a binding names one destination, and only what is there") {
  CHECK(wrong("[[binding]]\nexchange = \"e\"\nqueue = \"q\"") ==
        lines{"n.toml:1:1: binding names exchange \"e\" in vhost \"/\", which is not declared here",
              "n.toml:1:1: binding names queue \"q\" in vhost \"/\", which is not declared here"});
  CHECK(wrong("[[binding]]\nexchange = \"amq.direct\"") ==
        lines{"n.toml:1:1: binding of exchange \"amq.direct\": expected one of queue and "
              "to_exchange"});
  CHECK(wrong("[[binding]]\nexchange = \"amq.direct\"\nto_exchange = \"amq.fanout\"").empty());
}

TEST_CASE("a virtual host that is not declared is not there") {
  CHECK(wrong("[[queue]]\nname = \"a\"\nvhost = \"v\"") ==
        lines{"n.toml:1:1: vhost \"v\" is not declared here; expected a [[vhost]] of that name"});
}

TEST_CASE("reserved names are refused") {
  CHECK(wrong("[[exchange]]\nname = \"amq.mine\"").size() == 1);
  CHECK(wrong("[[queue]]\nname = \"amq.mine\"").size() == 1);
}

TEST_CASE("a user has exactly one kind of password, and a hash has its form") {
  CHECK(wrong("[[user]]\nname = \"u\"").size() == 1);
  CHECK(wrong("[[user]]\nname = \"u\"\npassword = \"a\"\npassword_hash = \"$argon2id$a$b$c$d\"")
            .size() == 1);
  CHECK(wrong("[[user]]\nname = \"u\"\npassword_hash = \"5f4dcc3b\"").size() == 1);
  CHECK(wrong("[[user]]\nname = \"u\"\npassword_file = \"/there/is/none\"").size() == 1);
}

TEST_CASE("a permission is a regular expression") {
  const std::string user = "[[user]]\nname = \"u\"\npassword = \"a\"\n[[user.permission]]\n";
  CHECK(wrong(user + "read = \"^a.*$\"").empty());
  CHECK(wrong(user + "read = \"(\"") ==
        lines{"n.toml:5:8: user.permission.read: found \"(\", expected a regular expression of at "
              "most 255 bytes"});
}

TEST_CASE("limits that do not fit each other name both places") {
  CHECK(wrong("[node]\nmemory = \"64MiB\"\n[limits]\nmax_message_size = \"33MiB\"") ==
        lines{"n.toml:4:1: limits.max_message_size (33MiB, n.toml:4:1) is larger than half of "
              "node.memory (32MiB, n.toml:2:1)"});
  CHECK(wrong("[limits]\nmax_incomplete_per_connection = \"1MiB\"") ==
        lines{"n.toml:2:1: limits.max_message_size (128MiB, by default) is larger than "
              "limits.max_incomplete_per_connection (1MiB, n.toml:2:1)"});
}

TEST_CASE("what one client may use of the memory is at most half of it") {
  for (const std::string key :
       {"publish_credit", "delivery_credit", "max_unsent", "max_transaction"})
    CHECK(wrong("[node]\nmemory = \"64MiB\"\n[limits]\n" + key + " = \"33MiB\"") ==
          lines{"n.toml:4:1: limits." + key +
                " (33MiB, n.toml:4:1) is larger than half of "
                "node.memory (32MiB, n.toml:2:1)"});
}

TEST_CASE("what is kept in memory until it is synced is at most half of it") {
  CHECK(wrong("[node]\nmemory = \"64MiB\"\n[journal]\nmax_unsynced = \"33MiB\"") ==
        lines{"n.toml:4:1: journal.max_unsynced (33MiB, n.toml:4:1) is larger than half of "
              "node.memory (32MiB, n.toml:2:1)"});
}

TEST_CASE("a sync policy is for queues that there may be, and for each pattern once") {
  CHECK(wrong("[[sync]]\nqueues = \"a\"\nvhost = \"v\"") ==
        lines{"n.toml:1:1: vhost \"v\" is not declared here; expected a [[vhost]] of that name"});
  CHECK(wrong("[[sync]]\nqueues = \"a\"\n[[sync]]\nqueues = \"a\"\nsync = \"never\"") ==
        lines{"n.toml:3:1: sync of \"a\" in vhost \"/\" is declared twice, first at n.toml:1:1"});
  CHECK(wrong("[[sync]]\nqueues = \"\"") ==
        lines{"n.toml:2:10: sync.queues: found \"\", expected a regular expression of 1 to 255 "
              "bytes"});
  CHECK(wrong("[[sync]]\nqueues = \"(\"").size() == 1);
  CHECK(wrong("[[sync]]\nsync = \"never\"") ==
        lines{"n.toml:1:1: sync.queues: missing, expected a string, a regular expression of 1 to "
              "255 bytes"});
  CHECK(wrong("[[sync]]\nqueues = \"a\"\nsync = \"sometimes\"").size() == 1);
}

TEST_CASE("what a blocked connection may still send fits above the high mark") {
  CHECK(wrong("[node]\nmemory = \"100MB\"\nhigh_mark = \"90%\"\n"
              "[limits]\npublish_reserve = \"11MB\"") ==
        lines{"n.toml:5:1: limits.publish_reserve (11MB, n.toml:5:1) is larger than what "
              "node.memory has above node.high_mark (10MB, n.toml:3:1)"});
}

TEST_CASE("a queue's share above the high mark is no share") {
  CHECK(wrong("[node]\nqueue_share = \"70%\"") ==
        lines{"n.toml:2:1: node.queue_share (70%, n.toml:2:1) is larger than node.high_mark (60%, "
              "by default)"});
  CHECK(wrong("[node]\nqueue_share = \"30%\"\nhigh_mark = \"20%\"") ==
        lines{"n.toml:2:1: node.queue_share (30%, n.toml:2:1) is larger than node.high_mark (20%, "
              "n.toml:3:1)"});
}

TEST_CASE("a value that cannot be read is not compared with others") {
  CHECK(wrong("[node]\nqueue_share = \"70%\"\nhigh_mark = \"101%\"").size() == 1);
  CHECK(wrong("", {"node.queue_share=70%", "node.high_mark=0%"}).size() == 1);
}

TEST_CASE("more than a limit lets exist names the first too many and the limit") {
  const std::string two_queues = "[[queue]]\nname = \"a\"\n[[queue]]\nname = \"b\"\n";
  CHECK(wrong("[limits]\nmax_queues = 1\n" + two_queues) ==
        lines{"n.toml:5:1: queue \"b\" in vhost \"/\" is more than limits.max_queues (1, "
              "n.toml:2:1) lets exist"});
  // Every virtual host, "/" too, has its predeclared exchanges.
  const std::string exchange = "[[exchange]]\nname = \"e\"\n";
  CHECK(wrong("[limits]\nmax_exchanges = 16\n" + exchange).empty());
  CHECK(wrong("[limits]\nmax_exchanges = 16\n" + exchange +
              "[[vhost]]\nname = \"u\"\n[[vhost]]\nname = \"v\"\n") ==
        lines{"n.toml:7:1: vhost \"v\" is more than limits.max_exchanges (16, n.toml:2:1) lets "
              "exist"});
  CHECK(wrong("[limits]\nmax_vhosts = 1\n[[vhost]]\nname = \"/\"\n").empty());
  CHECK(wrong("[limits]\nmax_vhosts = 1\n[[vhost]]\nname = \"v\"\n").size() == 1);
  CHECK(wrong("[limits]\nmax_bindings = 1\n" + two_queues +
              "[[binding]]\nexchange = \"amq.fanout\"\nqueue = \"a\"\n"
              "[[binding]]\nexchange = \"amq.fanout\"\nqueue = \"b\"\n") ==
        lines{"n.toml:10:1: binding of exchange \"amq.fanout\" is more than limits.max_bindings "
              "(1, n.toml:2:1) lets exist"});
}

TEST_CASE("no limit of the protocol can be nothing at all") {
  for (const std::string key : {"frame_max",
                                "initial_frame_max",
                                "channel_max",
                                "max_message_size",
                                "handshake_timeout",
                                "close_timeout",
                                "max_connections",
                                "max_consumers_per_connection",
                                "max_unacknowledged",
                                "max_vhosts",
                                "max_exchanges",
                                "max_queues",
                                "max_bindings",
                                "publish_credit",
                                "publish_reserve",
                                "delivery_credit",
                                "max_unsent",
                                "max_incomplete_per_connection",
                                "max_incomplete_per_node",
                                "max_transaction"}) {
    INFO(key);
    const auto found = wrong("[limits]\n" + key + " = 0");
    REQUIRE_FALSE(found.empty());
    CHECK_THAT(found[0], Catch::Matchers::StartsWith("n.toml:2:" + std::to_string(key.size() + 4) +
                                                     ": limits." + key + ": found 0, expected "));
  }
  for (const std::string key : {"memory", "queue_share", "high_mark"})
    CHECK(wrong("[node]\n" + key + " = 0").size() == 1);
  for (const std::string key :
       {"sync_interval", "segment_size", "reserved_segments", "max_unsynced", "compact_below"})
    CHECK(wrong("[journal]\n" + key + " = 0").size() == 1);
}

TEST_CASE("an address that no host can have is refused before anybody listens") {
  CHECK(wrong("[[listener]]\naddress = \"not an address\"") ==
        lines{"n.toml:2:11: listener.address: found \"not an address\", expected an IP address or "
              "a host name"});
  CHECK(wrong("[[listener]]\naddress = \"[::1]\"").size() == 1);
  CHECK(wrong("[[listener]]\naddress = \"fe80::1%eth0\"").empty());
  CHECK(wrong("[[listener]]\naddress = \"broker-1.example.org\"").empty());
}

TEST_CASE("arguments refuse what no field can say") {
  CHECK(wrong("[[queue]]\nname = \"a\"\narguments = { at = 12:00:00 }") ==
        lines{"n.toml:3:20: queue.arguments: found a time of day, expected a date from 1970 on"});
  CHECK(wrong("[[queue]]\nname = \"a\"\narguments = { at = 1969-12-31 }").size() == 1);
  std::string deep = "1";
  for (int i = 0; i < 40; ++i) deep = "[" + deep + "]";
  CHECK(wrong("[[queue]]\nname = \"a\"\narguments = { x = " + deep + " }").size() == 1);
}

TEST_CASE("text that is not TOML is reported with its place, and says nothing else") {
  const auto found = wrong("[node]\nname = \n[[binding]]\nexchange = \"none\"");
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], Catch::Matchers::StartsWith("n.toml:2:"));
}

TEST_CASE("a key that is endless, or nested too deeply, is refused") {
  std::string endless = "a";
  for (int i = 0; i < 100'000; ++i) endless += ".a";
  CHECK(wrong(endless + " = 1").size() == 1);
  CHECK(wrong("[" + endless + "]").size() == 1);
  CHECK(wrong("a = " + std::string(100'000, '[')).size() == 1);
  CHECK(wrong("", {endless + "=1"}).size() == 1);
}

TEST_CASE("a mistake in one file of a folder does not hide those in another") {
  const temporary_folder folder;
  folder.write("1.toml", "[node]\nname = ");
  folder.write("2.toml", "[node]\nnmae = \"a\"");
  const auto found = written(load({folder.path()}));
  REQUIRE(found.size() == 2);
  CHECK_THAT(found[0], Catch::Matchers::ContainsSubstring("1.toml:2:"));
  CHECK_THAT(found[1], Catch::Matchers::ContainsSubstring("2.toml:2:1: unknown key node.nmae"));
}

TEST_CASE("a key that two files set names both") {
  const temporary_folder folder;
  folder.write("1.toml", "[node]\nname = \"a\"");
  folder.write("2.toml", "[node]\nname = \"b\"");
  const auto base = folder.path().string();
  CHECK(written(load({folder.path()})) ==
        lines{base + "/2.toml:2:1: node.name: set twice, first at " + base +
              "/1.toml:2:1; expected it in one of the files"});
}

TEST_CASE("a path that is not there, and a folder without TOML, are mistakes") {
  CHECK(written(load({"/there/is/none.toml"})) ==
        lines{"/there/is/none.toml: cannot be read, expected a TOML file or a folder of them"});
  const temporary_folder folder;
  CHECK(written(load({folder.path()})) ==
        lines{folder.path().string() + ": no *.toml there, expected at least one"});
}

TEST_CASE("a mistake in what is set by hand names it") {
  CHECK(wrong("", {"node.nmae=north"}) ==
        lines{"--set node.nmae: unknown key node.nmae; did you mean node.name?"});
  CHECK(wrong("", {"node.loops=many"}) ==
        lines{"--set node.loops: found \"many\", expected an integer from 0 to "
              "4294967295"});
  CHECK(wrong("", {"listener.0.port=70000"}).size() == 1);
  CHECK(wrong("", {"listener.2.port=1"}) ==
        lines{"--set listener.2.port: listener: found \"2\", expected a number from 0 to 1"});
  CHECK(wrong("", {"listener.one.port=1"}).size() == 1);
  CHECK(wrong("", {"node"}) == lines{"--set node: expected KEY=VALUE, such as node.name=north"});
  CHECK(wrong("", {"=1"}).size() == 1);
  CHECK(wrong("", {"node.=1"}).size() == 1);
  CHECK(wrong("[node]\nname = \"a\"", {"node.name.first=b"}) ==
        lines{"--set node.name.first: node.name is \"a\", which has no \"first\""});
}

TEST_CASE("a header that begins with no letter of a key is a syntax error like any other") {
  CHECK(wrong("[[,queue]]\nname = \"a\"").size() == 1);
  CHECK(wrong("[\u00e9]").size() == 1);
  CHECK(wrong("\xcc\xaa").size() == 1);
}
