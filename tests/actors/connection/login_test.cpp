#include "tests/actors/connection/stage.hpp"

using namespace baton;
using namespace std::chrono_literals;
using amqp091::output_buffer;
using amqp091::test::frames;
using amqp091::test::server_fixture;
using baton::test::stage;

namespace {

constexpr auto delay = 700ms;

settings with_delay() {
  auto made = default_settings();
  made.limits.login_failure_delay = delay;
  return made;
}

/// The password of guest is another one.
void log_in_wrongly(stage& play, byte_view client_properties) {
  play.guest->send(server_fixture::start_ok(client_properties).view());
  play.settle();
}

}  // namespace

TEST_CASE("a client that is told of its refused login hears of it when the delay is over") {
  stage play{with_delay()};
  output_buffer properties;
  amqp091::encode_table(
      properties,
      {{"capabilities",
        field_value{field_table{{"authentication_failure_close", field_value{true}}}}}});
  properties.drop_front(4);  // the length
  log_in_wrongly(play, properties.view());
  CHECK(play.world.advance(delay / 2));
  CHECK(play.guest->answers().empty());
  CHECK(play.world.advance(delay));
  CHECK(play.guest->answers().starts_with("0 connection.close 403 0,0 ACCESS_REFUSED"));
  CHECK_FALSE(play.guest->closed());
  play.guest->send(frames{}.method(0, amqp091::methods::connection_close_ok{}).view());
  play.settle();
  CHECK(play.guest->closed());
}

TEST_CASE("a client that would not understand a refusal is let go in silence after the delay") {
  stage play{with_delay()};
  log_in_wrongly(play, {});
  CHECK(play.world.advance(delay / 2));
  CHECK_FALSE(play.guest->closed());
  CHECK(play.world.advance(delay));
  CHECK(play.guest->answers().empty());
  CHECK(play.guest->closed());
}
