#include <optional>
#include <string>
#include <vector>

#include "actors/queue_actor.hpp"
#include "actors/runtime/simulated_runtime.hpp"
#include "tests/catch.hpp"

using namespace baton;

namespace {

/// A queue whose only message is on the disk, and a reader that answers when it is told to.
class stage {
public:
  explicit stage(std::uint64_t seed) : world{{.seed = seed, .loops = 2, .network = {}}} {
    topology_ = spawn_handlers<topology_ref>(
        world.at(0), [](define&) {}, [](queue_ended&) {}, [](connection_ended&) {},
        [](relocate_queues&) {}, [](define_anew&) {}, [](definitions_safe&) {}, [](finish&) {},
        [](ask_topology_report&) {});
    auto journal = std::make_unique<queue_actor::journal_side>();
    journal->store = spawn_handlers<store_ref>(
        world.writing(), [](append&) {}, [](commit_now&) {}, [](drop_references&) {},
        [](close_journal&) {}, [](leave_log&) {}, [](ask_journal_report&) {});
    journal->reader = spawn_handlers<reader_ref>(
        world.reading(), [this](read_messages& request) { asked_ = std::move(request); },
        [](leave_journal&) {});
    journal->found.put(1, {.at = {1, 64}, .bytes = 80, .body_size = 5});
    journal->next = 2;
    getter_ = spawn_handlers<getter_ref>(world.at(1), [this](answer<fetched>& got) {
      ++answers;
      if (got.value && got.value->message) got_by = got.ticket;
    });
    queue_entry entry;
    entry.id = queue_id{7};
    entry.vhost_name = "/";
    entry.name = "q";
    entry.durable = true;
    constexpr std::uint64_t plenty = 1 << 30;
    queue = spawn<queue_actor>(world.at(0), entry, queue_allowance{plenty, plenty}, topology_,
                               std::move(journal));
  }
  ~stage() { world.stop(); }

  void get(std::uint64_t holder) {
    queue.send(fetch{consumer_id{holder}, false, {getter_, holder}});
  }
  void settle() { CHECK(world.run_until_idle()); }
  void answer_read() {
    REQUIRE(asked_);
    messages_read read;
    for (const auto& each : asked_->wanted) {
      slab_writer writer;
      message_parts parts;
      parts.routing_key = "q";
      read.messages.push_back({each.number, each.at, writer.add(parts, as_bytes("hello"))});
    }
    queue.send(std::move(read));
    asked_.reset();
  }

  simulated_runtime world;
  queue_ref queue;
  std::uint64_t got_by = 0;  // who has the message; 0: nobody
  int answers = 0;

private:
  using getter_ref = actor_ref<answer<fetched>>;

  topology_ref topology_;
  getter_ref getter_;
  std::optional<read_messages> asked_;
};

}  // namespace

TEST_CASE("a basic.get that waits for the disk is answered when the message is there") {
  stage play{1};
  play.get(5);
  play.settle();
  CHECK(play.answers == 0);
  play.answer_read();
  play.settle();
  CHECK(play.got_by == 5);
}

TEST_CASE("a message is not leased to who has gone while it was read from the disk") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    stage play{seed};
    play.get(5);
    play.settle();
    play.queue.send(abandon{consumer_id{5}});
    play.settle();
    CHECK(play.answers == 1);
    play.answer_read();
    play.get(6);
    play.settle();
    CHECK(play.got_by == 6);
  }
}

TEST_CASE("a basic.get that waits for the disk is answered when the queue is purged") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    stage play{seed};
    play.get(5);
    play.queue.send(purge_queue{});
    play.settle();
    CHECK(play.answers == 1);
    CHECK(play.got_by == 0);
  }
}

TEST_CASE("a queue with a limit recovers no more than that, and the youngest") {
  queue_options options;
  options.arguments.max_length = 2;
  queue_core core{options, {}};
  core.store(queue_id{7}, false, {});
  journal::stored_index found;
  for (sequence number = 1; number <= 3; ++number)
    found.put(number, {.at = {1, 64}, .bytes = 80, .body_size = 5});
  core.recover(std::move(found), 4);
  CHECK(core.ready() == 2);
  const auto wanted = core.take_wanted(true);
  REQUIRE(wanted.size() == 2);
  CHECK(wanted.front().number == 2);
}
