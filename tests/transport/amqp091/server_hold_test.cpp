#include "tests/catch.hpp"
#include "tests/transport/amqp091/server_fixture.hpp"

using namespace baton;
using namespace baton::amqp091;
using namespace baton::amqp091::test;

namespace {

std::string published(int channel, const std::string& key, const std::string& body) {
  return std::to_string(channel) + " publish ex/" + key + " flags 0 body '" + body + "'";
}

/// Running, with two channels, and publishes held.
struct holding_fixture : server_fixture {
  holding_fixture() {
    run();
    feed(frames{}.method(2, methods::channel_open{}));
    calls();
    answers();
    machine.hold_publishes(true);
  }
};

}  // namespace

TEST_CASE("a held publish waits, and what follows it on its channel too", "[amqp091]") {
  holding_fixture server;
  const auto input =
      frames{}.publish(1, "a", "one").method(1, methods::queue_declare{}).publish(1, "b", "two");
  server.feed(input);
  CHECK(server.calls().empty());
  CHECK(server.machine.reserve_used() == input.view().size());
  server.machine.hold_publishes(false);
  CHECK(server.calls() == published(1, "a", "one") + "\n1 queue.declare 0 0 0 0 0 0 0 0\n" +
                              published(1, "b", "two"));
  CHECK(server.machine.reserve_used() == 0);
}

TEST_CASE("other channels go on while one has a held publish", "[amqp091]") {
  holding_fixture server;
  server.feed(frames{}
                  .publish(1, "a", "one")
                  .method(2, methods::tx_select{})
                  .heartbeat()
                  .method(2, methods::channel_close{.reply_code = 200}));
  CHECK(server.calls() == "2 tx.select\n2 closes");
}

TEST_CASE("settlements overtake a held publish on their own channel", "[amqp091]") {
  holding_fixture server;
  server.feed(frames{}
                  .publish(1, "a", "one")
                  .method(1, methods::basic_ack{.delivery_tag = 1})
                  .method(1, methods::basic_nack{.delivery_tag = 2})
                  .method(1, methods::basic_reject{.delivery_tag = 3})
                  .method(1, methods::basic_cancel{.consumer_tag = "c"}));
  CHECK(server.calls() ==
        "1 basic.ack 0 0 0 0 0 0 0 1 0\n1 basic.nack 0 0 0 0 0 0 0 2 0\n"
        "1 basic.reject 0 0 0 0 0 0 0 3 0");
  server.machine.hold_publishes(false);
  CHECK(server.calls() == published(1, "a", "one") + "\n1 basic.cancel 1 99 0");
}

TEST_CASE("in a transaction settlements keep their place", "[amqp091]") {
  holding_fixture server;
  SECTION("selected before") {
    server.feed(frames{}.method(1, methods::tx_select{}).publish(1, "a", "one"));
    CHECK(server.calls() == "1 tx.select");
  }
  SECTION("selected behind the held publish") {
    server.feed(frames{}.publish(1, "a", "one").method(1, methods::tx_select{}));
    CHECK(server.calls().empty());
  }
  server.feed(frames{}.method(1, methods::basic_ack{.delivery_tag = 1}));
  CHECK(server.calls().empty());
  server.machine.hold_publishes(false);
  CHECK(server.calls().ends_with("1 basic.ack 0 0 0 0 0 0 0 1 0"));
}

