#include "tests/catch.hpp"
#include "tests/transport/amqp091/server_fixture.hpp"

using namespace baton;
using namespace baton::amqp091;
using namespace baton::amqp091::test;

namespace {

protocol_error missing_queue() {
  return error_in<methods::queue_declare>(reply_code::not_found, "no queue 'q' in vhost '/'");
}

}  // namespace

TEST_CASE("after the server's channel.close everything is discarded until close-ok", "[amqp091]") {
  server_fixture server;
  server.run();
  server.feed(frames{}.method(2, methods::channel_open{}));
  server.machine.close_channel(1, missing_queue());
  server.calls();
  CHECK(server.answers() ==
        "2 channel.open-ok\n1 channel.close 404 50,10 NOT_FOUND - no queue 'q' in vhost '/'");
  server.feed(frames{}
                  .publish(1, "k", "body")
                  .method(1, methods::basic_ack{})
                  .method(1, methods::queue_declare{})
                  .body(1, "out of place")
                  .method(2, methods::confirm_select{}));
  CHECK(server.calls() == "2 confirm.select 0");
  CHECK(server.answers().empty());
  CHECK_FALSE(server.machine.can_send(1));
  server.machine.send(1, methods::queue_declare_ok{});
  CHECK(server.answers().empty());
  server.feed(frames{}.method(1, methods::channel_close_ok{}).method(1, methods::channel_open{}));
  CHECK(server.calls() == "1 opened");
  CHECK(server.answers() == "1 channel.open-ok");
}

