#include "tests/simulation/run.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>

#include "storage/memory_account.hpp"
#include "tests/simulation/client.hpp"
#include "tests/simulation/simulated_node.hpp"

namespace baton::simulation {

namespace {

using namespace std::chrono_literals;

/// How long the node may need, of its own time, until nothing is left to do.
constexpr std::chrono::milliseconds patience = 20s;
constexpr std::chrono::milliseconds look_again = 10ms;

/// Of `model::ending`, from the mildest on.
constexpr std::uint64_t kinds_of_ending = 3;

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
  made.node.data = simulated_machine::data_folder;
  made.node.drain_timeout = 500ms;
  // A slab alone has up to 72 KiB, and what is read of the journal has 256 KiB; the high mark is
  // never below a few of them.
  made.node.memory = {std::uint64_t{scarce ? 4u : 16u} << 20};
  made.node.high_mark = percent{static_cast<std::uint32_t>((scarce ? 14 : 3) + dice.below(12))};
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
    queue.durable = queues[q].durable;
    queue.arguments = queues[q].arguments();
    auto& sync = made.syncs.emplace_back();
    sync.queues = "^" + queue.name + "$";
    sync.sync = queues[q].sync;
    auto& binding = made.bindings.emplace_back();
    binding.exchange = "amq.fanout";
    binding.queue = queue.name;
  }
  return made;
}

/// A journal of small files, which are used up and freed all the time.
journal_settings random_journal(simulation_random& dice) {
  journal_settings made;
  made.segment_size = size_between(dice, 4096, 4);
  made.reserved_segments = 1 + static_cast<std::uint32_t>(dice.below(2));
  made.max_unsynced = size_between(dice, 2048, 6);
  made.sync_interval = std::chrono::milliseconds{1 + dice.below(100)};
  made.compact_below = percent{static_cast<std::uint32_t>(25 + dice.below(50))};
  return made;
}

/// Now and then one of the queues has a limit, and another one is transient.
std::vector<surroundings::queue_rules> random_rules(simulation_random& dice, std::size_t queues) {
  std::vector<surroundings::queue_rules> all(queues);
  if (dice.once_in(4)) {
    all[0].max_length = 1 + static_cast<std::uint32_t>(dice.below(12));
    all[0].refuses = dice.once_in(2);
  }
  all.back().durable = !dice.once_in(6);
  for (auto& one : all)
    if (dice.once_in(3)) one.sync = dice.once_in(2) ? sync_policy::interval : sync_policy::never;
  return all;
}

std::vector<model::queue_kind> kinds_of(const std::vector<surroundings::queue_rules>& rules) {
  std::vector<model::queue_kind> all;
  for (const auto& one : rules)
    all.push_back({.durable = one.durable,
                   .limited = one.max_length > 0,
                   .refuses = one.refuses,
                   .syncs = one.sync != sync_policy::never});
  return all;
}

class one_run {
public:
  one_run(std::uint64_t seed, outcome& to, bool with_history, bool with_troubles)
      : out_{to},
        seed_{seed},
        dice_{seed ^ 0x5eed},
        more_dice_{seed ^ 0x5ca2ce},
        rules_{random_rules(more_dice_, 1 + dice_.below(4))},
        is_scarce_{more_dice_.once_in(4)},
        settings_{random_settings(dice_, rules_, is_scarce_)},
        loops_{1 + dice_.below(3)},
        pipe_capacity_{std::size_t{256} << dice_.below(7)},
        lives_{more_dice_.once_in(2) ? 1 : 2 + more_dice_.below(3)},
        has_troubles_{more_dice_.once_in(5) && with_troubles},
        machine_{seed},
        model_{kinds_of(rules_), [this](std::string what) { broken(std::move(what)); },
               [this](model::channel_id channel) { return may_have_failed(channel); }},
        shared_{.dice = dice_,
                .sockets = nullptr,
                .queues = model_,
                .may_lose = dice_.once_in(4),
                .may_remove = dice_.once_in(2),
                .may_bind_exchanges = more_dice_.once_in(3),
                .rules = rules_,
                .some_refuse = rules_[0].refuses,
                .largest_body = more_dice_.once_in(is_scarce_ ? 2 : 6) ? 60'000u : 6'000u,
                .broken = [this](std::string what) { broken(std::move(what)); },
                .note = {}} {
    settings_.journal = random_journal(more_dice_);
    if (with_history)
      shared_.note = [this](std::string what) { out_.history.push_back(std::move(what)); };
  }

