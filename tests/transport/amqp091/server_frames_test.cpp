#include "tests/catch.hpp"
#include "tests/transport/amqp091/server_fixture.hpp"

using namespace baton;
using namespace baton::amqp091;
using namespace baton::amqp091::test;

namespace {

/// What a running server answers to this input.
std::string answer_to(const frames& input) {
  server_fixture server;
  server.run({}, 2, 4096);
  server.feed(input);
  return server.answers();
}

constexpr auto publish_method = methods::basic_publish{.exchange = "ex", .routing_key = "k"};

}  // namespace

TEST_CASE("a frame may exceed the limit by its own 8 octets, not by more", "[amqp091]") {
  server_fixture server;
  server.run({}, 2047, 4096);
  server.feed(frames{}.publish(1, "k", std::string(4096, 'x')));
  CHECK(server.calls().starts_with("1 publish ex/k"));
  CHECK(answer_to(
            frames{}.method(1, publish_method).header(1, 4097).raw(3, 1, std::string(4097, 'x'))) ==
        "0 connection.close 501 0,0 FRAME_ERROR - type 3, all octets = <<>>: "
        "{frame_too_large,4097,4088}");
}

TEST_CASE("a wrong end octet is 501, and nothing behind it is read", "[amqp091]") {
  server_fixture server;
  server.run();
  server.feed(frames{}.raw(1, 1, "abcd", 0xCD).method(1, methods::queue_declare{}));
  CHECK(server.answers() ==
        "0 connection.close 501 0,0 FRAME_ERROR - type 1, all octets = <<97,98,99,100>>: "
        "{invalid_frame_end_marker,205}");
  CHECK(server.calls().starts_with("failed 501"));
  CHECK(server.machine.ending() == ending::lingering);
  server.feed(frames{}.method(0, methods::connection_close_ok{}));
  CHECK(server.machine.ending() == ending::lingering);
}

TEST_CASE("misplaced frames have RabbitMQ's codes", "[amqp091]") {
  const auto starts = [](const frames& input, std::string_view expected) {
    const auto answer = answer_to(input);
    INFO(answer);
    CHECK(answer.starts_with(expected));
  };
  starts(frames{}.raw(4, 1, "x"), "0 connection.close 501 0,0 FRAME_ERROR - type 4");
  starts(frames{}.raw(8, 0, "x"), "0 connection.close 501 0,0 FRAME_ERROR - type 8, all octets");
  starts(frames{}.raw(8, 1, ""), "0 connection.close 505 0,0 UNEXPECTED_FRAME - type 8");
  starts(frames{}.raw(2, 0, "x"), "0 connection.close 505 0,0");
  starts(frames{}.raw(1, 1, "x"), "0 connection.close 501 0,0 FRAME_ERROR - type 1, all octets");
  starts(frames{}.header(1, 5),
         "0 connection.close 505 0,0 UNEXPECTED_FRAME - expected method frame, got non method "
         "frame instead");
  starts(frames{}.body(1, "x"), "0 connection.close 505 0,0 UNEXPECTED_FRAME - expected method");
  starts(frames{}.method(1, publish_method).body(1, "x"),
         "0 connection.close 505 60,40 UNEXPECTED_FRAME - expected content header for class 60, "
         "got non content header frame instead");
  starts(frames{}.method(1, publish_method).method(1, methods::channel_close{}),
         "0 connection.close 505 60,40 UNEXPECTED_FRAME - expected content header");
  starts(frames{}.method(1, publish_method).header(1, 5).method(1, methods::basic_ack{}),
         "0 connection.close 505 60,40 UNEXPECTED_FRAME - expected content body, got non content "
         "body frame instead");
  starts(frames{}.method(1, publish_method).header(1, 5, frames::none(), 50),
         "0 connection.close 505 60,40 UNEXPECTED_FRAME - expected content header for class 60, "
         "got one for class 50 instead");
  starts(frames{}.method(1, publish_method).header(1, 5, frames::none(), 60, 1),
         "0 connection.close 505 60,40");
  starts(frames{}.method(1, publish_method).header(1, 3).body(1, "four"),
         "0 connection.close 501 60,40 FRAME_ERROR - content body is longer");
  starts(frames{}.method(1, publish_method).header(1, 0, as_bytes("\xFF")),
         "0 connection.close 501 0,0");
  starts(frames{}.method(1, publish_method).header(1, 0, as_bytes("\x80\x01")),
         "0 connection.close 501 60,40 FRAME_ERROR - cannot decode properties");
}

TEST_CASE("methods that cannot be decoded close the connection, named by their ids", "[amqp091]") {
  using namespace std::string_view_literals;
  CHECK(answer_to(frames{}.raw(1, 1, "\0\x32\0\x0A\0"sv)) ==
        "0 connection.close 501 50,10 FRAME_ERROR - cannot decode <<0>>");
  CHECK(answer_to(frames{}.raw(1, 1, "\0\x3C\0\x63"sv)) ==
        "0 connection.close 540 60,99 NOT_IMPLEMENTED - unknown method 60,99");
  CHECK(answer_to(frames{}.method(1, methods::queue_declare{.queue = "\xFF"})) ==
        "0 connection.close 501 50,10 FRAME_ERROR - Malformed UTF-8 in shortstr");
}

TEST_CASE("a method on a channel that was not opened is 504", "[amqp091]") {
  CHECK(answer_to(frames{}.method(7, methods::queue_declare{})) ==
        "0 connection.close 504 50,10 CHANNEL_ERROR - expected 'channel.open'");
  CHECK(answer_to(frames{}.method(7, methods::channel_close{})) ==
        "0 connection.close 504 20,40 CHANNEL_ERROR - expected 'channel.open'");
  CHECK(answer_to(frames{}.method(1, methods::channel_open{})) ==
        "0 connection.close 504 20,10 CHANNEL_ERROR - second 'channel.open' seen");
  CHECK(answer_to(frames{}.publish(7, "k", "x")) ==
        "0 connection.close 504 60,40 CHANNEL_ERROR - expected 'channel.open'");
}

