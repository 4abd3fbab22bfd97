// What one message costs in the cores of a queue and of an AMQP channel, without actors and
// sockets.
//
// Estimate, in batches of 64, before the code: publish 5 ns (a slot of 32 bytes written), hand out
// 8 ns (a lease of 32 bytes, a fork at 1/64 of an atomic addition, a turn of the ring), settle 4
// ns; under 25 ns together. Measured: actors/queue/README.md, actors/channel/README.md.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "actors/queue/queue_core.hpp"

using namespace baton;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds now{0};

batch make_batch(slab_writer& writer, std::size_t messages, const std::string& body) {
  message_parts parts;
  parts.routing_key = "q1";
  writer.expect(messages * 95);
  batch b;
  for (std::size_t i = 0; i < messages; ++i) b.add(writer.add(parts, as_bytes(body)));
  return b;
}

double since(clock_type::time_point start) {
  return std::chrono::duration<double, std::nano>(clock_type::now() - start).count();
}

/// The whole life of messages: made, published, leased to `consumers` in turn, settled.
void lives(std::size_t per_batch, std::size_t consumers, bool no_ack, std::size_t backlog) {
  queue_core queue{{}, now};
  for (std::size_t i = 0; i < consumers; ++i) {
    consumer_options options;
    options.no_ack = no_ack;
    options.byte_credit = 1ULL << 60;
    (void)queue.add(consumer_id{i + 1}, options);
  }
  const std::string body(16, 'x');
  slab_writer writer;
  const std::size_t total = 4'000'000;
  double making = 0;
  double inside = 0;
  std::vector<settlement> answers;
  std::vector<lease_batch> out;
  for (std::size_t done = 0; done < total; done += per_batch * (backlog + 1)) {
    std::vector<batch> in;
    auto start = clock_type::now();
    for (std::size_t i = 0; i <= backlog; ++i) in.push_back(make_batch(writer, per_batch, body));
    making += since(start);
    start = clock_type::now();
    for (auto& b : in) queue.publish(std::move(b), now);
    out.clear();
    queue.dispatch(now, [&](lease_batch&& b) { out.push_back(std::move(b)); });
    for (auto& b : out) {
      if (!no_ack) {
        answers.clear();
        for (const auto& l : b) {
          if (!answers.empty() && answers.back().first + answers.back().count == l.number)
            ++answers.back().count;
          else
            answers.push_back({l.number, 1, outcome::accept});
        }
        auto consumer = b.consumer();
        b.clear();
        queue.settle(consumer, answers, now);
      }
    }
    out.clear();
    inside += since(start);
  }
  std::printf(
      "%3zu a batch, %zu consumer(s), %-6s backlog %6zu: %5.1f ns (making the message %5.1f)\n",
      per_batch, consumers, no_ack ? "no ack" : "ack", backlog * per_batch, inside / total,
      making / total);
}

}  // namespace

int main() {
  std::printf("publish, hand out, settle, let go; ns a message\n");
  for (std::size_t per_batch : {64, 8, 1})
    for (std::size_t consumers : {1, 8})
      for (bool no_ack : {false, true}) lives(per_batch, consumers, no_ack, 0);
  lives(64, 1, false, 1562);
  lives(64, 1, true, 1562);
}
