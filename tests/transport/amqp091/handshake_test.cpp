#include "tests/catch.hpp"
#include "tests/transport/amqp091/server_fixture.hpp"

using namespace baton;
using namespace baton::amqp091;
using namespace baton::amqp091::test;

namespace {

output_buffer properties_with(const field_table& capabilities) {
  output_buffer table;
  encode_table(table, {{"connection_name", field_value{std::string{"it"}}},
                       {"capabilities", field_value{capabilities}}});
  table.drop_front(4);
  return table;
}

byte_view header_bytes(std::string_view text) { return as_bytes(text); }

}  // namespace

TEST_CASE("a client that follows the handshake is running after open-ok", "[amqp091]") {
  server_fixture server;
  server.feed(protocol_header);
  CHECK(server.answers() == "0 connection.start");
  server.feed(server_fixture::start_ok());
  CHECK(server.calls() == "authenticate PLAIN guest secret");
  CHECK(server.answers() == "0 connection.tune");
  server.feed(server_fixture::tune_ok(100, 65536, 5));
  CHECK(server.answers().empty());
  server.feed(server_fixture::open("/v"));
  CHECK(server.calls() == "open /v");
  CHECK(server.answers() == "0 connection.open-ok");
  CHECK(server.machine.is_running());
  CHECK(server.machine.frame_max() == 65536);
  CHECK(server.machine.channel_max() == 100);
  CHECK(server.machine.heartbeat().interval() == std::chrono::seconds{5});
}

TEST_CASE("the header of 0-9 is taken for 0-9-1", "[amqp091]") {
  server_fixture server;
  server.feed(header_bytes({"AMQP\1\1\0\x09", 8}));
  CHECK(server.answers() == "0 connection.start");
}

TEST_CASE("anything but a known header is answered with ours, and that is all", "[amqp091]") {
  for (const std::string_view wrong :
       {std::string_view{"AMQP\0\0\x08\0", 8}, std::string_view{"AMQP\0\0\x09\0", 8},
        std::string_view{"AMQP\0\0\x09\x02", 8}, std::string_view{"AMQP\1\1\x08\0", 8},
        std::string_view{"GET / HT", 8}, std::string_view{"\x16\x03\x01\x02", 4},
        std::string_view{"AMQp", 4}}) {
    server_fixture server;
    server.feed(header_bytes(wrong));
    CHECK(server.answers() == "protocol header");
    CHECK(server.machine.ending() == ending::over);
    server.feed(server_fixture::start_ok());
    CHECK(server.calls().empty());
  }
}

TEST_CASE("a whole handshake in one write is understood, also when answers come later",
          "[amqp091]") {
  server_fixture server;
  server.handler.answers = false;
  frames all;
  all.bytes(protocol_header)
      .bytes(server_fixture::start_ok().view())
      .bytes(server_fixture::tune_ok().view())
      .bytes(server_fixture::open().view())
      .method(1, methods::channel_open{});
  server.feed(all);
  CHECK(server.calls() == "authenticate PLAIN guest secret");
  CHECK_FALSE(server.machine.wants_input());
  server.machine.authenticated();
  CHECK(server.calls() == "open /");
  CHECK_FALSE(server.machine.wants_input());
  server.machine.open_accepted();
  CHECK(server.calls() == "1 opened");
  CHECK(server.machine.wants_input());
  CHECK(server.machine.buffered() == 0);
}

TEST_CASE("AMQPLAIN is a bare table with LOGIN and PASSWORD", "[amqp091]") {
  server_fixture server;
  output_buffer table;
  encode_table(table, {{"LOGIN", field_value{std::string{"ann"}}},
                       {"PASSWORD", field_value{std::string{"pw"}}}});
  server.feed(protocol_header);
  server.feed(server_fixture::start_ok({}, "AMQPLAIN", as_text(table.view().subspan(4))));
  CHECK(server.calls() == "authenticate AMQPLAIN ann pw");
}

TEST_CASE("garbage instead of a login ends in silence", "[amqp091]") {
  using namespace std::string_view_literals;
  for (const auto& [mechanism, response] :
       {std::pair{"PLAIN"sv, "no zeros"sv}, std::pair{"PLAIN"sv, ""sv},
        std::pair{"PLAIN"sv, "\0only"sv}, std::pair{"PLAIN"sv, "other\0guest\0guest"sv},
        std::pair{"PLAIN"sv, "\0a\0b\0c"sv}, std::pair{"AMQPLAIN"sv, "\5LOG"sv},
        std::pair{"AMQPLAIN"sv, ""sv}, std::pair{"EXTERNAL"sv, ""sv}, std::pair{""sv, ""sv}}) {
    server_fixture server;
    server.feed(protocol_header);
    server.answers();
    server.feed(server_fixture::start_ok({}, mechanism, response));
    CHECK(server.calls().starts_with("failed 50"));
    CHECK(server.answers().empty());
    CHECK(server.machine.ending() == ending::lingering);
  }
}

TEST_CASE("a refused login is said only to clients that understand it", "[amqp091]") {
  server_fixture server;
  server.handler.login_is_good = false;
  server.feed(protocol_header);
  server.answers();
  SECTION("with authentication_failure_close: 403") {
    const auto properties = properties_with({{"authentication_failure_close", field_value{true}}});
    server.feed(server_fixture::start_ok(properties.view()));
    CHECK(server.answers() ==
          "0 connection.close 403 0,0 ACCESS_REFUSED - Login was refused using authentication "
          "mechanism PLAIN. For details see the broker logfile.");
    CHECK(server.machine.ending() == ending::awaiting_close_ok);
    server.feed(frames{}.method(0, methods::connection_close_ok{}));
    CHECK(server.machine.ending() == ending::over);
  }
  SECTION("without it: silence") {
    server.feed(server_fixture::start_ok());
    CHECK(server.answers().empty());
    CHECK(server.machine.ending() == ending::lingering);
  }
}