TEST_CASE("what only a server says is 503 from a client, cancel-ok is ignored", "[amqp091]") {
  CHECK(answer_to(frames{}.method(1, methods::queue_declare_ok{})) ==
        "0 connection.close 503 50,11 COMMAND_INVALID - unimplemented method");
  CHECK(answer_to(frames{}.method(1, methods::channel_close_ok{})) ==
        "0 connection.close 503 20,41 COMMAND_INVALID - unimplemented method");
  CHECK(answer_to(frames{}.method(1, methods::connection_tune_ok{})) ==
        "0 connection.close 503 10,31 COMMAND_INVALID - unimplemented method");
  CHECK(answer_to(frames{}.method(1, methods::basic_deliver{})) ==
        "0 connection.close 503 60,60 COMMAND_INVALID - unimplemented method");
  CHECK(answer_to(frames{}.method(1, methods::basic_cancel_ok{})).empty());
}

TEST_CASE("channel_max counts open channels, whatever their numbers", "[amqp091]") {
  server_fixture server;
  server.run({}, 2);
  server.feed(frames{}.method(60'000, methods::channel_open{}));
  CHECK(server.answers() == "60000 channel.open-ok");
  server.feed(frames{}.method(2, methods::channel_open{}));
  CHECK(server.answers() ==
        "0 connection.close 530 20,10 NOT_ALLOWED - number of channels opened (2) has reached the "
        "negotiated channel_max (2)");
}

TEST_CASE("flow and access are answered without the handler", "[amqp091]") {
  CHECK(answer_to(frames{}.method(1, methods::channel_flow{.active = true})) ==
        "1 channel.flow-ok");
  CHECK(answer_to(frames{}.method(1, methods::channel_flow{.active = false})) ==
        "0 connection.close 540 20,20 NOT_IMPLEMENTED - active=false");
  CHECK(answer_to(frames{}.method(1, methods::access_request{})) == "1 access.request-ok");
}

TEST_CASE("heartbeats are legal between the frames of one content", "[amqp091]") {
  server_fixture server;
  server.run();
  server.feed(frames{}
                  .method(1, publish_method)
                  .heartbeat()
                  .header(1, 4)
                  .heartbeat()
                  .body(1, "ab")
                  .heartbeat()
                  .body(1, "")
                  .body(1, "cd")
                  .heartbeat());
  CHECK(server.calls() == "1 publish ex/k flags 0 body 'abcd'");
  CHECK(server.answers().empty());
}

TEST_CASE("contents of several channels may interleave", "[amqp091]") {
  server_fixture server;
  server.run();
  server.feed(frames{}.method(2, methods::channel_open{}));
  server.calls();
  server.feed(frames{}
                  .method(1, publish_method)
                  .method(2, methods::basic_publish{.routing_key = "two"})
                  .header(2, 0)
                  .header(1, 2)
                  .method(2, methods::basic_publish{.routing_key = "three"})
                  .body(1, "ab")
                  .header(2, 0));
  CHECK(server.calls() ==
        "2 publish /two flags 0 body ''\n1 publish ex/k flags 0 body 'ab'\n"
        "2 publish /three flags 0 body ''");
}

TEST_CASE("a content above the size limit is 406 at its header, and its body goes nowhere",
          "[amqp091]") {
  server_fixture server;
  server.settings.max_message_size = 1000;
  server.run();
  server.feed(frames{}.publish(1, "k", std::string(1000, 'x')));
  server.calls();
  server.feed(frames{}.method(1, publish_method).header(1, 1001));
  CHECK(server.answers() ==
        "1 channel.close 406 60,40 PRECONDITION_FAILED - message size 1001 is larger than "
        "configured max size 1000");
  CHECK(server.calls().starts_with("1 failed 406 60,40"));
  server.feed(frames{}.body(1, std::string(500, 'x')));
  const auto rest = frames{}.body(1, std::string(501, 'x'));
  server.feed(rest.view().first(100));
  CHECK(server.machine.buffered() == 0);
  server.feed(rest.view().subspan(100));
  server.feed(frames{}.method(1, methods::channel_close_ok{}).method(1, methods::channel_open{}));
  CHECK(server.calls() == "1 opened");
  CHECK(server.answers() == "1 channel.open-ok");
}

TEST_CASE("a content above RabbitMQ's own bound is a broken header", "[amqp091]") {
  CHECK(answer_to(frames{}.method(1, publish_method).header(1, (std::uint64_t{512} << 20) + 1)) ==
        "0 connection.close 501 60,40 FRAME_ERROR - content body size 536870913 exceeds maximum "
        "allowed size 536870912");
}

TEST_CASE("a body is never collected by the machine, in whatever pieces it comes", "[amqp091]") {
  server_fixture server;
  server.run({}, 2047, 131072);
  const std::string body(1'000'000, 'b');
  const auto input = frames{}.publish(1, "big", body, 131064);
  std::size_t most = 0;
  for (std::size_t at = 0; at < input.view().size(); at += 10'007) {
    server.feed(input.view().subspan(at, std::min<std::size_t>(10'007, input.view().size() - at)));
    most = std::max(most, server.machine.buffered());
  }
  CHECK(most < 8192);
  CHECK(server.calls().starts_with("1 publish ex/big flags 0 body 1000000 bytes"));
}
