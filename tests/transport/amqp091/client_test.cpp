#include "transport/amqp091/client_connection.hpp"

#include "tests/catch.hpp"
#include "tests/transport/amqp091/bytes.hpp"
#include "tests/transport/amqp091/server_fixture.hpp"

using namespace baton;
using namespace baton::amqp091;
using namespace baton::amqp091::test;

namespace {

/// Writes down what a client is told.
struct client_recorder : client_handler {
  std::vector<std::string> calls;
  client_connection* machine = nullptr;
  bool closes_at_delivery = false;

  std::string take() {
    std::string all;
    for (const auto& call : calls) all += (all.empty() ? "" : "\n") + call;
    calls.clear();
    return all;
  }
  static std::string number(std::uint64_t value) { return std::to_string(value); }
  static std::string words(const message_view& message) {
    const auto body = std::string{as_text(message.body)};
    return " " + std::string{message.exchange} + "/" + std::string{message.routing_key} + " " +
           number(message.properties.size()) + " " +
           (body.size() > 20 ? number(body.size()) + " bytes" : body);
  }

  void opened() override { calls.push_back("opened"); }
  void closed(std::uint16_t code, std::string_view text) override {
    calls.push_back("closed " + number(code) + " " + std::string{text});
  }
  void blocked(std::string_view reason) override {
    calls.push_back("blocked " + std::string{reason});
  }
  void unblocked() override { calls.push_back("unblocked"); }
  void channel_opened(std::uint16_t channel) override {
    calls.push_back(number(channel) + " opened");
  }
  void channel_closed(std::uint16_t channel, std::uint16_t code, std::string_view text) override {
    calls.push_back(number(channel) + " closed " + number(code) + " " + std::string{text});
  }
  void delivered(std::uint16_t channel, std::string_view consumer, std::uint64_t tag,
                 bool redelivered, const message_view& message) override {
    calls.push_back(number(channel) + " delivered " + std::string{consumer} + " " + number(tag) +
                    (redelivered ? " again" : "") + words(message));
    if (closes_at_delivery) machine->close_channel(channel);
  }
  void returned(std::uint16_t channel, std::uint16_t code, std::string_view text,
                const message_view& message) override {
    calls.push_back(number(channel) + " returned " + number(code) + " " + std::string{text} +
                    words(message));
  }
  void got(std::uint16_t channel, std::uint64_t tag, bool, std::uint32_t left,
           const message_view& message) override {
    calls.push_back(number(channel) + " got " + number(tag) + " left " + number(left) +
                    words(message));
  }
  void on(std::uint16_t channel, const methods::basic_ack& ack) override {
    calls.push_back(number(channel) + " ack " + number(ack.delivery_tag));
  }
  void on(std::uint16_t channel, const methods::queue_declare_ok& ok) override {
    calls.push_back(number(channel) + " declared " + std::string{ok.queue});
  }
};

/// A client's machine and a server's, whose outputs are each other's inputs.
struct pair_fixture {
  server_settings settings{.properties = server_properties("Baton", "1", "test")};
  output_buffer server_out;
  output_buffer client_out;
  recording_handler server_handler;
  client_recorder client_handler;
  server_connection server{settings, server_handler, server_out};
  client_connection client;

  explicit pair_fixture(client_settings wanted = {})
      : client{std::move(wanted), client_handler, client_out} {
    server_handler.machine = &server;
    client_handler.machine = &client;
  }
  void run() {
    client.start();
    exchange();
    client.open_channel(1);
    exchange();
    server_handler.take();
    client_handler.take();
  }
  void exchange() {
    while (!client_out.empty() || !server_out.empty()) {
      const output_buffer to_server = std::move(client_out);
      server.feed(to_server.view());
      const output_buffer to_client = std::move(server_out);
      client.feed(to_client.view());
    }
  }
};

frames deliver(std::uint16_t channel, std::string_view body, std::size_t piece = 100'000) {
  frames all;
  all.method(channel,
             methods::basic_deliver{
                 .consumer_tag = "t", .delivery_tag = 1, .exchange = "e", .routing_key = "k"});
  all.header(channel, body.size());
  for (; !body.empty(); body.remove_prefix(std::min(piece, body.size())))
    all.body(channel, body.substr(0, piece));
  return all;
}

}  // namespace

