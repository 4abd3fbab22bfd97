#pragma once

#include <array>
#include <memory>
#include <string>

#include "actors/runtime/simulated_runtime.hpp"
#include "actors/supervisor.hpp"
#include "actors/topology_actor.hpp"
#include "tests/catch.hpp"
#include "tests/transport/amqp091/server_fixture.hpp"

namespace baton::test {

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
  void reads(bool wants_to) { wants_to ? stream_->resume_reading() : stream_->pause_reading(); }
  /// Tells the node that nothing more will follow.
  void leave() { stream_->shutdown_write(); }

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
    const auto written = stream_->write({&all, 1});
    if (written.status == io_status::failed) return out_.clear();
    out_.drop_front(written.bytes);
    if (!out_.empty()) stream_->notify_writable();
  }

  std::unique_ptr<stream> stream_;
  amqp091::output_buffer in_;
  amqp091::output_buffer out_;
  bool closed_ = false;
};

/// A simulated node and a client that has just been asked for its login.
class stage {
public:
  explicit stage(settings configured, std::uint64_t seed = 1)
      : world{{.seed = seed, .loops = 2, .network = {}}}, services_{std::move(configured), world} {
    services_.topology =
        spawn<topology_actor>(world.at(0), services_, recovered_topology{},
                              [](result<void> declared) { BATON_CHECK(declared); });
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
  node_services& services() { return services_; }

  simulated_runtime world;
  std::unique_ptr<client> guest;

private:
  node_services services_;
};

}  // namespace baton::test
