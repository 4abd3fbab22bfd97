// What routing a message and changing the topology cost, without actors and sockets.
//
// Estimate before the code: a cached route is one hash of some 20 bytes (4 ns), a set of four
// hashes and one route compared (two cache lines, 4 ns): 10 to 20 ns. The default exchange: a hash
// and two or three nodes, 20 ns, plus a cache miss a level where names are many. A topic route
// worked out: for each word and live prefix a lookup of 10 ns, 100 to 200 ns; with 100,000 bindings
// the same lookups, in memory that is not in the first caches: at most three times that. A change
// with 100,000 bindings: a path of four nodes of 32 words copied, twice (index, exchanges), and the
// writer's books: 3 to 5 us.
//
// Measured: actors/topology/README.md, "Figures".

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "actors/topology/router.hpp"
#include "actors/topology/topology_core.hpp"

using namespace baton;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr std::uint64_t random_seed = 7;

struct node {
  explicit node(bool is_durable = false) : durable{is_durable} {
    vhost = core.add_vhost("/").value();
  }

  void exchange(const std::string& name, const char* type) {
    if (!core.declare_exchange({}, {vhost, name, type, false, durable})) std::abort();
  }
  queue_id queue(const std::string& name) {
    queue_declaration asked{vhost, name, false, durable};
    auto made =
        core.declare_queue({}, std::move(asked), [](const queue_entry&) { return nullptr; });
    if (!made) std::abort();
    return made->queue->id;
  }
  void bind(const std::string& exchange, const std::string& queue, const std::string& key) {
    if (!core.bind({}, {vhost, exchange, resource_kind::queue, queue, key})) std::abort();
  }
  void unbind(const std::string& exchange, const std::string& queue, const std::string& key) {
    if (!core.unbind({}, {vhost, exchange, resource_kind::queue, queue, key})) std::abort();
  }
  void publish() {
    core.publish();
    view.refresh();
  }

  const bool durable;
  topology_publication publication;
  topology_core core{publication, {}, false, [] { return std::array<std::uint8_t, 16>{}; }};
  loop_view view{publication};
  vhost_id vhost;
};

/// Nanoseconds for one call of `work(i)`: the best of many short rounds, which is what it costs
/// when nobody else has the core.
template <class Work>
double cost(std::size_t calls_a_round, Work&& work) {
  double best = 1e18;
  const auto begin = clock_type::now();
  for (int round = 0; round < 10 || clock_type::now() - begin < std::chrono::seconds{1}; ++round) {
    const auto start = clock_type::now();
    for (std::size_t i = 0; i < calls_a_round; ++i) work(i);
    const std::chrono::duration<double, std::nano> took = clock_type::now() - start;
    best = std::min(best, took.count() / static_cast<double>(calls_a_round));
  }
  return best;
}

std::size_t routed = 0;  // queues found, so that nothing is optimized away

void report(const char* what, double ns) { std::printf("  %-66s %9.1f ns\n", what, ns); }

