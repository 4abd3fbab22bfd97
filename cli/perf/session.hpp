#pragma once

#include <string>

#include "cli/perf/client.hpp"
#include "cli/perf/flow_plan.hpp"
#include "config/result.hpp"

namespace baton::perf {

/// A connection for what is done once: sends requests and waits for their replies. One AMQP
/// channel, number 1.
class session final : private client {
public:
  session(event_loop& loop, const target& to) : client{loop, to} {}

  result<void> connect();
  /// Sends `frames` and waits until `replies` methods have arrived.
  result<void> call(const std::string& frames, std::size_t replies);
  result<void> disconnect();

  /// Declares all that a flow needs, its queues of `queue_type`, or takes it away again.
  result<void> declare(const flow_plan& plan, bool durable, std::string_view queue_type = {});
  result<void> remove(const flow_plan& plan);

private:
  void on_open() override { opened_ = true; }
  void on_frame(const wire::frame& frame) override;
  void on_closed() override { opened_ = false; }
  template <class Condition>
  result<void> wait_for(Condition condition, const char* what);

  bool opened_ = false;
  std::size_t replies_ = 0;
};

/// Collects requests and sends them in groups, so that thousands of them cost few round trips.
class request_batch {
public:
  explicit request_batch(session& to) : to_{to} {}

  std::string& frames() noexcept { return frames_; }
  /// One more request is in frames(); it will be answered.
  result<void> added();
  result<void> finish();

private:
  session& to_;
  std::string frames_;
  std::size_t waiting_ = 0;
};

}  // namespace baton::perf
