#include <utility>

#include "tests/catch.hpp"
#include "tests/transport/amqp091/bytes.hpp"
#include "tests/transport/amqp091/server_fixture.hpp"

using namespace baton;
using namespace baton::amqp091;
using namespace baton::amqp091::test;

namespace {

/// A whole conversation: every kind of frame and content, on two channels.
frames conversation() {
  const auto properties = hex("B800 04 'text' 00000007 01 'a' 49 00000001 02 05");
  frames all;
  all.bytes(protocol_header)
      .bytes(server_fixture::start_ok().view())
      .bytes(server_fixture::tune_ok().view())
      .bytes(server_fixture::open().view())
      .method(1, methods::channel_open{})
      .method(2, methods::channel_open{})
      .method(1, methods::queue_declare{.queue = "q", .durable = true})
      .publish(1, "small", "body")
      .publish(1, "empty", "")
      .publish(1, "pieces", "abcdefghij", 3)
      .heartbeat()
      .method(2, methods::basic_publish{.routing_key = "with properties"})
      .header(2, 3, properties)
      .body(2, "xyz")
      .method(1, methods::basic_publish{.routing_key = "interleaved"})
      .method(2, methods::basic_ack{.delivery_tag = 1})
      .header(1, 2)
      .publish(2, "within", "other")
      .body(1, "pq")
      .publish(1, "large", std::string(5000, 'l'), 2000)
      .method(2, methods::channel_close{.reply_code = 200})
      .method(0, methods::connection_close{.reply_code = 200, .reply_text = "done"});
  return all;
}

std::pair<std::string, std::string> seen_whole() {
  server_fixture server;
  server.feed(conversation());
  auto calls = server.calls();
  return {std::move(calls), server.answers()};
}

}  // namespace

TEST_CASE("input split in two at any byte gives the same calls and answers", "[amqp091]") {
  const auto input = conversation();
  const auto expected = seen_whole();
  CHECK(expected.first.ends_with("close 200 done"));
  for (std::size_t cut = 0; cut <= input.view().size(); ++cut) {
    server_fixture server;
    server.feed(input.view().first(cut));
    server.feed(input.view().subspan(cut));
    const auto calls = server.calls();
    if (calls != expected.first) {
      INFO("split at " << cut);
      CHECK(calls == expected.first);
    }
    if (server.answers() != expected.second) FAIL("other answers when split at " << cut);
    if (server.machine.buffered() != 0) FAIL("holds memory when split at " << cut);
  }
}

TEST_CASE("input that comes in pieces of one size gives the same calls and answers", "[amqp091]") {
  const auto input = conversation();
  const auto expected = seen_whole();
  for (const std::size_t size : {1u, 2u, 3u, 5u, 7u, 8u, 13u, 64u, 500u, 4099u}) {
    server_fixture server;
    for (std::size_t at = 0; at < input.view().size(); at += size)
      server.feed(input.view().subspan(at, std::min(size, input.view().size() - at)));
    CHECK(server.calls() == expected.first);
    CHECK(server.answers() == expected.second);
  }
}

TEST_CASE("input truncated at any byte gives a prefix of the calls, and no error", "[amqp091]") {
  const auto input = conversation();
  const auto expected = seen_whole().first;
  for (std::size_t cut = 0; cut < input.view().size(); ++cut) {
    server_fixture server;
    server.feed(input.view().first(cut));
    const auto calls = server.calls();
    if (!expected.starts_with(calls)) FAIL("other calls when cut at " << cut << ": " << calls);
    if (server.machine.ending() != ending::none) FAIL("ended when cut at " << cut);
  }
}

TEST_CASE("any single byte changed ends in calls, errors or waiting, never in chaos", "[amqp091]") {
  const auto input = copy_of(conversation().view());
  for (std::size_t at = 0; at < input.size(); ++at) {
    auto changed = input;
    changed[at] ^= 0x41;
    server_fixture server;
    server.feed(changed);
    server.feed(changed);
    const auto answers = server.answers();
    if (answers.find("BROKEN") != std::string::npos) FAIL("broken answers at " << at);
  }
}