TEST_CASE("capabilities and the connection's name are read from client-properties", "[amqp091]") {
  server_fixture server;
  const auto properties = properties_with({{"consumer_cancel_notify", field_value{true}},
                                           {"connection.blocked", field_value{false}},
                                           {"basic.nack", field_value{true}}});
  server.run(properties.view());
  CHECK(server.machine.client().capabilities().consumer_cancel_notify);
  CHECK_FALSE(server.machine.client().capabilities().connection_blocked);
  CHECK(server.machine.client().capabilities().basic_nack);
  CHECK(server.machine.client().connection_name() == "it");
  CHECK(server.machine.client().properties().size() == 2);
}

TEST_CASE("tune-ok beyond what was offered is refused with 530", "[amqp091]") {
  const auto answer = [](std::uint16_t channel_max, std::uint32_t frame_max) {
    server_fixture server;
    server.feed(protocol_header);
    server.feed(server_fixture::start_ok());
    server.answers();
    server.feed(server_fixture::tune_ok(channel_max, frame_max));
    return server.answers();
  };
  CHECK(answer(2047, 131072).empty());
  CHECK(answer(1, 4096).empty());
  CHECK(answer(4000, 131072) ==
        "0 connection.close 530 10,30 NOT_ALLOWED - negotiated channel_max = 4000 is higher than "
        "the maximum allowed value (2047)");
  CHECK(answer(0, 131072) ==
        "0 connection.close 530 10,30 NOT_ALLOWED - negotiated channel_max = 0 (no limit) is "
        "higher than the maximum allowed value (2047)");
  CHECK(answer(2047, 131073) ==
        "0 connection.close 530 10,30 NOT_ALLOWED - negotiated frame_max = 131073 is higher than "
        "the maximum allowed value (131072)");
  CHECK(answer(2047, 0) ==
        "0 connection.close 530 10,30 NOT_ALLOWED - negotiated frame_max = 0 (no limit) is higher "
        "than the maximum allowed value (131072)");
  CHECK(answer(2047, 4095) ==
        "0 connection.close 530 10,30 NOT_ALLOWED - negotiated frame_max = 4095 is lower than the "
        "minimum allowed value (4096)");
}

TEST_CASE("a server without limits takes a client without limits", "[amqp091]") {
  server_fixture server;
  server.settings.channel_max = 0;
  server.settings.frame_max = 0;
  server.run({}, 0, 0);
  CHECK(server.machine.is_running());
  server.feed(frames{}.publish(1, "k", std::string(200'000, 'x'), 200'000));
  CHECK(server.calls().starts_with("1 publish ex/k"));
}

TEST_CASE("before the login nothing is told to a client that breaks the protocol", "[amqp091]") {
  server_fixture server;
  server.feed(protocol_header);
  server.answers();
  SECTION("a method out of turn") {
    server.feed(server_fixture::open());
    CHECK(server.calls() == "failed 504 10,40 unexpected method in connection state starting");
  }
  SECTION("a frame on another channel") {
    server.feed(frames{}.method(1, methods::channel_open{}));
    CHECK(server.calls().starts_with("failed 505"));
  }
  SECTION("a frame beyond the limit") {
    server.feed(frames{}.raw(1, 0, std::string(70'000, 'x')));
    CHECK(server.calls().starts_with("failed 501"));
  }
  CHECK(server.answers().empty());
  CHECK(server.machine.ending() == ending::lingering);
}

TEST_CASE("a start-ok with a long token is taken before tune-ok", "[amqp091]") {
  server_fixture server;
  const std::string token(20'000, 't');
  server.feed(protocol_header);
  server.feed(server_fixture::start_ok({}, "PLAIN", std::string{"\0u\0", 3} + token));
  CHECK(server.calls() == "authenticate PLAIN u " + token);
}

TEST_CASE("a refused open says why", "[amqp091]") {
  server_fixture server;
  server.handler.answers = false;
  server.feed(protocol_header);
  server.feed(server_fixture::start_ok());
  server.machine.authenticated();
  server.feed(server_fixture::tune_ok());
  server.feed(server_fixture::open("nope"));
  server.answers();
  server.machine.close_connection(
      error_in<methods::connection_open>(reply_code::not_allowed, "vhost nope not found"));
  CHECK(server.answers() == "0 connection.close 530 10,40 NOT_ALLOWED - vhost nope not found");
}

TEST_CASE("connection methods out of turn are 504 when running", "[amqp091]") {
  const auto answer = [](const frames& input) {
    server_fixture server;
    server.run();
    server.feed(input);
    return server.answers();
  };
  constexpr auto text = " CHANNEL_ERROR - unexpected method in connection state running";
  CHECK(answer(server_fixture::open()) == std::string{"0 connection.close 504 10,40"} + text);
  CHECK(answer(server_fixture::start_ok()) == std::string{"0 connection.close 504 10,11"} + text);
  CHECK(answer(frames{}.method(0, methods::connection_close_ok{})) ==
        std::string{"0 connection.close 504 10,51"} + text);
  CHECK(answer(frames{}.method(0, methods::queue_declare{})) ==
        std::string{"0 connection.close 504 50,10"} + text);
}

TEST_CASE("update-secret is passed on and answered", "[amqp091]") {
  server_fixture server;
  server.run();
  server.feed(frames{}.method(
      0, methods::connection_update_secret{.new_secret = as_bytes("new"), .reason = "old"}));
  CHECK(server.calls() == "secret new old");
  CHECK(server.answers() == "0 connection.update-secret-ok");
}