TEST_CASE("frames of a content that the server's close interrupts are dropped", "[amqp091]") {
  server_fixture server;
  server.run();
  const auto input = frames{}.publish(1, "k", std::string(10'000, 'x'), 4000);
  for (const std::size_t cut : {20u, 50u, 60u, 1000u, 6000u}) {
    server.feed(input.view().first(cut));
    server.machine.close_channel(1, missing_queue());
    server.feed(input.view().subspan(cut));
    CHECK(server.calls().empty());
    server.feed(frames{}.method(1, methods::channel_close_ok{}).method(1, methods::channel_open{}));
    CHECK(server.calls() == "1 opened");
    server.answers();
  }
}

TEST_CASE("crossing closes of a channel are both answered", "[amqp091]") {
  server_fixture server;
  server.run();
  server.machine.close_channel(1, missing_queue());
  server.answers();
  server.feed(frames{}.method(1, methods::channel_close{.reply_code = 200}));
  CHECK(server.answers() == "1 channel.close-ok");
  server.feed(frames{}.method(1, methods::channel_close_ok{}).method(1, methods::channel_open{}));
  CHECK(server.answers() == "1 channel.open-ok");
}

TEST_CASE("a client's channel.close that waits when its channel fails is answered", "[amqp091]") {
  server_fixture server;
  server.run();
  server.machine.hold_channel(1);
  server.feed(frames{}.publish(1, "a", "1").method(1, methods::channel_close{.reply_code = 200}));
  server.machine.close_channel(1, missing_queue());
  const auto answers = server.answers();
  CHECK(answers.starts_with("1 channel.close 404"));
  CHECK(answers.ends_with("\n1 channel.close-ok"));
  server.feed(frames{}.method(1, methods::channel_close_ok{}).method(1, methods::channel_open{}));
  CHECK(server.answers() == "1 channel.open-ok");
}

TEST_CASE("a channel that the server closes cannot be opened before close-ok", "[amqp091]") {
  server_fixture server;
  server.run();
  server.machine.close_channel(1, missing_queue());
  server.answers();
  server.feed(frames{}.method(1, methods::channel_open{}));
  CHECK(server.answers() ==
        "0 connection.close 504 20,10 CHANNEL_ERROR - second 'channel.open' seen");
}

TEST_CASE("close-ok of a channel is sent when the handler has finished", "[amqp091]") {
  server_fixture server;
  server.run();
  server.handler.answers = false;
  server.feed(frames{}.method(1, methods::channel_close{.reply_code = 200}));
  CHECK(server.calls() == "1 closes");
  CHECK(server.answers().empty());
  CHECK_FALSE(server.machine.can_send(1));
  server.machine.close_channel(1, missing_queue());
  CHECK(server.answers().empty());
  server.machine.finish_channel_close(1);
  CHECK(server.answers() == "1 channel.close-ok");
  CHECK(server.machine.channel_count() == 0);
  server.machine.finish_channel_close(1);
  CHECK(server.answers().empty());
}

TEST_CASE("a client's channel.close ends its channel only", "[amqp091]") {
  server_fixture server;
  server.run();
  server.feed(frames{}
                  .method(2, methods::channel_open{})
                  .method(1, methods::channel_close{.reply_code = 200})
                  .method(2, methods::tx_select{})
                  .method(1, methods::channel_open{}));
  CHECK(server.calls() == "2 opened\n1 closes\n2 tx.select\n1 opened");
}

TEST_CASE("after a client's connection.close nothing is handled, and close-ok waits", "[amqp091]") {
  server_fixture server;
  server.run();
  server.handler.answers = false;
  server.feed(frames{}
                  .method(0, methods::connection_close{.reply_code = 200, .reply_text = "bye"})
                  .method(1, methods::queue_declare{})
                  .raw(7, 7, "nonsense"));
  CHECK(server.calls() == "close 200 bye");
  server.machine.close_connection(missing_queue());
  CHECK(server.answers().empty());
  CHECK(server.machine.ending() == ending::none);
  server.machine.finish_close();
  CHECK(server.answers() == "0 connection.close-ok");
  CHECK(server.machine.ending() == ending::over);
}

TEST_CASE("after the server's connection.close all but its answer is ignored", "[amqp091]") {
  server_fixture server;
  server.run();
  server.machine.close_connection({reply_code::connection_forced,
                                   "broker forced connection closure with reason 'shutdown'", 0,
                                   0});
  CHECK(server.answers() ==
        "0 connection.close 320 0,0 CONNECTION_FORCED - broker forced connection closure with "
        "reason 'shutdown'");
  CHECK(server.machine.ending() == ending::awaiting_close_ok);
  const auto input = frames{}
                         .publish(1, "k", std::string(50'000, 'x'))
                         .method(1, methods::queue_declare{})
                         .method(0, methods::connection_update_secret{});
  server.feed(input.view().first(30'000));
  CHECK(server.machine.buffered() == 0);
  server.feed(input.view().subspan(30'000));
  CHECK(server.calls().empty());
  CHECK(server.answers().empty());
  SECTION("close-ok") {
    server.feed(frames{}.method(0, methods::connection_close_ok{}));
    CHECK(server.answers().empty());
  }
  SECTION("a crossing close") {
    server.feed(frames{}.method(0, methods::connection_close{.reply_code = 200}));
    CHECK(server.answers() == "0 connection.close-ok");
  }
  CHECK(server.machine.ending() == ending::over);
}

TEST_CASE("of a pipelined batch with an error what stands before it took effect, nothing after",
          "[amqp091]") {
  server_fixture server;
  server.run();
  server.feed(frames{}
                  .method(1, methods::confirm_select{})
                  .method(1, methods::channel_open{})
                  .method(1, methods::tx_select{}));
  CHECK(server.calls() == "1 confirm.select 0\nfailed 504 20,10 second 'channel.open' seen");
}

TEST_CASE("a server that fails tells a client that has logged in, unless it has closed already",
          "[amqp091]") {
  server_fixture server;
  std::string told;
  SECTION("before the login is done") { server.feed(protocol_header); }
  SECTION("while the login is checked") {
    server.handler.answers = false;
    server.feed(protocol_header);
    server.feed(server_fixture::start_ok());
  }
  SECTION("between login and open") {
    server.feed(protocol_header);
    server.feed(server_fixture::start_ok());
    told = "0 connection.close 541 0,0 INTERNAL_ERROR";
  }
  SECTION("while it is running") {
    server.run();
    told = "0 connection.close 541 0,0 INTERNAL_ERROR";
  }
  SECTION("before it has answered the client's close") {
    server.run();
    server.handler.answers = false;
    server.feed(frames{}.method(0, methods::connection_close{.reply_code = 200}));
    told = "0 connection.close 541 0,0 INTERNAL_ERROR";
  }
  SECTION("behind its own close") {
    server.run();
    server.machine.close_connection({reply_code::connection_forced, "enough", 0, 0});
  }
  server.answers();
  server.machine.fail_internally();
  CHECK(server.answers() == told);
  server.machine.send(1, methods::basic_ack{1, false});
  CHECK(server.answers().empty());
  CHECK(server.machine.ending() == ending::lingering);
}

TEST_CASE("an error is raised where its code belongs", "[amqp091]") {
  server_fixture server;
  server.run();
  server.machine.raise(1, missing_queue());
  CHECK(server.answers().starts_with("1 channel.close 404"));
  server.machine.raise(
      1, error_in<methods::basic_qos>(reply_code::not_implemented, "prefetch_size!=0 (1)"));
  CHECK(server.answers().starts_with("0 connection.close 540 60,10"));
}
