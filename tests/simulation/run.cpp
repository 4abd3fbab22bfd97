#include "tests/simulation/run.hpp"

#include <algorithm>
#include <memory>

#include "actors/node_services.hpp"
#include "actors/runtime/simulated_runtime.hpp"
#include "actors/supervisor.hpp"
#include "actors/topology_actor.hpp"
#include "tests/simulation/client.hpp"
#include "tests/simulation/credit_books.hpp"

namespace baton::simulation {

namespace {

using namespace std::chrono_literals;

/// How long the node may need, of its own time, until nothing is left to do.
constexpr std::chrono::milliseconds patience = 20s;
constexpr std::chrono::milliseconds look_again = 10ms;

/// What the node counts for a message beside its body.
constexpr std::uint64_t most_around_a_body = 512;

/// A power of two, from the first to the second.
byte_count size_between(simulation_random& dice, std::uint64_t least, std::uint64_t doublings) {
  return {least << dice.below(doublings + 1)};
}

/// Small limits, so that a few messages reach them; and now and then none of them.
settings random_settings(simulation_random& dice,
                         const std::vector<surroundings::queue_rules>& queues, bool scarce) {
  auto made = default_settings();
  // A slab alone has up to 72 KiB; the high mark is never below a few of them.
  made.node.memory = {std::uint64_t{scarce ? 2u : 8u} << 20};
  made.node.high_mark = percent{static_cast<std::uint32_t>((scarce ? 15 : 2) + dice.below(20))};
  made.node.queue_share = percent{static_cast<std::uint32_t>(1 + dice.below(10))};
  made.node.placement = dice.once_in(2) ? placement::spread : placement::together;
  auto& limits = made.limits;
  limits.heartbeat = 0s;
  limits.publish_credit = size_between(dice, 256, 8);
  limits.publish_reserve = size_between(dice, 4096, 6);
  limits.delivery_credit = size_between(dice, 128, 8);
  limits.max_unsent = size_between(dice, 1024, 8);
  limits.max_unacknowledged =
      dice.once_in(2) ? 262'144 : 4 + static_cast<std::uint32_t>(dice.below(30));
  for (std::size_t q = 0; q < queues.size(); ++q) {
    auto& queue = made.queues.emplace_back();
    queue.name = "q" + std::to_string(q);
    queue.arguments = queues[q].arguments();
    auto& binding = made.bindings.emplace_back();
    binding.exchange = "amq.fanout";
    binding.queue = queue.name;
  }
  return made;
}

/// Now and then one of the queues has a limit.
std::vector<surroundings::queue_rules> random_rules(simulation_random& dice, std::size_t queues) {
  std::vector<surroundings::queue_rules> all(queues);
  if (dice.once_in(4)) {
    all[0].max_length = 1 + static_cast<std::uint32_t>(dice.below(12));
    all[0].refuses = dice.once_in(2);
  }
  return all;
}

/// The node as node.cpp puts it together, in a simulation.
class simulated_node {
public:
  simulated_node(settings configured, const simulation_options& options)
      : world{options}, services_{std::make_unique<node_services>(std::move(configured), world)} {
    bool listens = false;
    services_->topology =
        spawn<topology_actor>(world.at(0), *services_, recovered_topology{},
                              [](result<void> declared) { BATON_CHECK(declared); });
    world.run_until_idle();
    services_->supervisor =
        spawn<supervisor>(world.at(0), *services_,
                          supervisor::events{[&](result<std::vector<std::string>> where) {
                                               BATON_CHECK(where);
                                               listens = true;
                                             },
                                             [this] { is_drained_ = true; }});
    world.run_until_idle();
    BATON_CHECK(listens);
  }

  ~simulated_node() {
    services_->topology = {};
    services_->supervisor = {};
    world.stop();
  }

  credit_books look_at_credit() { return {world, *services_}; }
  void request_stop() { services_->supervisor.send(stop_node{}); }
  bool is_drained() const noexcept { return is_drained_; }
  std::string memory_text() const {
    const auto& node = services_->configured().node;
    return ", of it reserved: " + std::to_string(services_->reserved_bytes) +
           ", high mark: " + std::to_string(node.high_mark.of(node.memory).value);
  }

  simulated_runtime world;

private:
  std::unique_ptr<node_services> services_;
  bool is_drained_ = false;
};

class one_run {
public:
  one_run(std::uint64_t seed, outcome& to, bool with_history)
      : out_{to},
        dice_{seed ^ 0x5eed},
        more_dice_{seed ^ 0x5ca2ce},
        rules_{random_rules(more_dice_, 1 + dice_.below(4))},
        is_scarce_{more_dice_.once_in(4)},
        node_{random_settings(dice_, rules_, is_scarce_),
              {.seed = seed,
               .loops = 1 + dice_.below(3),
               .network = {.pipe_capacity = std::size_t{256} << dice_.below(7)}}},
        model_{rules_.size(), [this](std::string what) { broken(std::move(what)); },
               [this](model::channel_id channel) { return may_have_failed(channel); }},
        shared_{.dice = dice_,
                .sockets = node_.world.outside(),
                .queues = model_,
                .may_lose = dice_.once_in(4),
                .may_remove = dice_.once_in(2),
                .may_bind_exchanges = more_dice_.once_in(3),
                .rules = rules_,
                .some_refuse = rules_[0].refuses,
                .largest_body = more_dice_.once_in(is_scarce_ ? 2 : 6) ? 60'000u : 6'000u,
                .broken = [this](std::string what) { broken(std::move(what)); },
                .note = {}} {
    for (std::size_t q = 0; q < rules_.size(); ++q)
      if (rules_[q].max_length > 0) model_.limit(q, rules_[q].refuses);
    if (with_history)
      shared_.note = [this](std::string what) { out_.history.push_back(std::move(what)); };
  }