TEST_CASE("a content whose begin was taken goes on to its end while publishes are held",
          "[amqp091]") {
  server_fixture server;
  server.run();
  const std::string body(10'000, 'x');
  const auto input = frames{}.publish(1, "a", body, 4000).publish(1, "b", "held");
  server.feed(input.view().first(3000));
  server.machine.hold_publishes(true);
  server.feed(input.view().subspan(3000));
  CHECK(server.calls().starts_with("1 publish ex/a flags 0 body 10000 bytes"));
  server.machine.hold_publishes(false);
  CHECK(server.calls() == published(1, "b", "held"));
}

TEST_CASE("a handler that holds in the middle of the input stops the next publish", "[amqp091]") {
  server_fixture server;
  server.run();
  server.handler.holds_after = 2;
  server.feed(frames{}.publish(1, "a", "1").publish(1, "b", "2").publish(1, "c", "3"));
  CHECK(server.calls() == published(1, "a", "1") + "\n" + published(1, "b", "2"));
  server.machine.hold_publishes(false);
  CHECK(server.calls() == published(1, "c", "3"));
}

TEST_CASE("a handler that holds again during the replay keeps the rest, in order", "[amqp091]") {
  holding_fixture server;
  frames input;
  std::string expected;
  for (int i = 0; i < 9; ++i) {
    const auto key = std::to_string(i);
    input.publish(1, key, key).method(1, methods::basic_get{.queue = key});
  }
  server.feed(input);
  std::string seen;
  for (int round = 0; round < 3; ++round) {
    server.handler.holds_after = 3;
    server.machine.hold_publishes(false);
    CHECK(server.machine.publishes_held());
    seen += server.calls() + "\n";
    server.feed(frames{}.method(1, methods::basic_qos{}));  // goes behind what is held
  }
  server.machine.hold_publishes(false);
  seen += server.calls();
  server_fixture straight;
  straight.run();
  straight.feed(input);
  const auto all = straight.calls();
  CHECK(seen.substr(0, all.size()) == all);
  CHECK(server.machine.reserve_used() == 0);
}

TEST_CASE("a method in front of the next held publish goes through with the replay", "[amqp091]") {
  holding_fixture server;
  server.feed(
      frames{}.publish(1, "a", "1").method(1, methods::confirm_select{}).publish(1, "b", "2"));
  server.handler.holds_after = 1;
  server.machine.hold_publishes(false);
  CHECK(server.calls() == published(1, "a", "1") + "\n1 confirm.select 0");
}

TEST_CASE("channels take turns when little is let through at a time", "[amqp091]") {
  holding_fixture server;
  server.feed(
      frames{}.publish(1, "a", "1").publish(1, "b", "2").publish(2, "c", "3").publish(2, "d", "4"));
  const auto let_one_through = [&] {
    server.handler.holds_after = 1;
    server.machine.hold_publishes(false);
    return server.calls();
  };
  CHECK(let_one_through() == published(1, "a", "1"));
  CHECK(let_one_through() == published(2, "c", "3"));
  CHECK(let_one_through() == published(1, "b", "2"));
  CHECK(let_one_through() == published(2, "d", "4"));
}

TEST_CASE("a content that is told to wait is asked about again, then comes whole", "[amqp091]") {
  server_fixture server;
  server.run();
  server.handler.waits = 2;
  const auto input = frames{}
                         .publish(1, "a", std::string(6000, 'x'), 2500)
                         .method(1, methods::basic_ack{.delivery_tag = 5})
                         .publish(1, "b", "next");
  SECTION("all at once") { server.feed(input); }
  SECTION("byte by byte") {
    for (const auto& byte : input.view()) server.feed({&byte, 1});
  }
  CHECK(server.calls() == "1 wait\n1 basic.ack 0 0 0 0 0 0 0 5 0");
  CHECK(server.machine.publishes_held());
  server.machine.hold_publishes(false);
  CHECK(server.calls() == "1 wait");
  CHECK(server.machine.publishes_held());
  server.machine.hold_publishes(false);
  const auto calls = server.calls();
  CHECK(calls.starts_with("1 publish ex/a flags 0 body 6000 bytes"));
  CHECK(calls.ends_with(published(1, "b", "next")));
  CHECK(server.machine.reserve_used() == 0);
}

TEST_CASE("closing a channel drops what is held on it, not what others hold", "[amqp091]") {
  holding_fixture server;
  server.feed(frames{}.publish(1, "a", "1").publish(2, "b", "2"));
  const auto both = server.machine.reserve_used();
  server.machine.close_channel(1, {reply_code::precondition_failed, "why", 60, 40});
  CHECK(server.machine.reserve_used() == both / 2);
  server.feed(frames{}.publish(1, "c", "3").method(1, methods::channel_close_ok{}));
  server.machine.hold_publishes(false);
  CHECK(server.calls() == published(2, "b", "2"));
}

TEST_CASE("a client's channel.close stays behind its held publishes", "[amqp091]") {
  holding_fixture server;
  server.feed(frames{}.publish(1, "a", "1").method(1, methods::channel_close{.reply_code = 200}));
  CHECK(server.calls().empty());
  server.machine.hold_publishes(false);
  CHECK(server.calls() == published(1, "a", "1") + "\n1 closes");
  CHECK(server.answers() == "1 channel.close-ok");
}

TEST_CASE("a client's connection.close stays behind all held publishes", "[amqp091]") {
  holding_fixture server;
  server.feed(frames{}
                  .publish(1, "a", "1")
                  .method(0, methods::connection_close{.reply_code = 200, .reply_text = "bye"})
                  .method(2, methods::tx_select{}));
  CHECK(server.calls().empty());
  CHECK(server.machine.ending() == ending::none);
  server.machine.hold_publishes(false);
  CHECK(server.calls() == published(1, "a", "1") + "\nclose 200 bye");
  CHECK(server.answers() == "0 connection.close-ok");
}

TEST_CASE("a client's connection.close does not wait for a channel that we have closed",
          "[amqp091]") {
  holding_fixture server;
  const protocol_error why{reply_code::precondition_failed, "why", 60, 40};
  const auto close =
      frames{}.method(0, methods::connection_close{.reply_code = 200, .reply_text = "bye"});
  SECTION("closed before the client closes") {
    server.feed(frames{}.publish(1, "a", "1"));
    server.machine.close_channel(1, why);
    server.feed(close);
  }
  SECTION("closed after the client has closed") {
    server.feed(frames{}.publish(1, "a", "1"));
    server.feed(close);
    CHECK(server.calls().empty());
    server.machine.close_channel(1, why);
  }
  SECTION("two of them, closed on both sides of the client's close") {
    server.feed(frames{}.publish(1, "a", "1").publish(2, "b", "2"));
    server.machine.close_channel(1, why);
    server.feed(close);
    CHECK(server.calls().empty());
    server.machine.close_channel(2, why);
  }
  SECTION("one that waited for an answer") {
    server.machine.hold_channel(1);
    server.feed(frames{}.method(1, methods::confirm_select{}));
    server.feed(close);
    server.machine.close_channel(1, why);
  }
  CHECK(server.calls() == "close 200 bye");
  CHECK(server.answers().ends_with("0 connection.close-ok"));
  CHECK(server.machine.reserve_used() == 0);
  server.machine.hold_publishes(false);
  CHECK(server.calls().empty());
}

TEST_CASE("nothing is called for a channel that is closed while a connection.close waits",
          "[amqp091]") {
  holding_fixture server;
  server.feed(frames{}
                  .publish(1, "a", "1")
                  .publish(2, "b", "2")
                  .method(0, methods::connection_close{.reply_code = 200, .reply_text = "bye"}));
  server.machine.close_channel(1, {reply_code::precondition_failed, "why", 60, 40});
  CHECK(server.answers().empty());
  server.machine.hold_publishes(false);
  CHECK(server.calls() == published(2, "b", "2") + "\nclose 200 bye");
}

TEST_CASE("a fault found in the replay closes as if it had just come", "[amqp091]") {
  holding_fixture server;
  server.feed(frames{}
                  .publish(1, "a", "1")
                  .method(1, methods::channel_open{})
                  .publish(1, "b", "2")
                  .publish(2, "c", "3"));
  server.machine.hold_publishes(false);
  CHECK(server.calls() == published(1, "a", "1") + "\nfailed 504 20,10 second 'channel.open' seen");
  CHECK(server.answers().starts_with("0 connection.close 504"));
}

TEST_CASE("a connection that is being closed keeps nothing that was held", "[amqp091]") {
  holding_fixture server;
  server.feed(frames{}.publish(1, "a", "one").publish(2, "b", "two"));
  SECTION("from outside") {
    server.machine.close_connection({reply_code::connection_forced, "shutdown", 0, 0});
  }
  SECTION("during the replay, by a fault in what was held") {
    server.feed(frames{}.method(1, methods::channel_open{}).publish(1, "c", "more"));
    server.machine.hold_publishes(false);
  }
  CHECK(server.machine.reserve_used() == 0);
  server.machine.hold_publishes(true);
  server.feed(frames{}.publish(1, "a", "one"));
  CHECK(server.machine.reserve_used() == 0);
}

TEST_CASE("the reserve is bounded by what is held, however often it is refilled", "[amqp091]") {
  holding_fixture server;
  const auto one = frames{}.publish(1, "k", std::string(100, 'x'));
  for (int i = 0; i < 50; ++i) server.feed(one);
  for (int i = 0; i < 1000; ++i) {
    server.handler.holds_after = 1;
    server.machine.hold_publishes(false);
    server.feed(one);
  }
  CHECK(server.machine.reserve_used() == 50 * one.view().size());
}

TEST_CASE("a channel that waits for an answer keeps everything but settlements", "[amqp091]") {
  server_fixture server;
  server.run();
  server.feed(frames{}.method(2, methods::channel_open{}));
  server.calls();
  server.machine.hold_channel(1);
  server.feed(frames{}
                  .method(1, methods::basic_ack{.delivery_tag = 1})
                  .publish(1, "a", "1")
                  .method(2, methods::tx_select{})
                  .method(1, methods::channel_close{.reply_code = 200}));
  CHECK(server.calls() == "1 basic.ack 0 0 0 0 0 0 0 1 0\n2 tx.select");
  server.machine.release_channel(1);
  CHECK(server.calls() == published(1, "a", "1") + "\n1 closes");
  CHECK(server.machine.reserve_used() == 0);
}

TEST_CASE("a channel released while publishes are held stops at its next publish", "[amqp091]") {
  holding_fixture server;
  server.machine.hold_channel(1);
  server.feed(frames{}.method(1, methods::confirm_select{}).publish(1, "a", "1"));
  CHECK(server.calls().empty());
  server.machine.release_channel(1);
  CHECK(server.calls() == "1 confirm.select 0");
  server.machine.hold_publishes(false);
  CHECK(server.calls() == published(1, "a", "1"));
}

TEST_CASE("publishes in front of a close that gives something back go through although held",
          "[amqp091]") {
  holding_fixture server;
  const auto close_channel = frames{}.method(1, methods::channel_close{.reply_code = 200});
  const auto close =
      frames{}.method(0, methods::connection_close{.reply_code = 200, .reply_text = "bye"});
  SECTION("a channel's") {
    server.handler.gives_back_on = 1;
    server.feed(frames{}.publish(1, "a", "1").publish(2, "b", "2"));
    CHECK(server.calls().empty());
    server.feed(close_channel);
    CHECK(server.calls() == published(1, "a", "1") + "\n1 closes");
    CHECK(server.answers() == "1 channel.close-ok");
    server.machine.hold_publishes(false);
    CHECK(server.calls() == published(2, "b", "2"));
  }
  SECTION("the connection's") {
    server.handler.gives_back_on = 0;
    server.feed(frames{}.publish(1, "a", "1").publish(2, "b", "2"));
    CHECK(server.calls().empty());
    server.feed(close);
    CHECK(server.calls() ==
          published(1, "a", "1") + "\n" + published(2, "b", "2") + "\nclose 200 bye");
    CHECK(server.answers() == "0 connection.close-ok");
  }
  SECTION("with something to give back only after a while") {
    server.feed(frames{}.publish(1, "a", "1").publish(1, "b", "2").bytes(close_channel.view()));
    server.machine.hold_publishes(true);
    CHECK(server.calls().empty());
    server.handler.gives_back_on = 1;
    server.machine.hold_publishes(true);
    CHECK(server.calls() == published(1, "a", "1") + "\n" + published(1, "b", "2") + "\n1 closes");
  }
  SECTION("a handler that holds again meanwhile changes nothing") {
    server.handler.gives_back_on = 1;
    server.handler.holds_after = 1;
    server.feed(frames{}.publish(1, "a", "1").publish(1, "b", "2").bytes(close_channel.view()));
    CHECK(server.calls() == published(1, "a", "1") + "\n" + published(1, "b", "2") + "\n1 closes");
  }
  SECTION("a content that has found no room has to find it") {
    server.machine.hold_publishes(false);
    server.handler.gives_back_on = 1;
    server.handler.waits = 9;
    server.feed(frames{}.publish(1, "a", std::string(6000, 'x'), 2500));
    CHECK(server.calls() == "1 wait");
    server.feed(close_channel);
    CHECK(server.calls().starts_with("1 publish ex/a flags 0 body 6000 bytes"));
    CHECK(server.answers() == "1 channel.close-ok");
  }
  SECTION("one that still waits for an answer of its own waits on") {
    server.handler.gives_back_on = 1;
    server.machine.hold_channel(1);
    server.feed(frames{}.publish(1, "a", "1").bytes(close_channel.view()));
    CHECK(server.calls().empty());
    server.machine.release_channel(1);
    CHECK(server.calls() == published(1, "a", "1") + "\n1 closes");
  }
  CHECK(server.machine.reserve_used() == 0);
}

TEST_CASE(
    "a question of a client that has something to give back is answered though publishes are held",
    "[amqp091]") {
  holding_fixture server;
  server.handler.gives_back_on = 1;
  server.feed(
      frames{}.publish(1, "a", "1").method(1, methods::basic_recover{}).publish(1, "b", "2"));
  CHECK(server.calls() == published(1, "a", "1") + "\n1 basic.recover 0");
  server.feed(frames{}.publish(2, "c", "3").method(2, methods::basic_recover{}));
  CHECK(server.calls().empty());
}

TEST_CASE("a transaction that gives something back goes through to its end, and no further",
          "[amqp091]") {
  holding_fixture server;
  server.handler.gives_back_on = 1;
  server.feed(frames{}
                  .method(1, methods::tx_select{})
                  .publish(1, "a", "1")
                  .method(1, methods::basic_ack{.delivery_tag = 1}));
  CHECK(server.calls() == "1 tx.select");
  server.feed(frames{}.method(1, methods::tx_commit{}).publish(1, "b", "2"));
  CHECK(server.calls() == published(1, "a", "1") + "\n1 basic.ack 0 0 0 0 0 0 0 1 0\n1 tx.commit");
  server.machine.hold_publishes(true);
  CHECK(server.calls().empty());
  server.feed(frames{}.method(1, methods::tx_rollback{}));
  CHECK(server.calls() == published(1, "b", "2") + "\n1 tx.rollback");
  CHECK(server.machine.reserve_used() == 0);
}
