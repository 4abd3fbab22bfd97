#pragma once

#include <cstdint>
#include <string>

#include "cli/perf/tally.hpp"
#include "cli/perf/wire.hpp"

namespace baton::perf {

/// The deliveries of one AMQP channel, without its socket: counts them, measures their age and
/// decides when to acknowledge.
class consumer {
public:
  /// `ack_every` 0: automatic, nothing is acknowledged. Otherwise one ack with `multiple` for each
  /// that many deliveries.
  consumer(std::uint16_t channel, std::uint32_t ack_every) noexcept
      : channel_{channel}, ack_every_{ack_every} {}

  /// A basic.deliver; `arguments` begin after the method id. A relay gives back the basic.publish,
  /// which has no tag.
  void deliver(byte_view arguments) noexcept {
    if (arguments.empty() || arguments.size() < arguments[0] + std::size_t{9}) return;
    last_tag_ = wire::read_u64(arguments.data() + 1 + arguments[0]);
  }

  /// The header of a content: class 2, weight 2, body size 8.
  void header(byte_view payload, std::string& out, tally& counts) {
    if (payload.size() < 12) return;
    body_left_ = wire::read_u64(payload.data() + 4);
    stamp_due_ = body_left_ >= 8;
    if (body_left_ == 0) complete(out, counts);
  }

  /// A part of the body, read at `now_ns`.
  void body(byte_view part, std::int64_t now_ns, std::string& out, tally& counts) {
    if (stamp_due_ && part.size() >= 8) {
      std::int64_t sent_at;
      std::memcpy(&sent_at, part.data(), sizeof sent_at);
      if (sent_at <= now_ns) counts.latency.record(static_cast<std::uint64_t>(now_ns - sent_at));
      stamp_due_ = false;
    }
    counts.delivered_bytes += part.size();
    body_left_ -= part.size() < body_left_ ? part.size() : body_left_;
    if (body_left_ == 0) complete(out, counts);
  }

  /// Acknowledges what is left of a batch.
  void ack_rest(std::string& out) {
    if (unacked_ > 0) wire::ack(out, channel_, last_tag_, true);
    unacked_ = 0;
  }

private:
  void complete(std::string& out, tally& counts) {
    ++counts.delivered;
    if (ack_every_ > 0 && ++unacked_ >= ack_every_) ack_rest(out);
  }

  std::uint16_t channel_;
  std::uint32_t ack_every_;
  std::uint32_t unacked_ = 0;
  bool stamp_due_ = false;
  std::uint64_t last_tag_ = 0;
  std::uint64_t body_left_ = 0;
};

}  // namespace baton::perf
