#include "cli/perf/session.hpp"

#include "cli/perf/clock.hpp"

namespace baton::perf {
namespace {

constexpr std::int64_t patience_ns = 120'000'000'000;
constexpr std::size_t requests_at_once = 200;

}  // namespace

template <class Condition>
result<void> session::wait_for(Condition condition, const char* what) {
  const std::int64_t deadline = now_ns() + patience_ns;
  while (!condition()) {
    if (loop().failed()) return failure{loop().why()};
    if (now_ns() > deadline) return failure{error{std::string{"no answer: "} + what}};
    loop().turn(deadline);
  }
  return {};
}

result<void> session::connect() {
  open();
  if (auto done = wait_for([this] { return opened_; }, "connection"); !done) return done;
  std::string frames;
  wire::plain(frames, 1, wire::method::channel_open, 1);
  return call(frames, 1);
}

result<void> session::call(const std::string& frames, std::size_t replies) {
  if (loop().failed()) return failure{loop().why()};
  replies_ = 0;
  out() += frames;
  flush();
  return wait_for([&] { return replies_ >= replies; }, "declaration");
}

result<void> session::disconnect() {
  close();
  return wait_for([this] { return !opened_; }, "close");
}

void session::on_frame(const wire::frame& frame) {
  if (frame.type != wire::frame_type::method) return;
  if (frame.id() == wire::method::channel_close)
    return fail("refused by the broker: " + wire::close_text(frame.payload));
  if (frame.channel == 1) ++replies_;
}

result<void> session::declare(const flow_plan& plan, bool durable, std::string_view queue_type) {
  request_batch requests{*this};
  const bool own_exchange = !plan.exchange.empty() && !plan.exchange.starts_with("amq.");
  if (own_exchange) {
    wire::exchange_declare(requests.frames(), 1, plan.exchange, plan.exchange_type, durable);
    if (auto done = requests.added(); !done) return done;
  }
  for (const auto& queue : plan.queues) {
    wire::queue_declare(requests.frames(), 1, queue, {durable, false, false}, queue_type);
    if (auto done = requests.added(); !done) return done;
  }
  for (const auto& [queue, key] : plan.bindings) {
    wire::queue_bind(requests.frames(), 1, queue, plan.exchange, key, false);
    if (auto done = requests.added(); !done) return done;
  }
  return requests.finish();
}

result<void> session::remove(const flow_plan& plan) {
  request_batch requests{*this};
  for (const auto& queue : plan.queues) {
    wire::queue_delete(requests.frames(), 1, queue);
    if (auto done = requests.added(); !done) return done;
  }
  if (!plan.exchange.empty() && !plan.exchange.starts_with("amq.")) {
    wire::exchange_delete(requests.frames(), 1, plan.exchange);
    if (auto done = requests.added(); !done) return done;
  }
  return requests.finish();
}

result<void> request_batch::added() {
  return ++waiting_ < requests_at_once ? result<void>{} : finish();
}

result<void> request_batch::finish() {
  auto done = to_.call(frames_, waiting_);
  frames_.clear();
  waiting_ = 0;
  return done;
}

}  // namespace baton::perf
