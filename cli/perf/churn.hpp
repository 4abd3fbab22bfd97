#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/perf/client.hpp"
#include "cli/perf/histogram.hpp"
#include "cli/perf/load.hpp"
#include "cli/perf/report.hpp"

namespace baton::perf {

/// What is made and undone again and again.
enum class churn_kind { connections, channels, queues, bindings };

struct churn_options {
  churn_kind kind = churn_kind::connections;
  std::uint32_t connections = 10;  // that work side by side
  std::uint32_t pipeline = 1;      // cycles under way on each
  bool durable = false;            // queues
};

struct churn_counts {
  std::uint64_t cycles = 0;
  histogram cycle_time;  // ns
};

/// Connects, shakes hands, closes; and again.
class connection_churner final : public client {
public:
  connection_churner(event_loop& loop, const target& to, churn_counts& counts)
      : client{loop, to}, counts_{counts} {}

  void begin();
  void stop() noexcept { stopping_ = true; }

private:
  void on_open() override { close(); }
  void on_frame(const wire::frame&) override {}
  void on_closed() override;

  churn_counts& counts_;
  std::int64_t begun_at_ = 0;
  bool stopping_ = false;
};

/// Sends two requests, one that makes something and one that undoes it; and again when both have
/// been answered.
class request_churner final : public client {
public:
  request_churner(event_loop& loop, const target& to, const churn_options& options,
                  std::string_view name, churn_counts& counts);

  bool is_ready() const noexcept { return is_open() && ready_; }
  void begin();
  void stop() noexcept { stopping_ = true; }
  bool is_idle() const noexcept { return replies_due_ == 0; }

private:
  void on_open() override;
  void on_frame(const wire::frame& frame) override;
  void on_read_done() override;
  void send_cycle();

  const churn_options& options_;
  churn_counts& counts_;
  std::string setup_;  // once, after the connection has opened
  std::size_t setup_replies_ = 0;
  std::string cycle_;
  std::vector<std::int64_t> sent_at_;  // of the cycles under way, in turns
  std::uint64_t sent_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t replies_due_ = 0;
  bool ready_ = false;
  bool stopping_ = false;
};

/// Runs it for the time asked for and reports the rate.
result<report> run_churn(const run_options& run, const churn_options& options);

}  // namespace baton::perf
