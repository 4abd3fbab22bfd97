// What one message costs in the cores of a queue and of an AMQP channel, without actors and
// sockets, as CPU time: that others use the machine does not count.
//
// Estimate, in batches of 64, before the code: publish 5 ns (a slot of 32 bytes written), hand out
// 8 ns (a lease of 32 bytes, a fork at 1/64 of an atomic addition, a turn of the ring), settle 4.
// Measured: actors/queue/README.md, actors/channel/README.md.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "actors/channel/confirm_tracker.hpp"
#include "actors/channel/unsettled_table.hpp"
#include "actors/queue/queue_core.hpp"

using namespace baton;

namespace {

constexpr std::chrono::milliseconds now{0};

/// CPU time of this program, in ns.
double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}
double since(double start) { return cpu_now() - start; }

batch make_batch(slab_writer& writer, std::size_t messages, const std::string& body) {
  message_parts parts;
  parts.routing_key = "q1";
  writer.expect(messages * 95);
  batch b;
  for (std::size_t i = 0; i < messages; ++i) b.add(writer.add(parts, as_bytes(body)));
  return b;
}

/// What the bench itself needs for a message, to be taken off.
double making(std::size_t per_batch, std::size_t backlog) {
  const std::string body(16, 'x');
  slab_writer writer;
  const std::size_t total = 4'000'000;
  std::vector<batch> in;
  auto start = cpu_now();
  for (std::size_t done = 0; done < total; done += per_batch * (backlog + 1)) {
    in.clear();
    for (std::size_t i = 0; i <= backlog; ++i) in.push_back(make_batch(writer, per_batch, body));
  }
  return since(start) / total;
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
  std::vector<settlement> answers;
  std::vector<lease_batch> out;
  std::vector<batch> in;
  auto start = cpu_now();
  for (std::size_t done = 0; done < total; done += per_batch * (backlog + 1)) {
    in.clear();
    for (std::size_t i = 0; i <= backlog; ++i) in.push_back(make_batch(writer, per_batch, body));
    for (auto& b : in) queue.publish(std::move(b), now);
    queue.dispatch(now, [&](lease_batch&& b) { out.push_back(std::move(b)); });
    for (auto& b : out) {
      if (no_ack) continue;
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
    out.clear();
  }
  auto all = since(start) / total;
  std::printf("%3zu a batch, %zu consumer(s), %-6s backlog %6zu: %5.1f ns\n", per_batch, consumers,
              no_ack ? "no ack" : "ack", backlog * per_batch, all - making(per_batch, backlog));
}

/// 100,000 leases released from the back to the front, then handed out again.
void requeue() {
  constexpr std::size_t total = 100'000;
  queue_core queue{{}, now};
  consumer_options options;
  options.byte_credit = 1ULL << 60;
  (void)queue.add(consumer_id{1}, options);
  slab_writer writer;
  for (std::size_t i = 0; i < total; i += 50)
    queue.publish(make_batch(writer, 50, std::string(16, 'x')), now);
  queue.dispatch(now, [](lease_batch&&) {});
  auto start = cpu_now();
  for (sequence s = total; s > 0; --s) {
    settlement one{s, 1, outcome::release};
    queue.settle(consumer_id{1}, {&one, 1}, now);
  }
  auto releasing = since(start);
  start = cpu_now();
  queue.dispatch(now, [](lease_batch&&) {});
  std::printf(
      "100,000 released one by one, the youngest first: %5.1f ns; handed out again %5.1f ns\n",
      releasing / total, since(start) / total);
}

/// Messages with a deadline that are consumed in time.
void deadlines() {
  constexpr std::size_t total = 4'000'000;
  queue_options rules;
  rules.arguments.message_ttl = std::chrono::milliseconds{60'000};
  queue_core queue{rules, now};
  consumer_options options;
  options.byte_credit = 1ULL << 60;
  options.no_ack = true;
  (void)queue.add(consumer_id{1}, options);
  slab_writer writer;
  const std::string body(16, 'x');
  auto start = cpu_now();
  for (std::size_t i = 0; i < total; i += 64) {
    std::chrono::milliseconds at(i / 1000);
    queue.publish(make_batch(writer, 64, body), at);
    queue.dispatch(at, [](lease_batch&& b) { b.clear(); });
  }
  std::printf(" 64 a batch, 1 consumer(s), no ack, x-message-ttl: %5.1f ns\n",
              since(start) / total - making(64, 0));
}

void tags() {
  constexpr std::size_t total = 20'000'000;
  unsettled_table table;
  sequence number = 0;
  std::uint64_t leases = 0;
  auto start = cpu_now();
  for (std::size_t i = 0; i < total; i += 64) {
    std::uint64_t tag = 0;
    for (int j = 0; j < 64; ++j) tag = table.record({++number, consumer_id{1}, 0});
    (void)table.settle(tag, true, outcome::accept,
                       [&](const settled_run& run) { leases += run.leases.count; });
  }
  std::printf("unsettled table, multiple acks of 64: %5.1f ns\n", since(start) / total);
  if (leases != (total + 63) / 64 * 64) std::abort();
}

void confirms() {
  constexpr std::size_t total = 20'000'000;
  confirm_tracker tracker;
  std::vector<confirmation> out;
  std::uint64_t frames = 0;
  auto start = cpu_now();
  for (std::size_t i = 0; i < total; i += 64) {
    std::uint64_t tag = 0;
    for (int j = 0; j < 64; ++j) tag = tracker.publish();
    tracker.complete(tag - 63, 64);
    out.clear();
    tracker.take(out);
    frames += out.size();
  }
  std::printf("confirm tracker, batches of 64: %5.1f ns\n", since(start) / total);
  if (frames != (total + 63) / 64) std::abort();
}

}  // namespace

int main() {
  std::printf("publish, hand out, settle, let go; ns a message, making it not counted\n");
  for (std::size_t per_batch : {64, 8, 1})
    for (std::size_t consumers : {1, 8})
      for (bool no_ack : {false, true}) lives(per_batch, consumers, no_ack, 0);
  lives(64, 1, false, 1562);
  lives(64, 1, true, 1562);
  requeue();
  deadlines();
  tags();
  confirms();
}