void cached_routes() {
  node t;
  t.exchange("orders", "topic");
  for (int i = 0; i < 100; ++i) {
    t.queue("queue" + std::to_string(i));
    t.bind("orders", "queue" + std::to_string(i), "order." + std::to_string(i) + ".#");
  }
  t.publish();
  const auto route = [&](std::string_view exchange, std::string_view key) {
    routed += t.view.route({t.vhost, exchange, key}).queues.size();
  };
  report("refresh, nothing new", cost(100'000, [&](std::size_t) { routed += t.view.refresh(); }));
  report("default exchange, one name of 100",
         cost(50'000, [&](std::size_t) { route("", "queue42"); }));
  report("topic exchange, cached, one key",
         cost(50'000, [&](std::size_t) { route("orders", "order.42.paid"); }));
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i)
    keys.push_back("order." + std::to_string(i % 100) + "." + std::to_string(i));
  report("topic exchange, cached, 1,000 keys in turns",
         cost(50'000, [&](std::size_t i) { route("orders", keys[i % 1000]); }));
}

/// The same shape and the same number of matches for each number of bindings: "<region>.<n>.*" for
/// n below `bindings`, and one "#" pattern that always matches.
void topic_bindings(int bindings) {
  node t;
  t.exchange("orders", "topic");
  for (int i = 0; i < 100; ++i) t.queue("queue" + std::to_string(i));
  for (int i = 0; i < bindings; ++i)
    t.bind("orders", "queue" + std::to_string(i % 100),
           "eu" + std::to_string(i % 10) + "." + std::to_string(i) + ".*");
  t.bind("orders", "queue0", "#.paid");
  t.publish();
  // Keys that are never met twice in the cache's memory of them, so each one is worked out.
  std::mt19937_64 random{random_seed};
  std::vector<std::string> keys(20'000);
  for (auto& key : keys) {
    const auto n = random() % static_cast<std::uint64_t>(bindings);
    key = "eu" + std::to_string(n % 10) + "." + std::to_string(n) + ".paid" +
          std::to_string(random());
  }
  char what[80];
  std::snprintf(what, sizeof what, "topic exchange, worked out, %d bindings, any key", bindings);
  report(what, cost(keys.size(), [&](std::size_t i) {
           routed += t.view.route({t.vhost, "orders", keys[i]}).queues.size();
         }));
  std::vector<std::string> few(keys.begin(), keys.begin() + 100);
  const std::string_view more[] = {"none"};  // a second key: never cached
  std::snprintf(what, sizeof what, "the same, 100 keys in turns");
  report(what, cost(20'000, [&](std::size_t i) {
           routed += t.view.route({t.vhost, "orders", few[i % 100], more}).queues.size();
         }));
}

void changes(int bindings, bool durable) {
  node t{durable};
  std::printf("changes with %d %sbindings, each published%s:\n", bindings,
              durable ? "durable " : "", durable ? " and told to the store" : "");
  const auto publish = [&t] {
    t.core.publish();
    t.core.take_changes();
  };
  t.exchange("orders", "topic");
  t.exchange("direct", "direct");
  std::vector<std::string> queues;
  for (int i = 0; i < bindings / 100; ++i) {
    queues.push_back("queue" + std::to_string(i));
    t.queue(queues.back());
  }
  for (int i = 0; i < bindings; ++i) {
    const std::string& queue = queues[static_cast<std::size_t>(i) % queues.size()];
    t.bind(i % 2 == 0 ? "orders" : "direct", queue,
           "eu" + std::to_string(i % 10) + "." + std::to_string(i) + ".*");
  }
  t.publish();
  t.core.take_changes();
  std::mt19937_64 random{random_seed};
  const auto change = [&](const char* exchange) {
    return cost(1'000, [&](std::size_t i) {
      const auto n = (random() % static_cast<std::uint64_t>(bindings)) & ~1ULL;
      const std::string key = "eu" + std::to_string(n % 10) + "." + std::to_string(n) + ".new";
      const std::string& queue = queues[i % queues.size()];
      t.bind(exchange, queue, key);
      publish();
      t.unbind(exchange, queue, key);
      publish();
    });
  };
  report("bind or unbind, topic", change("orders") / 2);
  report("bind or unbind, direct", change("direct") / 2);
  report("declare and delete a queue, two versions", cost(1'000, [&](std::size_t) {
           const queue_id made = t.queue("short-lived");
           publish();
           t.core.queue_closed(t.vhost, made);
           publish();
         }));
  const auto start = clock_type::now();
  std::vector<queue_id> many;
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "many" + std::to_string(i);
    many.push_back(t.queue(name));
    t.bind("orders", name, name + ".*");
  }
  publish();
  for (queue_id each : many) t.core.queue_closed(t.vhost, each);
  publish();
  const std::chrono::duration<double, std::nano> took = clock_type::now() - start;
  report("each of 10,000 queues declared, bound and deleted, two versions", took.count() / 10'000);
}

/// What a start costs, and what a compaction of the journal asks for.
void restart(int bindings) {
  node t{true};
  t.exchange("orders", "topic");
  for (int i = 0; i < bindings / 100; ++i) t.queue("queue" + std::to_string(i));
  for (int i = 0; i < bindings; ++i)
    t.bind("orders", "queue" + std::to_string(i % (bindings / 100)), "eu." + std::to_string(i));
  std::printf("a topology of %d durable bindings:\n", bindings);
  const auto start = clock_type::now();
  auto all = t.core.all_definitions();
  const auto encoded = clock_type::now();
  const auto number = static_cast<double>(all.size());
  topology_publication publication;
  topology_core again{publication, {}, false, [] { return std::array<std::uint8_t, 16>{}; }};
  if (!again.restore(std::move(all), [](const queue_entry&) { return nullptr; }).empty())
    std::abort();
  const auto restored = clock_type::now();
  using ns = std::chrono::duration<double, std::nano>;
  report("encode each definition", ns{encoded - start}.count() / number);
  report("restore each definition", ns{restored - encoded}.count() / number);
}

/// Cached routes while another thread changes an exchange that has nothing to do with them.
void routes_under_change(int changes_a_second) {
  node t;
  t.exchange("orders", "topic");
  t.exchange("busy", "direct");
  for (int i = 0; i < 100; ++i) t.queue("queue" + std::to_string(i));
  for (int i = 0; i < 50'000; ++i)
    t.bind("busy", "queue" + std::to_string(i % 100), std::to_string(i));
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) {
    t.bind("orders", "queue" + std::to_string(i), "order." + std::to_string(i));
    keys.push_back("order." + std::to_string(i));
  }
  t.publish();
  std::atomic<bool> stop{false};
  std::thread writer{[&] {
    const auto start = clock_type::now();
    for (int made = 0; !stop; std::this_thread::yield()) {
      const std::chrono::duration<double> passed = clock_type::now() - start;
      for (; made < passed.count() * changes_a_second; ++made) {
        t.bind("busy", "queue1", "new" + std::to_string(made));
        t.core.publish();
      }
    }
  }};
  char what[80];
  std::snprintf(what, sizeof what, "cached, 100 keys, %d changes a second elsewhere",
                changes_a_second);
  report(what, cost(50'000, [&](std::size_t i) {
           if (i % 64 == 0) t.view.refresh();
           routed += t.view.route({t.vhost, "orders", keys[i % 100]}).queues.size();
         }));
  stop = true;
  writer.join();
}

}  // namespace

int main() {
  std::printf("routes:\n");
  cached_routes();
  for (int bindings : {100, 10'000, 100'000}) topic_bindings(bindings);
  for (int rate : {0, 1000}) routes_under_change(rate);
  for (bool durable : {false, true})
    for (int bindings : {100, 100'000}) changes(bindings, durable);
  restart(100'000);
  std::printf("(%zu queues found)\n", routed);
}
