#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cli/perf/client.hpp"
#include "cli/perf/consumer.hpp"
#include "cli/perf/flow_plan.hpp"
#include "cli/perf/producer.hpp"
#include "cli/perf/tally.hpp"

namespace baton::perf {

/// One connection of a flow: an AMQP channel for each of its producers and consumers.
class flow_connection final : public client {
public:
  flow_connection(event_loop& loop, const target& to, const flow_options& options,
                  const connection_plan& plan, std::size_t block_bytes, tally& counts);

  bool is_ready() const noexcept { return is_open() && awaited_ == 0; }
  /// Lets the producers begin, each with its share of the rate.
  void start(std::int64_t now_ns);
  void stop();
  bool finished() const noexcept;
  /// Sends what is due. Returns when to call again; INT64_MAX: an event will tell.
  std::int64_t pace(std::int64_t now_ns);

protected:
  void on_open() override;
  void on_frame(const wire::frame& frame) override;
  void on_read_done() override;
  void on_writable() override { pump(); }

private:
  struct part {  // of one AMQP channel: one of the two
    std::unique_ptr<producer> publishes;
    std::unique_ptr<consumer> consumes;
    std::uint32_t index = 0;  // of the producer
  };

  void on_method(const wire::frame& frame);
  void pump();
  part* part_of(std::uint16_t channel) noexcept {
    return channel >= 1 && channel <= parts_.size() ? &parts_[channel - 1u] : nullptr;
  }

  const flow_options& options_;
  const connection_plan& plan_;
  std::size_t block_bytes_;
  tally& counts_;
  std::vector<part> parts_;    // by channel, from 1
  std::uint32_t awaited_ = 0;  // replies, until the connection is ready
};

/// The connections of a flow, or of one thread's part of it.
class flow {
public:
  /// `connections` are indices into `plan.connections`. Both `options` and `plan` outlive the flow.
  flow(event_loop& loop, const target& to, const flow_options& options, const flow_plan& plan,
       const std::vector<std::size_t>& connections);

  /// Opens connections, a few at a time, and sends what is due. Call once a turn. Returns when to
  /// call again at the latest.
  std::int64_t pace(std::int64_t now_ns);
  bool ready() const noexcept;
  void start(std::int64_t now_ns);
  void stop();
  /// All producers have published the count that was asked for.
  bool finished() const noexcept;
  /// Begins to close all connections in order, and: whether that is done.
  void close();
  bool closed() const noexcept;
  /// What was done since the last call.
  std::unique_ptr<tally> take();

private:
  void open_some();

  const flow_options& options_;
  std::unique_ptr<tally> counts_ = std::make_unique<tally>();
  std::vector<std::unique_ptr<flow_connection>> connections_;
  std::size_t ready_ = 0;   // of the connections from the front
  std::size_t opened_ = 0;  // likewise
  bool closing_ = false;
};

}  // namespace baton::perf
