#include <map>
#include <vector>

#include "actors/publish_outbox.hpp"
#include "actors/runtime/actor_of.hpp"
#include "actors/runtime/simulated_runtime.hpp"
#include "tests/catch.hpp"

using namespace baton;

namespace {

struct arrived {
  std::vector<std::uint64_t> numbers;
  std::size_t batches = 0;
};

struct nobody final : receipt_owner {
  std::uint32_t completed_publishes = 0;
  void completed(receipt_run run, credit_state) noexcept override {
    completed_publishes += run.count;
  }
  void credit_paid(std::uint64_t, credit_state) noexcept override {}
  void refused(std::uint16_t, std::uint32_t, std::vector<std::uint64_t>) noexcept override {}
};

/// Queues that note which publishes reach them.
struct stage {
  explicit stage(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      queues.push_back(spawn_handlers<publish_ref>(world.at(0), [this, i](publish& got) {
        auto& seen = queue_saw[i];
        ++seen.batches;
        for (std::size_t m = 0; m < got.messages.size(); ++m)
          seen.numbers.push_back(got.sequence_of(m));
        ++handled;
      }));
  }
  message some_message() { return writer.add({}, as_bytes("body")); }
  void settle() {
    outbox.flush();
    while (world.step()) {
    }
  }

  simulated_runtime world;
  std::map<std::size_t, arrived> queue_saw;
  std::size_t handled = 0;
  std::vector<publish_ref> queues;
  slab_writer writer;
  publish_outbox outbox;
};

}  // namespace

TEST_CASE("one publisher's messages reach each queue in order, however queues alternate") {
  // Ids 512 apart share a place in the outbox.
  const std::vector<std::uint64_t> ids{1, 2, 513, 7, 1025};
  stage play{ids.size()};
  auto owner = std::make_shared<nobody>();
  auto run = receipt::open(owner, {1, 1, 1, 0, 0});
  std::map<std::size_t, std::vector<std::uint64_t>> expected;
  std::uint64_t random = 12345;
  for (std::uint64_t number = 1; number <= 500; ++number) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto i = (random >> 33) % ids.size();
    play.outbox.add(queue_id{ids[i]}, play.queues[i], play.some_message(), run, number);
    ++run.run().count;
    expected[i].push_back(number);
  }
  run.release();
  play.settle();
  for (std::size_t i = 0; i < ids.size(); ++i) CHECK(play.queue_saw[i].numbers == expected[i]);
  CHECK(owner->completed_publishes == 500);
}

TEST_CASE("a fan-out to many queues leaves in whole batches") {
  stage play{100};
  auto run = receipt::open(std::make_shared<nobody>(), {1, 1, 1, 0, 0});
  for (std::uint64_t number = 1; number <= 64; ++number) {
    const auto content = play.some_message();
    for (std::size_t i = 0; i < 100; ++i)
      play.outbox.add(queue_id{i * 2}, play.queues[i], content.fork(), run, number);
  }
  run.release();
  play.settle();
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(play.queue_saw[i].batches == 1);
    CHECK(play.queue_saw[i].numbers.size() == 64);
  }
}

TEST_CASE("a batch to an actor that has ended completes its run") {
  auto owner = std::make_shared<nobody>();
  publish_outbox outbox;
  slab_writer writer;
  auto run = receipt::open(owner, {1, 1, 1, 0, 0});
  outbox.add(queue_id{1}, publish_ref{}, writer.add({}, as_bytes("body")), run, 1);
  ++run.run().count;
  run.release();
  CHECK(owner->completed_publishes == 0);
  outbox.flush();
  CHECK(owner->completed_publishes == 1);
}