  void all() {
    const auto held_before = memory_account::total();
    const auto check_memory = [&] {
      if (const auto held = memory_account::total(); fine() && held != held_before)
        broken("the node is gone, and its account of memory says " + std::to_string(held) +
               " bytes, not " + std::to_string(held_before));
    };
    const auto clients = 1 + dice_.below(4);
    for (std::uint64_t i = 0; i < clients; ++i)
      clients_.push_back(std::make_unique<client>(shared_, "client " + std::to_string(i)));
    begin_life();
    if (lives_ > 1 && more_dice_.once_in(4)) cut_power_within(400);
    act();
    for (std::uint64_t life = 2; life <= lives_ && fine(); ++life) {
      const auto how = end_life();
      check_memory();
      begin_life(how);
      if (life < lives_ && more_dice_.once_in(4)) cut_power_within(400);
      act();
    }
    settle();
    stop();
    lose_node();
    check_memory();
    out_.published = model_.messages();
    out_.blocked = shared_.times_blocked;
    out_.restarts = started_ - 1;
  }

private:
  bool fine() const noexcept { return out_.broken.empty(); }

  void note(const char* what) {
    if (shared_.note) shared_.note(what);
  }

  void broken(std::string what) {
    if (shared_.note) shared_.note("BROKEN: " + what);
    if (out_.broken.empty()) out_.broken = std::move(what);
  }

  // ---- the node's lives

  bool try_to_start() {
    node_ = simulated_node::start(machine_, settings_,
                                  {.seed = seed_ + (started_++ << 48),
                                   .loops = loops_,
                                   .network = {.pipe_capacity = pipe_capacity_}});
    return node_ != nullptr;
  }

  void begin_life() {
    BATON_CHECK(try_to_start());
    shared_.sockets = &node_->world.outside();
    // From now on all that is there is what clients have made.
    settings_.queues.clear();
    settings_.bindings.clear();
  }

  void begin_life(model::ending how) {
    // What is written late is told late: a log may go on behind its end.
    bool may_be_closed = std::exchange(was_troubled_, false) || std::exchange(was_stopping_, false);
    for (;;) {
      machine_.disk.power_on();
      if (more_dice_.once_in(4)) cut_power_within(60);
      if (try_to_start()) break;
      note("-- the power goes while the node starts");
      if (how == model::ending::stopped) may_be_closed = true;
      if (how == model::ending::killed) how = model::ending::powerless;
    }
    cut_power_within(0);
    note("-- the node is started");
    model_.restart(how, may_be_closed);
    shared_.sockets = &node_->world.outside();
  }

  model::ending end_life() {
    if (has_power() && more_dice_.once_in(4)) {
      node_->world.run_until_idle();
      look_at_disk();
    }
    auto how = static_cast<model::ending>(more_dice_.below(kinds_of_ending));
    // What a sync has failed to write is read until the machine goes down, and taken for safe by a
    // node that was killed before it could write it elsewhere.
    if (how == model::ending::powerless && has_failed_to_sync_) how = model::ending::killed;
    if (how == model::ending::stopped) end_trouble();
    if (how == model::ending::stopped && has_power()) {
      stop_node();
      was_stopping_ = !has_power();
    }
    if (how == model::ending::powerless) machine_.disk.power_cut();
    if (!has_power()) how = model::ending::powerless;
    note(how == model::ending::stopped  ? "-- the node has stopped"
         : how == model::ending::killed ? "-- the node is killed"
                                        : "-- the power goes");
    cut_power_within(0);
    lose_node();
    return how;
  }

  /// During one of so many calls of the disk from now on; 0: not at all.
  void cut_power_within(std::uint64_t calls) {
    if (has_failed_to_sync_) calls = 0;
    machine_.disk.faults().cut_power_at_call(calls == 0 ? 0 : 1 + more_dice_.below(calls));
  }
  bool has_power() const { return machine_.disk.has_power(); }

  void lose_node() {
    for (auto& one : clients_) one->lose_node();
    node_.reset();
    end_trouble();
  }

  void stop_node() {
    note("-- the node stops");
    shared_.node_stops = true;
    node_->request_stop();
    wait([&] { return node_->is_drained(); });
    node_->close_journal();
    wait([&] { return node_->is_closed(); });
    shared_.node_stops = false;
  }

  // ---- what happens in a life