  void all() {
    act();
    settle();
    stop();
    out_.published = model_.messages();
    out_.blocked = shared_.times_blocked;
  }

private:
  bool fine() const noexcept { return out_.broken.empty(); }

  void broken(std::string what) {
    if (shared_.note) shared_.note("BROKEN: " + what);
    if (out_.broken.empty()) out_.broken = std::move(what);
  }

  void act() {
    const auto clients = 1 + dice_.below(4);
    for (std::uint64_t i = 0; i < clients; ++i)
      clients_.push_back(std::make_unique<client>(shared_, "client " + std::to_string(i)));
    const auto actions = 40 + dice_.below(120);
    const auto pace = 1 + dice_.below(40);  // the node does so much, at most, between two of them
    for (std::uint64_t i = 0; i < actions && fine(); ++i) {
      clients_[dice_.below(clients)]->act();
      for (auto steps = dice_.below(pace + 1); steps > 0; --steps) node_.world.step();
      if (!dice_.once_in(40)) continue;
      node_.world.advance(std::chrono::milliseconds{dice_.below(100)});
      check_credit();
    }
  }

  void settle() {
    if (shared_.note) shared_.note("-- all settle down");
    for (auto& one : clients_) one->settle_down();
    auto& last = *clients_.emplace_back(std::make_unique<client>(shared_, "the last client"));
    last.drain_all();
    wait([&] { return all_at_rest() && model_.missing() == 0; });
    if (fine()) last.expect_empty_queues();
    wait([&] { return all_at_rest() && node_.look_at_credit().who_lacks().empty(); });
    check_credit();
  }

  /// While nothing is under way in the node.
  void check_credit() {
    auto wrong = node_.look_at_credit().why_wrong(
        shared_.largest_body + most_around_a_body, [this](const std::string& connection) {
          return std::any_of(clients_.begin(), clients_.end(), [&](const auto& one) {
            return one->is_called(connection) && one->may_overdraw();
          });
        });
    if (!wrong.empty()) broken(std::move(wrong));
  }

  void stop() {
    if (shared_.note) shared_.note("-- all close");
    for (auto& one : clients_) one->close();
    wait([&] {
      for (auto& one : clients_)
        if (!one->is_gone()) return false;
      return true;
    });
    node_.request_stop();
    wait([&] { return node_.is_drained(); });
  }

  bool may_have_failed(model::channel_id channel) const {
    return std::any_of(clients_.begin(), clients_.end(),
                       [&](const auto& one) { return one->may_have_failed(channel); });
  }

  bool all_at_rest() {
    for (auto& one : clients_)
      if (!one->is_at_rest()) return false;
    return true;
  }

  /// Lets the node go on until `done`; broken when it never is.
  template <class Condition>
  void wait(Condition&& done) {
    for (std::chrono::milliseconds waited{0}; fine() && waited < patience; waited += look_again) {
      if (!node_.world.run_until_idle()) return broken("the node never comes to rest");
      if (done()) return;
      node_.world.advance(look_again);
    }
    if (fine()) broken("stuck: " + what_is_left());
  }

  std::string what_is_left() {
    std::string left;
    for (auto& one : clients_)
      if (std::string why; !one->is_at_rest(&why)) left += why + "; ";
    if (const auto missing = model_.missing(); missing > 0) {
      std::string first;
      model_.missing([&](const std::string& what) {
        if (first.empty()) first = what;
      });
      left += std::to_string(missing) + " copies: " + first + "; ";
    }
    if (auto lacks = node_.look_at_credit().who_lacks(); !lacks.empty()) left += lacks + "; ";
    left += "memory held: " + std::to_string(memory_account::total()) + node_.memory_text();
    return left;
  }

  outcome& out_;
  simulation_random dice_;
  simulation_random more_dice_;  // for the rest of what is decided at the beginning
  const std::vector<surroundings::queue_rules> rules_;
  const bool is_scarce_;  // memory, so that publishers wait for it
  simulated_node node_;
  model model_;
  surroundings shared_;
  std::vector<std::unique_ptr<client>> clients_;
};

}  // namespace

outcome run(std::uint64_t seed, bool with_history) {
  outcome result;
  const auto held_before = memory_account::total();
  one_run{seed, result, with_history}.all();
  if (const auto held = memory_account::total(); result.broken.empty() && held != held_before)
    result.broken = "the node is gone, and its account of memory says " + std::to_string(held) +
                    " bytes, not " + std::to_string(held_before);
  return result;
}

}  // namespace baton::simulation
