#include "tests/actors/connection/stage.hpp"

using namespace baton;
using namespace std::chrono_literals;
using amqp091::test::frames;
using amqp091::test::server_fixture;
using baton::test::stage;

namespace {

namespace methods = amqp091::methods;

constexpr std::string_view last_word = "0 connection.close 541 0,0 INTERNAL_ERROR";

settings with_guest() {
  auto made = default_settings();
  made.users.front().password = "secret";
  return made;
}

void say(stage& play, const frames& what) {
  play.guest->send(what.view());
  play.settle();
}

void open_with_confirms(stage& play) {
  say(play, server_fixture::start_ok());
  say(play, server_fixture::tune_ok().bytes(server_fixture::open().view()));
  say(play, frames{}.method(1, methods::channel_open{}).method(1, methods::confirm_select{}));
  CHECK(play.guest->answers() ==
        "0 connection.tune\n0 connection.open-ok\n1 channel.open-ok\n1 confirm.select-ok");
}

/// Breaks an invariant of the only connection: a publish is confirmed that was never made.
void break_it(stage& play) {
  const auto asker = spawn_handlers<actor_ref<answer<supervisor_report>>>(
      play.world.at(1), [](answer<supervisor_report>& got) {
        for (auto& c : got.value->connections) c.send(published{{1, 1, 1, 1, 0}});
      });
  play.services().supervisor.send(ask_node_report{{asker, 0}});
}

}  // namespace

TEST_CASE("a client whose connection fails is told of an internal error") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    stage play{with_guest(), seed};
    open_with_confirms(play);
    break_it(play);
    play.settle();
    CHECK(play.guest->answers() == last_word);
    CHECK_FALSE(play.guest->closed());
    play.guest->leave();
    play.settle();
    CHECK(play.guest->closed());
  }
}

TEST_CASE("a client that stays when its connection has failed is let go soon, whatever it says") {
  stage play{with_guest()};
  open_with_confirms(play);
  break_it(play);
  play.settle();
  say(play, frames{}.method(1, methods::queue_declare{.queue = "q"}));
  CHECK(play.guest->answers() == last_word);
  CHECK(play.world.advance(1s));
  CHECK_FALSE(play.guest->closed());
  CHECK(play.world.advance(3s));
  CHECK(play.guest->answers().empty());
  CHECK(play.guest->closed());
}

TEST_CASE("a client whose connection fails hears first what it had not read before") {
  stage play{with_guest()};
  open_with_confirms(play);
  play.guest->reads(false);
  frames questions;
  std::string expected;
  for (int i = 0; i < 5000; ++i) {  // whose answers do not fit into a simulated socket
    questions.method(1, methods::basic_qos{.prefetch_count = 1});
    expected += "1 basic.qos-ok\n";
  }
  say(play, questions);
  break_it(play);
  play.settle();
  play.guest->reads(true);
  play.settle();
  CHECK(play.guest->answers() == expected.append(last_word));
}

TEST_CASE("what a connection that fails was holding comes back to its queue") {
  stage play{with_guest()};
  open_with_confirms(play);
  say(play, frames{}.method(1, methods::queue_declare{.queue = "q"}));
  say(play,
      frames{}.method(1, methods::basic_publish{.routing_key = "q"}).header(1, 4).body(1, "kept"));
  say(play, frames{}.method(1, methods::basic_get{.queue = "q"}));
  play.guest->answers();
  break_it(play);
  play.settle();
  play.guest = std::make_unique<baton::test::client>(play.world.outside());
  play.guest->send(amqp091::protocol_header);
  play.settle();
  play.guest->answers();
  open_with_confirms(play);
  say(play, frames{}.method(1, methods::basic_get{.queue = "q"}));
  CHECK(play.guest->answers().starts_with("1 basic.get-ok"));
}