TEST_CASE("a client and a server agree on limits, login and virtual host", "[amqp091]") {
  pair_fixture pair{{.user = "ann",
                     .password = "pw",
                     .virtual_host = "v",
                     .connection_name = "named",
                     .channel_max = 0,
                     .frame_max = 8192,
                     .heartbeat_seconds = 7}};
  pair.client.start();
  pair.exchange();
  CHECK(pair.server_handler.take() == "authenticate PLAIN ann pw\nopen v");
  CHECK(pair.client_handler.take() == "opened");
  CHECK(pair.client.frame_max() == 8192);
  CHECK(pair.server.frame_max() == 8192);
  CHECK(pair.client.channel_max() == 2047);
  CHECK(pair.server.heartbeat().interval() == std::chrono::seconds{7});
  CHECK(pair.client.heartbeat().interval() == std::chrono::seconds{7});
  CHECK(pair.server.client().connection_name() == "named");
  CHECK(pair.server.client().capabilities().authentication_failure_close);
  CHECK(find_in_table(pair.client.server_properties(), "product")->text() == "Baton");
}

TEST_CASE("a client that wants no heartbeats gets none", "[amqp091]") {
  pair_fixture pair{{.heartbeat_seconds = 0}};
  pair.run();
  CHECK(pair.server.heartbeat().interval() == std::chrono::seconds{0});
}

