#include "cli/perf/flow.hpp"

#include <algorithm>

#include "cli/perf/clock.hpp"

namespace baton::perf {

flow_connection::flow_connection(event_loop& loop, const target& to, const flow_options& options,
                                 const connection_plan& plan, std::size_t block_bytes,
                                 tally& counts)
    : client{loop, to.relay && !plan.consumers.empty() ? relay_output(to) : to},
      options_{options},
      plan_{plan},
      block_bytes_{block_bytes},
      counts_{counts} {}

void flow_connection::on_open() {
  parts_.clear();
  for (const auto& one : plan_.producers) {
    const auto channel = static_cast<std::uint16_t>(parts_.size() + 1);
    publish_block::shape form;
    form.channel = channel;
    form.exchange = one.exchange;
    form.keys = one.keys;
    form.mandatory = options_.mandatory;
    form.persistent = options_.persistent;
    form.body_bytes = options_.size;
    form.frame_max = frame_max();
    form.target_bytes = block_bytes_;
    producer::limits bounds;
    if (options_.confirm > 0) bounds.confirm_window = options_.confirm;
    if (options_.count > 0)
      bounds.count = options_.count / options_.producers +
                     (one.index < options_.count % options_.producers ? 1 : 0);
    parts_.push_back({std::make_unique<producer>(form, bounds), nullptr, one.index});
    if (to().relay) continue;
    wire::plain(out(), channel, wire::method::channel_open, 1);
    if (options_.confirm > 0) wire::confirm_select(out(), channel);
    awaited_ += options_.confirm > 0 ? 2 : 1;
  }
  for (const auto& one : plan_.consumers) {
    const auto channel = static_cast<std::uint16_t>(to().relay ? 1 : parts_.size() + 1);
    parts_.push_back({nullptr, std::make_unique<consumer>(channel, options_.ack_every), 0});
    if (to().relay) continue;
    wire::plain(out(), channel, wire::method::channel_open, 1);
    wire::qos(out(), channel, options_.prefetch);
    for (std::size_t q = 0; q < one.queues.size(); ++q)
      wire::consume(out(), channel, one.queues[q], "c" + std::to_string(q),
                    options_.ack_every == 0);
    awaited_ += 2 + static_cast<std::uint32_t>(one.queues.size());
  }
  flush();
}

void flow_connection::on_frame(const wire::frame& frame) {
  if (frame.type == wire::frame_type::method) return on_method(frame);
  auto* where = part_of(frame.channel);
  if (where == nullptr || !where->consumes) return;  // the content of a basic.return
  if (frame.type == wire::frame_type::header) {
    where->consumes->header(frame.payload, out(), counts_);
  } else {
    where->consumes->body(frame.payload, read_at_ns(), out(), counts_);
  }
}

void flow_connection::on_method(const wire::frame& frame) {
  const auto arguments = frame.payload.subspan(4);
  auto* where = part_of(frame.channel);
  switch (frame.id()) {
    case wire::method::basic_deliver:
      if (where != nullptr && where->consumes) where->consumes->deliver(arguments);
      return;
    case wire::method::basic_publish:  // from a relay
      return;
    case wire::method::basic_ack:
    case wire::method::basic_nack:
      if (where != nullptr && where->publishes && arguments.size() >= 9)
        where->publishes->confirmed(wire::read_u64(arguments.data()), (arguments[8] & 1) != 0,
                                    frame.id() == wire::method::basic_ack, read_at_ns(), counts_);
      return;
    case wire::method::basic_return:
      ++counts_.returned;
      return;
    case wire::method::connection_blocked:
      ++counts_.blocked;
      return;
    case wire::method::connection_unblocked:
      return;
    case wire::method::channel_open_ok:
    case wire::method::confirm_select_ok:
    case wire::method::basic_qos_ok:
    case wire::method::basic_consume_ok:
      if (awaited_ > 0) --awaited_;
      return;
    case wire::method::channel_close:
      return fail("channel closed by the broker: " + wire::close_text(frame.payload));
    case wire::method::basic_cancel:
      return fail("the broker cancelled a consumer");
    default:
      return fail("unexpected method on channel " + std::to_string(frame.channel));
  }
}

void flow_connection::on_read_done() {
  if (flush() && options_.confirm > 0) pump();
}

void flow_connection::start(std::int64_t now_ns) {
  for (auto& each : parts_) {
    if (!each.publishes) continue;
    if (options_.rate > 0) {
      const double share = options_.rate / options_.producers;
      const auto offset = static_cast<std::int64_t>(1e9 * each.index / options_.rate);
      each.publishes->start(schedule{share, now_ns + offset});
    } else {
      each.publishes->start(std::nullopt);
    }
  }
  pump();
}

void flow_connection::stop() {
  for (auto& each : parts_) {
    if (each.publishes) each.publishes->stop();
    if (each.consumes) each.consumes->ack_rest(out());
  }
  if (is_open()) flush();
}

bool flow_connection::finished() const noexcept {
  return std::all_of(parts_.begin(), parts_.end(), [](const part& each) {
    return !each.publishes || each.publishes->finished();
  });
}

void flow_connection::pump() {
  constexpr int blocks_a_turn = 4;
  bool more = false;
  for (auto& each : parts_) {
    if (!each.publishes) continue;
    int turn = 0;
    for (; turn < blocks_a_turn && is_open() && !block_waits(); ++turn) {
      const byte_view frames = each.publishes->next(now_ns(), counts_);
      if (frames.empty()) break;
      send_block(frames);
    }
    more = more || turn == blocks_a_turn;
  }
  want_writable(more);
}

std::int64_t flow_connection::pace(std::int64_t now_ns) {
  if (!is_open() || block_waits()) return INT64_MAX;
  std::int64_t next = INT64_MAX;
  for (const auto& each : parts_)
    if (each.publishes) next = std::min(next, each.publishes->next_due());
  if (next > now_ns) return next;
  pump();
  return now_ns;
}

flow::flow(event_loop& loop, const target& to, const flow_options& options, const flow_plan& plan,
           const std::vector<std::size_t>& connections)
    : options_{options} {
  // Many publishers share the caches: smaller blocks for each.
  const std::size_t block_bytes =
      std::clamp<std::size_t>(4 * 1024 * 1024 / (connections.size() + 1), 4096, 64 * 1024);
  for (const auto index : connections)
    connections_.push_back(std::make_unique<flow_connection>(
        loop, to, options, plan.connections[index], block_bytes, *counts_));
}

void flow::open_some() {
  constexpr std::size_t at_once = 32;
  while (ready_ < opened_ && connections_[ready_]->is_ready()) ++ready_;
  while (opened_ < connections_.size() && opened_ - ready_ < at_once)
    connections_[opened_++]->open();
}

bool flow::ready() const noexcept { return ready_ == connections_.size(); }

void flow::start(std::int64_t now_ns) {
  for (auto& each : connections_) each->start(now_ns);
}

void flow::stop() {
  for (auto& each : connections_) each->stop();
}

bool flow::finished() const noexcept {
  return options_.count > 0 && std::all_of(connections_.begin(), connections_.end(),
                                           [](const auto& each) { return each->finished(); });
}

void flow::close() {
  stop();
  closing_ = true;
  for (auto& each : connections_) each->close();
}

bool flow::closed() const noexcept {
  return std::all_of(connections_.begin(), connections_.end(),
                     [](const auto& each) { return each->is_closed(); });
}

std::int64_t flow::pace(std::int64_t now_ns) {
  if (!closing_ && ready_ < connections_.size()) open_some();
  if (options_.rate == 0) return INT64_MAX;
  std::int64_t next = INT64_MAX;
  for (auto& each : connections_) next = std::min(next, each->pace(now_ns));
  return next;
}

std::unique_ptr<tally> flow::take() {
  auto taken = std::make_unique<tally>(*counts_);
  *counts_ = tally{};
  return taken;
}

}  // namespace baton::perf