  /// The disk fails for a while, or takes nothing more.
  void trouble() {
    if (!has_troubles_) return;
    auto& faults = machine_.disk.faults();
    if (is_troubled_) {
      if (more_dice_.once_in(20)) end_trouble();
      return;
    }
    if (!more_dice_.once_in(30)) return;
    is_troubled_ = was_troubled_ = true;
    const auto once_in = 1 + more_dice_.below(4);
    switch (more_dice_.below(4)) {
      case 0:
        note("-- writes fail");
        return faults.fail_once_in(file_operation::write, once_in, EIO);
      case 1:
        note("-- syncs fail");
        has_failed_to_sync_ = true;
        return faults.fail_once_in(file_operation::sync, once_in, EIO);
      default:
        note("-- the disk is full");
        return machine_.disk.set_capacity(0);
    }
  }

  void end_trouble() {
    if (!std::exchange(is_troubled_, false)) return;
    note("-- the disk is well again");
    machine_.disk.faults().fail_once_in(file_operation::write, 0, 0);
    machine_.disk.faults().fail_once_in(file_operation::sync, 0, 0);
    machine_.disk.set_capacity(UINT64_MAX);
  }

  void act() {
    const auto actions = 40 + dice_.below(120);
    const auto pace = 1 + dice_.below(40);  // the node does so much, at most, between two of them
    for (std::uint64_t i = 0; i < actions && fine(); ++i) {
      trouble();
      clients_[dice_.below(clients_.size())]->act();
      for (auto steps = dice_.below(pace + 1); steps > 0 && has_power(); --steps)
        node_->world.step();
      if (!has_power()) return;
      if (!dice_.once_in(40)) continue;
      node_->world.advance(std::chrono::milliseconds{dice_.below(100)});
      if (!has_power()) return;
      if (!is_troubled_) check_credit();
      look_at_disk();
    }
  }

  void settle() {
    end_trouble();
    note("-- all settle down");
    for (auto& one : clients_) one->settle_down();
    auto& last = *clients_.emplace_back(std::make_unique<client>(shared_, "the last client"));
    last.drain_all();
    wait([&] { return all_at_rest() && model_.missing() == 0; });
    if (fine()) last.expect_empty_queues();
    wait([&] { return all_at_rest() && node_->look_at_credit().who_lacks().empty(); });
    check_credit();
  }

  /// While nothing is under way in the node.
  void check_credit() {
    auto wrong = node_->look_at_credit().why_wrong(
        shared_.largest_body + most_around_a_body, [this](const std::string& connection) {
          return std::any_of(clients_.begin(), clients_.end(), [&](const auto& one) {
            return one->is_called(connection) && one->may_overdraw();
          });
        });
    if (!wrong.empty()) broken(std::move(wrong));
  }

  /// While nothing is under way in the node.
  void look_at_disk() {
    const auto journal = node_->look_at_journal();
    if (journal.pending_bytes > 0 || !has_power()) return;
    for (auto& one : clients_) one->tell_what_was_read();
    model_.come_to_rest(journal.unsynced_bytes > 0 ? model::depth::written : model::depth::safe);
  }

  void stop() {
    note("-- all close");
    for (auto& one : clients_) one->close();
    wait([&] {
      for (auto& one : clients_)
        if (!one->is_gone()) return false;
      return true;
    });
    stop_node();
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
      if (!node_->world.run_until_idle()) return broken("the node never comes to rest");
      if (done() || !has_power()) return;
      node_->world.advance(look_again);
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
    if (auto lacks = node_->look_at_credit().who_lacks(); !lacks.empty()) left += lacks + "; ";
    const auto journal = node_->look_at_journal();
    left += "journal: " + std::to_string(journal.pending_bytes) + " bytes not written, " +
            std::to_string(journal.unsynced_bytes) + " not synced; ";
    left += "memory held: " + std::to_string(memory_account::total()) + node_->memory_text();
    return left;
  }

  outcome& out_;
  const std::uint64_t seed_;
  simulation_random dice_;
  simulation_random more_dice_;  // for the rest of what is decided at the beginning
  const std::vector<surroundings::queue_rules> rules_;
  const bool is_scarce_;  // memory, so that publishers wait for it
  settings settings_;
  const std::uint64_t loops_;
  const std::size_t pipe_capacity_;
  const std::uint64_t lives_;
  const bool has_troubles_;
  bool is_troubled_ = false;
  bool was_troubled_ = false;  // in this life
  bool was_stopping_ = false;  // when the power went
  bool has_failed_to_sync_ = false;
  std::uint64_t started_ = 0;
  simulated_machine machine_;
  std::unique_ptr<simulated_node> node_;
  model model_;
  surroundings shared_;
  std::vector<std::unique_ptr<client>> clients_;
};

}  // namespace

outcome run(std::uint64_t seed, bool with_history, bool with_troubles) {
  outcome result;
  one_run{seed, result, with_history, with_troubles}.all();
  return result;
}

}  // namespace baton::simulation
