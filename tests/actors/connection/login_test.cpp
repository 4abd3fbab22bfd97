#include <array>
#include <memory>
#include <string>

#include "actors/connection/connection_actor.hpp"
#include "actors/runtime/simulated_runtime.hpp"
#include "actors/supervisor.hpp"
#include "actors/topology_actor.hpp"
#include "tests/catch.hpp"
#include "tests/transport/amqp091/server_fixture.hpp"

using namespace baton;
using namespace std::chrono_literals;
using amqp091::output_buffer;
using amqp091::test::frames;
using amqp091::test::server_fixture;

namespace {

constexpr auto delay = 700ms;

settings with_delay() {
  auto made = default_settings();
  made.limits.login_failure_delay = delay;
  return made;
}

/// What a client sees of a node.
class client final : private stream_handler {
public:
  explicit client(reactor& sockets) : stream_{std::move(*sockets.connect({"127.0.0.1", 5672}))} {
    stream_->set_handler(this);
  }

  void send(byte_view bytes) {
    out_.append(bytes);
    on_writable();
  }
  std::string answers() { return amqp091::test::answers_in(in_); }
  bool closed() const { return closed_; }

private:
  void on_readable() override {
    std::array<std::uint8_t, 2048> scratch;
    const auto read = stream_->read(scratch);
    if (read.status == io_status::ok) return in_.append(byte_view{scratch}.first(read.bytes));
    if (read.status == io_status::would_block) return;
    closed_ = true;
    stream_->pause_reading();
  }
  void on_writable() override {
    const auto all = out_.view();
    out_.drop_front(stream_->write({&all, 1}).bytes);
    if (!out_.empty()) stream_->notify_writable();
  }

  std::unique_ptr<stream> stream_;
  output_buffer in_;
  output_buffer out_;
  bool closed_ = false;
};

/// A node and a client that has just been asked for its login.
class stage {
public:
  stage() {
    services_.topology = spawn<topology_actor>(
        world.at(0), services_, [](result<void> declared) { BATON_CHECK(declared); });
    settle();
    services_.supervisor = spawn<supervisor>(
        world.at(0), services_,
        supervisor::events{[](result<std::vector<std::string>> where) { BATON_CHECK(where); }, {}});
    settle();
    guest = std::make_unique<client>(world.outside());
    settle();
    guest->send(amqp091::protocol_header);
    settle();
    CHECK(guest->answers() == "0 connection.start");
  }
  ~stage() {
    guest.reset();
    services_.topology = {};
    services_.supervisor = {};
    world.stop();
  }
  void settle() { CHECK(world.run_until_idle()); }
  /// The password of guest is another one.
  void log_in_wrongly(byte_view client_properties) {
    guest->send(server_fixture::start_ok(client_properties).view());
    settle();
  }

  simulated_runtime world;
  std::unique_ptr<client> guest;

private:
  node_services services_{with_delay(), world};
};

}  // namespace

TEST_CASE("a client that is told of its refused login hears of it when the delay is over") {
  stage play;
  output_buffer properties;
  amqp091::encode_table(
      properties,
      {{"capabilities",
        field_value{field_table{{"authentication_failure_close", field_value{true}}}}}});
  properties.drop_front(4);  // the length
  play.log_in_wrongly(properties.view());
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
  stage play;
  play.log_in_wrongly({});
  CHECK(play.world.advance(delay / 2));
  CHECK_FALSE(play.guest->closed());
  CHECK(play.world.advance(delay));
  CHECK(play.guest->answers().empty());
  CHECK(play.guest->closed());
}