TEST_CASE("what a client publishes reaches the server", "[amqp091]") {
  pair_fixture pair;
  pair.run();
  pair.client.publish(1, {.exchange = "ex", .routing_key = "k"}, no_properties, as_bytes("body"));
  pair.client.publish(1, {.exchange = "ex", .routing_key = "large"}, no_properties,
                      as_bytes(std::string(300'000, 'x')));
  pair.client.publish(2, {.routing_key = "not open"}, no_properties, {});
  pair.exchange();
  const auto calls = pair.server_handler.take();
  CHECK(
      calls.starts_with("1 publish ex/k flags 0 body 'body'\n1 publish ex/large flags 0 body "
                        "300000 bytes"));
  CHECK(calls.find("not open") == std::string::npos);
}

TEST_CASE("messages reach the client's handler whole, however they were cut", "[amqp091]") {
  const auto piece = as_bytes("back");
  frames input;
  input.bytes(deliver(1, "small").view())
      .bytes(deliver(1, "").view())
      .bytes(deliver(1, "in three pieces", 6).view())
      .heartbeat()
      .bytes(deliver(1, std::string(9000, 'x'), 8000).view())
      .method(1, methods::basic_ack{.delivery_tag = 3});
  output_buffer contents;
  encode_content(
      contents, 1,
      methods::basic_return{
          .reply_code = 312, .reply_text = "NO_ROUTE", .exchange = "e", .routing_key = "r"},
      no_properties, {{&piece, 1}, 4}, 4096);
  encode_content(contents, 1,
                 methods::basic_get_ok{.delivery_tag = 9, .routing_key = "g", .message_count = 5},
                 no_properties, {{&piece, 1}, 4}, 4096);
  input.bytes(contents.view());
  const std::string expected =
      "1 delivered t 1 e/k 2 small\n1 delivered t 1 e/k 2 \n"
      "1 delivered t 1 e/k 2 in three pieces\n1 delivered t 1 e/k 2 9000 bytes\n1 ack 3\n"
      "1 returned 312 NO_ROUTE e/r 2 back\n1 got 9 left 5 /g 2 back";
  for (const std::size_t size : {1u, 2u, 3u, 7u, 8u, 11u, 100u, 4096u, 1000000u}) {
    pair_fixture pair;
    pair.run();
    for (std::size_t at = 0; at < input.view().size(); at += size)
      pair.client.feed(input.view().subspan(at, std::min(size, input.view().size() - at)));
    CHECK(pair.client_handler.take() == expected);
  }
}

TEST_CASE("a channel that the server closes is reported, answered and free again", "[amqp091]") {
  pair_fixture pair;
  pair.run();
  pair.server.close_channel(
      1, error_in<methods::basic_publish>(reply_code::not_found, "no exchange 'e' in vhost '/'"));
  pair.exchange();
  CHECK(pair.client_handler.take() == "1 closed 404 NOT_FOUND - no exchange 'e' in vhost '/'");
  CHECK_FALSE(pair.client.can_send(1));
  CHECK(pair.server.channel_count() == 0);
  pair.client.open_channel(1);
  pair.exchange();
  CHECK(pair.client_handler.take() == "1 opened");
}

TEST_CASE("a channel that the client closes gets nothing more", "[amqp091]") {
  pair_fixture pair;
  pair.run();
  pair.client_handler.closes_at_delivery = true;
  pair.client.feed(frames{}.bytes(deliver(1, "one").view()).bytes(deliver(1, "two").view()).view());
  CHECK(pair.client_handler.take() == "1 delivered t 1 e/k 2 one");
  pair.exchange();
  CHECK(pair.client_handler.take() == "1 closed 200 closed");
}

TEST_CASE("closes of a channel that cross tell the client the server's reason", "[amqp091]") {
  pair_fixture pair;
  pair.run();
  pair.server.close_channel(1, {reply_code::precondition_failed, "why", 60, 80});
  pair.client.close_channel(1);
  pair.exchange();
  CHECK(pair.client_handler.take() == "1 closed 406 PRECONDITION_FAILED - why");
  CHECK(pair.server.channel_count() == 0);
}

TEST_CASE("the end of a connection is reported once, with the reason", "[amqp091]") {
  pair_fixture pair;
  pair.run();
  SECTION("by the client") {
    pair.client.close();
    pair.exchange();
    CHECK(pair.client_handler.take() == "closed 200 closed");
    CHECK(pair.server_handler.take() == "close 200 closed");
  }
  SECTION("by the server") {
    pair.server.close_connection({reply_code::connection_forced, "why", 0, 0});
    pair.exchange();
    CHECK(pair.client_handler.take() == "closed 320 CONNECTION_FORCED - why");
  }
  CHECK(pair.client.is_over());
  CHECK(pair.server.ending() == ending::over);
}

TEST_CASE("a refused login is reported with the server's text", "[amqp091]") {
  pair_fixture pair;
  pair.server_handler.login_is_good = false;
  pair.client.start();
  pair.exchange();
  CHECK(pair.client_handler.take().starts_with("closed 403 ACCESS_REFUSED - Login was refused"));
}

TEST_CASE("blocked and unblocked are reported", "[amqp091]") {
  pair_fixture pair;
  pair.run();
  pair.server.send(0, methods::connection_blocked{.reason = "low on memory"});
  pair.server.send(0, methods::connection_unblocked{});
  pair.exchange();
  CHECK(pair.client_handler.take() == "blocked low on memory\nunblocked");
}

TEST_CASE("a server that breaks the protocol ends the client's connection", "[amqp091]") {
  const auto after = [](const frames& input) {
    pair_fixture pair;
    pair.run();
    pair.client.feed(input.view());
    CHECK(pair.client.is_over());
    return pair.client_handler.take();
  };
  CHECK(after(frames{}.raw(1, 1, "abcd", 0)).starts_with("closed 501"));
  CHECK(after(frames{}.body(1, "x")).starts_with("closed 505"));
  CHECK(after(frames{}.method(1, methods::queue_declare{})).starts_with("closed 503"));
  CHECK(after(frames{}.method(5, methods::queue_declare_ok{})).starts_with("closed 505"));
  CHECK(after(frames{}.method(0, methods::connection_tune{})).starts_with("closed 503"));
}

TEST_CASE("a server of another protocol version is reported", "[amqp091]") {
  pair_fixture pair;
  pair.client.start();
  pair.client.feed(as_bytes({"AMQP\3\1\0\0", 8}));
  CHECK(pair.client_handler.take().starts_with("closed 540"));
}

TEST_CASE("a message above the client's limit ends the connection before it is collected",
          "[amqp091]") {
  pair_fixture pair{{.max_message_size = 100}};
  pair.run();
  pair.client.feed(deliver(1, std::string(5000, 'x')).view());
  CHECK(pair.client_handler.take().starts_with("closed 506"));
}
