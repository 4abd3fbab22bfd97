// Routed messages/s through an embedded node: on each loop an end that publishes 16-byte messages
// to a queue of its own and an end that consumes them, all in one process, no socket.
//
//     embedded_bench [--loops N] [--seconds N] [--acks]
//
// Estimate before it was written: make 25, route 15, outbox 15, queue 25, lease and consume 15:
// about 95 ns a message on one core, 10 million/s. Measured: see README.md in this folder.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "actors/local/end.hpp"
#include "actors/node.hpp"

namespace {

using namespace baton;

struct options {
  std::size_t loops = 2;
  double seconds = 3;
  bool acks = false;
};

/// Written by its loop only, read by the main thread.
struct alignas(64) tally {
  std::atomic<std::uint64_t> consumed{0};
  std::atomic<std::uint64_t> batches{0};
};

class sink final : public local_end {
public:
  sink(std::string queue, bool acks, tally& count, std::atomic<int>& ready)
      : queue_{std::move(queue)}, acks_{acks}, count_{count}, ready_{ready} {}

  void on_attached(local_link& link) override {
    link.declare_queue(queue_, {}, [this, &link](result<void> declared) {
      if (!declared) std::abort();
      consumer_options wanted;
      wanted.no_ack = !acks_;
      wanted.prefetch = acks_ ? 8192 : 0;
      if (!link.consume(queue_, wanted)) std::abort();
      ++ready_;
    });
  }
  void on_deliver(local_link& link, consumer_id from, lease_batch leases) override {
    if (acks_)
      for (const auto& lease : leases) link.settle(from, lease.number, outcome::accept);
    auto add = [](auto& counter, std::uint64_t n) {
      counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    };
    add(count_.consumed, leases.size());
    add(count_.batches, 1);
  }

private:
  std::string queue_;
  bool acks_;
  tally& count_;
  std::atomic<int>& ready_;
};

class source final : public local_end {
public:
  explicit source(std::string queue) : queue_{std::move(queue)} {}

  void on_attached(local_link& link) override { on_credit(link); }
  void on_credit(local_link& link) override {
    constexpr std::size_t credit_look = 64;  // a batch
    while (link.credit() > 0)
      for (std::size_t i = 0; i < credit_look; ++i)
        link.publish(link.make("", queue_, as_bytes("sixteen bytes...")));
  }

private:
  std::string queue_;
};

options parse(int argc, char** argv) {
  options given;
  given.loops = std::max(1u, std::thread::hardware_concurrency());
  for (int i = 1; i < argc; ++i) {
    const std::string_view word{argv[i]};
    if (word == "--acks")
      given.acks = true;
    else if (word == "--loops" && i + 1 < argc)
      given.loops = std::strtoul(argv[++i], nullptr, 10);
    else if (word == "--seconds" && i + 1 < argc)
      given.seconds = std::strtod(argv[++i], nullptr);
  }
  return given;
}

}  // namespace

int main(int argc, char** argv) {
  const auto given = parse(argc, argv);
  auto settings = default_settings();
  settings.listeners.clear();
  settings.node.loops = static_cast<std::uint32_t>(given.loops);
  settings.node.data = std::filesystem::temp_directory_path() / "baton-bench-embedded";
  node running{std::move(settings)};
  if (auto started = running.start(); !started) {
    std::cerr << started.reason().text << '\n';
    return 1;
  }

  std::vector<tally> tallies(given.loops);
  std::atomic<int> ready{0};
  for (std::size_t i = 0; i < given.loops; ++i)
    running.attach(i,
                   std::make_unique<sink>("q" + std::to_string(i), given.acks, tallies[i], ready));
  while (ready.load() < static_cast<int>(given.loops)) std::this_thread::yield();
  for (std::size_t i = 0; i < given.loops; ++i)
    running.attach(i, std::make_unique<source>("q" + std::to_string(i)));

  auto sum = [&](auto member) {
    std::uint64_t all = 0;
    for (auto& t : tallies) all += (t.*member).load(std::memory_order_relaxed);
    return all;
  };
  using clock = std::chrono::steady_clock;
  const auto length =
      std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>{given.seconds});
  std::this_thread::sleep_for(length / 4);  // pace: the caches and the slabs warm up
  const auto begin = clock::now();
  const auto consumed = sum(&tally::consumed);
  const auto batches = sum(&tally::batches);
  std::this_thread::sleep_for(length);  // pace: the measurement
  const std::chrono::duration<double> took = clock::now() - begin;
  const auto messages = static_cast<double>(sum(&tally::consumed) - consumed);
  const auto handed = static_cast<double>(sum(&tally::batches) - batches);

  std::cout << "{\"loops\": " << given.loops << ", \"acks\": " << (given.acks ? "true" : "false")
            << ", \"messages_per_second\": " << static_cast<std::uint64_t>(messages / took.count())
            << ", \"batch\": " << (handed > 0 ? messages / handed : 0) << "}\n";
  running.request_stop();
  running.join();
}
