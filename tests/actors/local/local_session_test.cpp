#include "actors/local/local_session.hpp"

#include <memory>
#include <string>
#include <vector>

#include "actors/runtime/simulated_runtime.hpp"
#include "actors/topology_actor.hpp"
#include "tests/catch.hpp"

using namespace baton;

namespace {

/// Does what a test says, and writes down what it is told.
class scripted_end final : public local_end {
public:
  struct book {
    local_link* link = nullptr;
    std::vector<std::pair<sequence, std::string>> delivered;
    std::vector<bool> redelivered;
    std::vector<std::string> ended;
    int credits = 0;
    bool gone = false;
  };

  explicit scripted_end(std::shared_ptr<book> notes) : notes_{std::move(notes)} {}
  ~scripted_end() override { notes_->gone = true; }

  void on_attached(local_link& link) override { notes_->link = &link; }
  void on_credit(local_link&) override { ++notes_->credits; }
  void on_deliver(local_link&, consumer_id, lease_batch leases) override {
    for (const auto& l : leases) {
      notes_->delivered.emplace_back(l.number, as_text(l.content.small_body()));
      notes_->redelivered.push_back(l.redelivered);
    }
  }
  void on_ended(local_link&, consumer_id, const std::string& why) override {
    notes_->ended.push_back(why);
  }

private:
  std::shared_ptr<book> notes_;
};

/// A node without sockets, whose loops take turns by a seed.
class stage {
public:
  explicit stage(std::uint64_t seed, settings configured = default_settings())
      : world{{.seed = seed, .loops = 2, .network = {}}},
        services_{std::make_unique<node_services>(std::move(configured), world)} {
    services_->topology =
        spawn<topology_actor>(world.at(0), *services_, recovered_topology{},
                              [](result<void> declared) { BATON_CHECK(declared); });
    settle();
  }
  ~stage() {
    ends_.clear();
    services_->topology = {};
    world.stop();
  }

  std::shared_ptr<scripted_end::book> attach(std::size_t loop) {
    auto notes = std::make_shared<scripted_end::book>();
    ends_.push_back(
        spawn<local_session>(world.at(loop), *services_, std::make_unique<scripted_end>(notes)));
    settle();
    return notes;
  }
  /// Runs `work` in the end that was attached as the nth.
  void in(std::size_t nth, std::function<void(local_link&)> work) {
    ends_[nth].send(local_work{[work](local_link& link, local_end&) { work(link); }});
    settle();
  }
  void declare(std::size_t nth, const std::string& queue) {
    bool declared = false;
    in(nth, [&](local_link& link) {
      link.declare_queue(queue, {}, [&](result<void> done) { declared = bool{done}; });
    });
    CHECK(declared);
  }
  void settle() { CHECK(world.run_until_idle()); }

  simulated_runtime world;

private:
  std::unique_ptr<node_services> services_;
  std::vector<local_session_ref> ends_;
};

void send(local_link& link, std::string_view queue, std::string_view body) {
  CHECK(link.publish(link.make("", queue, as_bytes(body))) == publish_outcome::queued);
}

}  // namespace

TEST_CASE("what an end publishes reaches an end on another loop in order, and ends when settled") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    stage node{seed};
    auto publisher = node.attach(0);
    auto consumer = node.attach(1);
    node.declare(0, "q");
    consumer_id id;
    node.in(1, [&](local_link& link) { id = link.consume("q", {}).value(); });
    node.in(0, [](local_link& link) {
      for (auto body : {"one", "two", "three"}) send(link, "q", body);
    });
    CHECK(publisher->link->accepted() == 3);
    CHECK(consumer->delivered ==
          std::vector<std::pair<sequence, std::string>>{{1, "one"}, {2, "two"}, {3, "three"}});
    node.in(1, [&](local_link& link) {
      link.settle(id, 1, outcome::accept);
      link.settle(id, 2, outcome::release);
      link.settle(id, 3, outcome::accept);
    });
    CHECK(consumer->delivered.size() == 4);
    CHECK(consumer->delivered.back().second == "two");
    CHECK(consumer->redelivered.back());
  }
}

TEST_CASE("an end that has used up its credit hears when there is some again") {
  auto configured = default_settings();
  configured.limits.publish_credit = {4096};
  stage node{1, configured};
  auto end = node.attach(0);
  node.declare(0, "q");
  const auto before = end->credits;
  node.in(0, [](local_link& link) {
    while (link.credit() > 0) send(link, "q", "a body of some bytes");
    CHECK(link.credit() <= 0);
  });
  CHECK(end->credits == before + 1);
  CHECK(end->link->credit() == 4096);
}

TEST_CASE("what an end holds when it goes comes back to its queue, marked redelivered") {
  stage node{1};
  auto first = node.attach(0);
  node.declare(0, "q");
  node.in(0, [](local_link& link) {
    send(link, "q", "kept");
    CHECK(link.consume("q", {}));
  });
  CHECK(first->delivered.size() == 1);
  CHECK(!first->redelivered.front());
  auto second = node.attach(1);
  node.in(1, [](local_link& link) { CHECK(link.consume("q", {})); });
  CHECK(second->delivered.empty());
  SECTION("by itself") {
    node.in(0, [](local_link& link) { link.detach(); });
    CHECK(first->gone);
  }
  SECTION("by ending its subscription") {
    node.in(0, [](local_link& link) { link.cancel(link.consume("q", {}).value()); });
    CHECK(second->delivered.empty());  // the other one of the two still holds it
    return;
  }
  REQUIRE(second->delivered.size() == 1);
  CHECK(second->redelivered.front());
}

TEST_CASE("an end is told of a publish that leads nowhere, and of a queue that is not there") {
  stage node{1};
  node.attach(0);
  node.in(0, [](local_link& link) {
    CHECK(link.publish(link.make("no such", "q", {})) == publish_outcome::no_exchange);
    CHECK(link.publish(link.make("amq.direct", "q", {})) == publish_outcome::unroutable);
    CHECK(link.consume("q", {}).reason().text == "no queue 'q' in vhost '/'");
  });
}

TEST_CASE("an end whose subscription is refused hears why") {
  stage node{1};
  auto end = node.attach(0);
  node.declare(0, "q");
  consumer_options alone;
  alone.exclusive = true;
  node.in(0, [&](local_link& link) {
    CHECK(link.consume("q", alone));
    CHECK(link.consume("q", {}));
  });
  REQUIRE(end->ended.size() == 1);
  CHECK(end->ended.front().find("exclusive use") != std::string::npos);
}

TEST_CASE("what is posted to an end that has gone is dropped") {
  stage node{1};
  auto end = node.attach(0);
  node.in(0, [](local_link& link) { link.detach(); });
  bool ran = false;
  node.in(0, [&](local_link&) { ran = true; });
  CHECK(end->gone);
  CHECK(!ran);
}
