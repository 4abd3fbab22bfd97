#include "actors/stream_actor.hpp"

#include <utility>

#include "actors/support/log.hpp"
#include "actors/topology/names.hpp"
#include "storage/memory_account.hpp"

namespace baton {

namespace {

// How often a stream looks for messages that are too old to be kept.
constexpr std::chrono::seconds retention_interval{10};

/// A stream's chunks, as the log knows their owner.
class chunks_to_store final : public journal::record_owner {
public:
  chunks_to_store(stream_ref stream, std::vector<stream_core::unwritten::chunk> chunks,
                  std::vector<publishes_to_store> publishes)
      : stream_{std::move(stream)},
        chunks_{std::move(chunks)},
        end_{chunks_.back().first + chunks_.back().count},
        publishes_{std::move(publishes)} {}

  void written(std::span<const journal::record_place> where) noexcept override {
    written_ = true;
    stream_.send(chunks_written{chunks_, {where.begin(), where.end()}});
    for (auto& each : publishes_) each.written();
  }
  void safe() noexcept override {
    stream_.send(chunks_safe{end_});
    for (auto& each : publishes_) each.safe();
    publishes_.clear();
  }
  ~chunks_to_store() override {
    if (written_) stream_.send(chunks_synced{end_});
  }

private:
  stream_ref stream_;
  std::vector<stream_core::unwritten::chunk> chunks_;
  std::uint64_t end_;
  std::vector<publishes_to_store> publishes_;
  bool written_ = false;
};

}  // namespace

stream_actor::stream_actor(caf::actor_config& config, const queue_entry& entry,
                           const stream_limits& limits, queue_allowance allowance,
                           topology_ref topology, disk_side disk)
    : actor_of{config},
      entry_{entry.id, entry.vhost, entry.vhost_name, entry.name, entry.declared, entry.sync},
      retires_by_age_{limits.max_age_ms.has_value()},
      allowance_{allowance},
      topology_{std::move(topology)},
      store_{std::move(disk.store)},
      reader_{std::move(disk.reader)},
      remove_{std::move(disk.remove)},
      wall_offset_{disk.wall_offset},
      core_{entry.id, limits, std::move(disk.found)},
      retention_timer_{*this, [this] {
                         retire();
                         retention_timer_.arm(retention_interval);
                       }} {}

std::uint64_t stream_actor::wall_now_ms() const {
  using std::chrono::milliseconds;
  const auto now = std::chrono::duration_cast<milliseconds>(home().now().time_since_epoch());
  return static_cast<std::uint64_t>((now + wall_offset_).count());
}

void stream_actor::handle(publish& request) {
  home().count_routed(request.messages.size());
  const auto count = request.messages.size();
  core_.publish(std::move(request.messages), wall_now_ms());
  unrecorded_.emplace_back(std::move(request), count);
  want_dispatch();
}

void stream_actor::handle(settle& request) {
  core_.settle(request.consumer, request.runs);
  want_dispatch();
}

void stream_actor::handle(grant& request) {
  core_.grant(request.consumer, request.bytes);
  want_dispatch();
}

void stream_actor::want_dispatch() {
  if (std::exchange(dispatch_wanted_, true)) return;
  self().send(dispatch_now{});
}

void stream_actor::handle(dispatch_now&) {
  dispatch_wanted_ = false;
  dispatch();
}

void stream_actor::dispatch() {
  tell_store();
  core_.limit_memory(allowance_.bytes(memory_account::total()));
  const bool more = core_.dispatch([this](lease_batch&& leases) {
    home().count_routed(leases.size());
    if (const auto* to = consumers_.find(leases.consumer())) to->send(deliver{std::move(leases)});
  });
  for (const auto reader : core_.take_short_of_demand())
    if (const auto* to = consumers_.find(reader)) to->send(short_of_demand{});
  for (auto& wanted : core_.take_wanted())
    reader_.send(read_chunks{self(), entry_.id, std::move(wanted)});
  if (auto left = core_.take_left_behind(); !left.empty())
    reader_.send(leave_segments{entry_.id, std::move(left)});
  if (more) want_dispatch();
}

void stream_actor::tell_store() {
  auto news = core_.take_unwritten();
  if (news.chunks.empty()) return;
  journal::journal_entry entry;
  entry.records = std::move(news.records);
  entry.sync = entry_.sync;
  entry.owner = std::make_unique<chunks_to_store>(self(), std::move(news.chunks),
                                                  std::exchange(unrecorded_, {}));
  store_.send(append{std::move(entry)});
}

void stream_actor::handle(chunks_written& notice) {
  for (std::size_t i = 0; i < notice.where.size(); ++i)
    core_.written(notice.chunks[i], notice.where[i]);
  want_dispatch();  // readers may have waited for what is written anew
}

void stream_actor::handle(chunks_safe& notice) {
  core_.committed(notice.end);
  want_dispatch();
}

void stream_actor::handle(chunks_synced& notice) {
  core_.synced(notice.end);
  retire();
}

void stream_actor::handle(chunks_read& answer) {
  core_.loaded(answer.asked, std::move(answer.found));
  want_dispatch();
}

void stream_actor::retire() {
  auto gone = core_.take_drops(wall_now_ms());
  if (gone.empty()) return;
  store_.send(drop_references{std::move(gone)});
  reader_.send(leave_segments{entry_.id, {}, core_.oldest_segment()});
}

void stream_actor::handle(subscribe& request) {
  auto added = core_.add(request.consumer, request.options);
  auto to = std::move(request.to).take();
  if (!added) {
    to.send(subscribed{refusal_of(added.reason(), entry_.name, entry_.vhost_name)});
    return;
  }
  to.send(subscribed{});
  consumers_.add(request.consumer, std::move(to));
  want_dispatch();
}

void stream_actor::handle(unsubscribe& request) {
  const auto* found = consumers_.find(request.consumer);
  if (found == nullptr) return;
  auto consumer = *found;
  core_.remove(request.consumer);
  consumers_.remove(request.consumer);
  consumer.send(unsubscribed{});
  want_dispatch();  // what was kept for it alone goes
}

void stream_actor::handle(abandon& request) {
  core_.remove(request.consumer);
  consumers_.remove(request.consumer);
  want_dispatch();  // as above
}

void stream_actor::handle(demand& request) {
  const auto reader = request.change.consumer;
  if (const auto unused = apply(request.change, core_, [this] { dispatch(); }))
    if (const auto* to = consumers_.find(reader)) to->send(demand_given_back{*unused});
  want_dispatch();
}

void stream_actor::handle(fetch& request) { std::move(request.reply).keep({}); }

void stream_actor::handle(purge_queue& request) { std::move(request.reply).keep({}); }

void stream_actor::handle(peek_queue& request) { std::move(request.reply).keep({}); }

void stream_actor::handle(delete_queue& request) {
  const auto refuse = [&](queue_refusal why) {
    queue_counts answer;
    answer.refused = refusal_of(why, entry_.name, entry_.vhost_name);
    std::move(request.reply).keep(std::move(answer));
  };
  if (request.if_unused && core_.readers() > 0) return refuse(queue_refusal::in_use);
  const auto messages = core_.statistics().messages;
  if (request.if_empty && messages > 0) return refuse(queue_refusal::not_empty);
  end({entry_.vhost, entry_.id, messages, std::move(request.reply), {}});
}

void stream_actor::handle(touch_queue& request) {
  const auto figures = core_.statistics();
  queue_counts answer;
  answer.messages = figures.messages;
  answer.consumers = figures.readers;
  std::move(request.reply).keep(std::move(answer));
}

void stream_actor::handle(end_queue&) { close(); }

void stream_actor::handle(finish& request) {
  dispatch();
  store_.send(close_journal{std::move(request.done)});
}

void stream_actor::handle(ask_queue_report& request) {
  const auto figures = core_.statistics();
  queue_report report;
  report.vhost = entry_.vhost_name;
  report.name = entry_.name;
  report.durable = true;
  report.arguments = entry_.declared;
  report.ready = figures.messages;
  report.ready_bytes = figures.bytes;
  report.on_disk = figures.messages;
  report.unsettled = figures.unsettled;
  report.consumers = figures.readers;
  report.published = figures.published;
  report.delivered = figures.delivered;
  report.acknowledged = figures.acked;
  for (const auto& s : consumers_) report.credit.push_back({s.id.value, core_.byte_credit(s.id)});
  std::move(request.reply).keep(std::move(report));
}

void stream_actor::end(queue_ended notice) {
  close();
  topology_.send(std::move(notice));
}

void stream_actor::close() {
  for (auto& each : unrecorded_) each.safe();
  reader_.send(leave_segments{entry_.id, {}, UINT32_MAX});
  store_.send(leave_log{std::move(remove_)});
  consumers_.tell_gone();
  quit();
}

void stream_actor::on_failure(const std::string& why) {
  if (!has_ended()) {
    consumers_.tell_gone();
    topology_.send(queue_ended{entry_.vhost, entry_.id, 0, {}, {}});
  }
  log::error("stream failed",
             queue_text(entry_.name, entry_.vhost_name) + " has ended, with what it held: " + why);
}

void stream_actor::on_start() {
  if (retires_by_age_) retention_timer_.arm(retention_interval);
}

void stream_actor::on_exit() {
  retention_timer_.cancel();
  consumers_.clear();
  unrecorded_.clear();
  topology_ = {};
  store_ = {};
  reader_ = {};
  remove_ = nullptr;
}

}  // namespace baton
