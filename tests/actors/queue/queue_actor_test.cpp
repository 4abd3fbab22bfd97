#include "actors/queue_actor.hpp"

#include <map>
#include <string>
#include <vector>

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
        [](connection_ended&) {}, [](ask_topology_report&) {});
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

}  // namespace

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
