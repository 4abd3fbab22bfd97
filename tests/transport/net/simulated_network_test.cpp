#include "transport/net/simulated_network.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace {

using namespace baton;

/// Sends all of a text as room allows, and keeps what it receives.
struct peer final : stream_handler {
  void own(std::unique_ptr<stream> taken) {
    self = std::move(taken);
    self->set_handler(this);
    self->notify_writable();
  }
  void on_readable() override {
    std::uint8_t buffer[300];
    const io_result got = self->read(buffer);
    if (got.status == io_status::ok) received.append(buffer, buffer + got.bytes);
    if (got.status == io_status::closed) is_closed = true;
    if (got.status == io_status::failed) failure = self->failure();
  }
  void on_writable() override {
    while (!to_send.empty()) {
      const byte_view piece = as_bytes(to_send);
      const io_result sent = self->write({&piece, 1});
      if (sent.status == io_status::failed) {
        failure = self->failure();
        return;
      }
      if (sent.status == io_status::would_block) return self->notify_writable();
      to_send.erase(0, sent.bytes);
      longest_write = std::max(longest_write, sent.bytes);
      ++writes;
    }
    if (closes_when_sent) self->shutdown_write();
  }

  std::unique_ptr<stream> self;
  std::string to_send;
  bool closes_when_sent = false;
  std::string received;
  std::string failure;
  bool is_closed = false;
  int writes = 0;
  std::size_t longest_write = 0;
};

struct world final : listener_handler {
  explicit world(std::uint64_t seed, simulated_network_options options = {})
      : dice{seed}, network{dice, options}, home{network.make_reactor()} {}

  void on_accept(unattached_stream one) override {
    accepted.push_back(std::make_unique<peer>());
    accepted.back()->to_send = greeting;
    accepted.back()->own(home->attach(std::move(one)));
  }
  void on_accept_blocked(const error&) override {}
  void on_accept_recovered() override {}

  void run() {
    while (home->has_due() || network.can_progress())
      if (home->has_due() && (dice.once_in(2) || !network.can_progress()))
        home->dispatch(1);
      else
        network.progress();
  }

  simulation_random dice;
  simulated_network network;
  std::unique_ptr<simulated_reactor> home;
  std::string greeting;
  std::vector<std::unique_ptr<peer>> accepted;
};

const endpoint here{"10.0.0.1", 5672};

std::string text_of(std::size_t size) {
  std::string text;
  while (text.size() < size) text += std::to_string(text.size()) + ' ';
  return text;
}

}  // namespace

TEST_CASE("a simulated stream delivers every byte once, in order, under any seed") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    world w{seed, {.pipe_capacity = 500}};
    w.greeting = text_of(3'000);
    auto door = w.home->listen(here, w);
    REQUIRE(door);
    peer client;
    client.to_send = text_of(5'000);
    const std::string sent = client.to_send;
    client.closes_when_sent = true;
    client.own(std::move(*w.home->connect(here)));
    w.run();
    REQUIRE(w.accepted.size() == 1);
    CHECK(w.accepted[0]->received == sent);
    CHECK(w.accepted[0]->is_closed);
    CHECK(client.received == w.greeting);
    CHECK(client.writes > 10);  // 5,000 bytes through 500
    CHECK(client.longest_write <= 500);
  }
}

TEST_CASE("a simulated writer waits for its reader") {
  world w{7, {.pipe_capacity = 500}};
  auto door = w.home->listen(here, w);
  peer client;
  client.to_send = text_of(5'000);
  client.own(std::move(*w.home->connect(here)));
  while (w.accepted.empty())
    w.network.can_progress() ? w.network.progress() : void(w.home->dispatch(1));
  w.accepted[0]->self->pause_reading();
  w.run();
  CHECK(client.to_send.size() >= 4'500);
  w.accepted[0]->self->resume_reading();
  w.run();
  CHECK(client.to_send.empty());
}

TEST_CASE("connecting where nobody listens in a simulation is refused") {
  world w{1};
  peer client;
  client.to_send = "hello";
  client.own(std::move(*w.home->connect(here)));
  w.run();
  CHECK(client.failure == "Connection refused");
}

TEST_CASE("a reset of the simulated network is noticed at both ends") {
  world w{5};
  auto door = w.home->listen(here, w);
  peer client;
  client.own(std::move(*w.home->connect(here)));
  w.run();
  REQUIRE(w.accepted.size() == 1);
  w.network.reset_all();
  w.run();
  CHECK(client.failure == "Connection reset by peer");
  CHECK(w.accepted[0]->failure == "Connection reset by peer");
}

TEST_CASE("closing a simulated stream delivers what was written before") {
  world w{9};
  auto door = w.home->listen(here, w);
  auto client = std::make_unique<peer>();
  client->to_send = text_of(2'000);
  const std::string sent = client->to_send;
  client->own(std::move(*w.home->connect(here)));
  while (!client->to_send.empty())
    w.home->has_due() && w.dice.once_in(2) ? void(w.home->dispatch(1)) : w.network.progress();
  client.reset();
  w.run();
  REQUIRE(w.accepted.size() == 1);
  CHECK(w.accepted[0]->received == sent);
  CHECK(w.accepted[0]->is_closed);
}

TEST_CASE("connections break at random when the simulation is told so") {
  int broken = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    world w{seed, {.pipe_capacity = 500, .reset_once_in = 20}};
    auto door = w.home->listen(here, w);
    peer client;
    client.to_send = text_of(20'000);
    client.own(std::move(*w.home->connect(here)));
    w.run();
    broken += client.failure.empty() ? 0 : 1;
  }
  CHECK(broken > 0);
}

TEST_CASE("an address of the simulated network is free again when its listener is gone") {
  world w{1};
  auto door = w.home->listen(here, w);
  REQUIRE(door);
  CHECK_FALSE(w.home->listen(here, w));
  door->reset();
  CHECK(w.home->listen(here, w));
}
