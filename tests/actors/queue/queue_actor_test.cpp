#include "actors/queue_actor.hpp"

#include <map>
#include <string>
#include <vector>

#include "actors/publish_outbox.hpp"
#include "actors/runtime/simulated_runtime.hpp"
#include "tests/catch.hpp"

using namespace baton;

namespace {

/// A queue between a topology and consumers that write down what they are told.
class stage {
public:
  explicit stage(std::uint64_t seed) : world{{.seed = seed, .loops = 2, .network = {}}} {
    topology_ = spawn_handlers<topology_ref>(
        world.at(0), [](define&) {}, [this](queue_ended& notice) { ended.push_back(notice.queue); },
        [](connection_ended&) {}, [](relocate_queues&) {}, [](define_anew&) {},
        [](definitions_safe&) {}, [](finish&) {}, [](ask_topology_report&) {});
    queue_entry entry;
    entry.id = queue_id{7};
    entry.vhost_name = "/";
    entry.name = "q";
    constexpr std::uint64_t plenty = 1 << 30;
    queue = spawn<queue_actor>(world.at(0), entry, queue_allowance{plenty, plenty}, topology_);
  }
  ~stage() { world.stop(); }

  consumer_ref consumer(std::uint64_t number) {
    auto tell = [this, number](const char* what) { told[number].emplace_back(what); };
    return spawn_handlers<consumer_ref>(
        world.at(1), [](deliver&) {}, [](publish&) {}, [=](subscribed&) { tell("subscribed"); },
        [=](unsubscribed&) { tell("unsubscribed"); }, [](short_of_demand&) {},
        [](demand_given_back&) {}, [=](queue_gone&) { tell("queue gone"); });
  }
  void add_consumer(std::uint64_t number) {
    queue.send(subscribe{consumer_id{number}, consumer(number), {}});
  }
  /// Breaks an invariant: no consumer begins twice.
  void break_it() {
    add_consumer(99);
    add_consumer(99);
  }
  void settle() { CHECK(world.run_until_idle()); }

  simulated_runtime world;
  queue_ref queue;
  std::map<std::uint64_t, std::vector<std::string>> told;  // each consumer
  std::vector<queue_id> ended;                             // what topology heard of

private:
  topology_ref topology_;
};

using words = std::vector<std::string>;
using numbers = std::vector<std::uint64_t>;

/// A publisher that writes down what became of its publishes.
struct publisher final : receipt_owner {
  numbers refused_ones;
  std::vector<receipt_run> runs;

  void completed(receipt_run run, credit_state) noexcept override { runs.push_back(run); }
  void credit_paid(std::uint64_t, credit_state) noexcept override {}
  void refused(std::uint16_t channel, std::uint32_t incarnation,
               numbers publishes) noexcept override {
    CHECK(channel == 3);
    CHECK(incarnation == 5);
    CHECK(runs.empty());
    refused_ones.insert(refused_ones.end(), publishes.begin(), publishes.end());
  }
};

message text(slab_writer& in, std::string_view body) {
  message_parts parts;
  parts.routing_key = "q";
  return in.add(parts, as_bytes(body));
}

/// Publishes with these numbers, in one batch, as part of a run of all up to 100.
void send(stage& play, const std::shared_ptr<publisher>& from, const numbers& which) {
  slab_writer writer;
  publish_outbox outbox;
  auto run = receipt::open(from, {3, 5, 1, 100, 0});
  for (auto number : which) outbox.add(queue_id{7}, play.queue, text(writer, "lost"), run, number);
  outbox.flush();
}

}  // namespace

TEST_CASE("what waits in the mailbox of a queue that fails is refused, then complete") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    stage play{seed};
    auto one = std::make_shared<publisher>();
    auto other = std::make_shared<publisher>();
    play.break_it();
    send(play, one, {11, 12, 13});
    send(play, other, {1, 4, 9});
    play.settle();
    CHECK(one->refused_ones == numbers{11, 12, 13});
    CHECK(one->runs.size() == 1);
    CHECK(other->refused_ones == numbers{1, 4, 9});
    CHECK(other->runs.size() == 1);
  }
}

TEST_CASE("what comes to a queue that has failed is refused, then complete") {
  stage play{1};
  play.break_it();
  play.settle();
  auto late = std::make_shared<publisher>();
  send(play, late, {2, 3});
  CHECK(late->refused_ones == numbers{2, 3});
  CHECK(late->runs.size() == 1);
}

TEST_CASE("the publishes with which a queue fails are refused, then complete") {
  stage play{1};
  play.settle();
  auto too_many = std::make_shared<publisher>();
  slab_writer writer;
  publish broken;
  broken.done = receipt::open(too_many, {3, 5, 1, batch::max_messages + 1, 0});
  broken.first = 1;
  broken.count = batch::max_messages + 1;
  for (std::size_t i = 0; i < broken.count; ++i) broken.messages.add(text(writer, "lost"));
  play.queue.send(std::move(broken));
  play.settle();
  CHECK(play.ended.size() == 1);
  CHECK(too_many->refused_ones.size() == batch::max_messages + 1);
  CHECK(too_many->runs.size() == 1);
}

TEST_CASE("what a queue has taken is complete, and not refused when it fails later") {
  stage play{1};
  auto early = std::make_shared<publisher>();
  send(play, early, {1, 2});
  play.settle();
  CHECK(early->runs.size() == 1);
  play.break_it();
  play.settle();
  CHECK(early->refused_ones.empty());
  CHECK(early->runs.size() == 1);
}

TEST_CASE("what comes too late for a queue that is deleted is complete, and not refused") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    stage play{seed};
    auto behind = std::make_shared<publisher>();
    auto late = std::make_shared<publisher>();
    play.queue.send(delete_queue{});
    send(play, behind, {1, 2});
    play.settle();
    send(play, late, {3, 4});
    for (const auto& each : {behind, late}) {
      CHECK(each->refused_ones.empty());
      CHECK(each->runs.size() == 1);
    }
  }
}

TEST_CASE("a queue that fails tells its consumers and the topology, once") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    stage play{seed};
    play.add_consumer(1);
    play.add_consumer(2);
    play.settle();
    play.break_it();
    play.settle();
    CHECK(play.told[1] == words{"subscribed", "queue gone"});
    CHECK(play.told[2] == words{"subscribed", "queue gone"});
    CHECK(play.ended == std::vector{queue_id{7}});
  }
}

TEST_CASE("nobody who asks a queue while it fails waits for ever") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    stage play{seed};
    play.add_consumer(1);
    play.settle();
    play.break_it();
    play.queue.send(unsubscribe{consumer_id{1}});
    play.add_consumer(2);
    play.settle();
    CHECK(play.told[1] == words{"subscribed", "queue gone"});
    CHECK(play.told[2] == words{"queue gone"});
    CHECK(play.ended.size() == 1);
  }
}
