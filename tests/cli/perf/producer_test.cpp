#include "cli/perf/producer.hpp"

#include <memory>

#include "cli/perf/consumer.hpp"
#include "tests/catch.hpp"

using namespace baton;
using namespace baton::perf;

namespace {

publish_block::shape small_form() {
  publish_block::shape form;
  form.keys = {"q"};
  form.body_bytes = 16;
  form.target_bytes = 1024;
  return form;
}

/// What a consumer's channel sees of relayed or delivered frames.
void receive(consumer& to, byte_view bytes, std::int64_t now, std::string& out, tally& counts) {
  wire::scan_frames(bytes, [&](const wire::frame& frame) {
    if (frame.type == wire::frame_type::header) to.header(frame.payload, out, counts);
    if (frame.type == wire::frame_type::body) to.body(frame.payload, now, out, counts);
    if (frame.type == wire::frame_type::method) to.deliver(frame.payload.subspan(4));
    return true;
  });
}

std::string delivery(std::uint64_t tag, std::string_view body) {
  std::string out;
  wire::frame_writer{out, 1, wire::method::basic_deliver}
      .short_text("c0")
      .u64(tag)
      .u8(0)
      .short_text("")
      .short_text("q");
  wire::frame_writer{out, 1, wire::frame_type::header}.u32(60 << 16).u64(body.size()).u16(0);
  if (!body.empty()) wire::frame_writer{out, 1, wire::frame_type::body}.raw(body);
  return out;
}

}  // namespace

TEST_CASE("a block has as many messages as fit, and each key at least once", "[perf]") {
  auto form = small_form();
  const publish_block block{form};
  CHECK(block.messages() >= 10);
  CHECK(block.bytes(0, block.messages()).size() <= 1024);
  form.keys = {"a", "bb", "ccc"};
  form.target_bytes = 1;
  CHECK(publish_block{form}.messages() == 3);
}

TEST_CASE("parts of a block are its messages side by side", "[perf]") {
  auto form = small_form();
  form.keys = {"a", "bb", "ccc"};
  const publish_block block{form};
  const auto whole = block.bytes(0, block.messages());
  std::size_t at = 0;
  for (std::size_t i = 0; i < block.messages(); ++i) {
    const auto one = block.bytes(i, 1);
    CHECK(one.data() == whole.data() + at);
    at += one.size();
  }
  CHECK(at == whole.size());
}

TEST_CASE("a producer without a rate fills block after block", "[perf]") {
  const auto counts = std::make_unique<tally>();
  producer p{small_form(), {}};
  CHECK(p.next(1, *counts).empty());  // not started
  p.start(std::nullopt);
  const auto first = p.next(1, *counts);
  CHECK_FALSE(first.empty());
  CHECK(p.next(2, *counts).size() == first.size());
  CHECK(p.next_due() == INT64_MAX);
  p.stop();
  CHECK(p.next(3, *counts).empty());
}

TEST_CASE("a producer with a rate sends what is due and stamps when it was due", "[perf]") {
  const auto counts = std::make_unique<tally>();
  producer p{small_form(), {}};
  p.start(schedule{1000, 5'000'000});
  CHECK(p.next_due() == 5'000'000);
  CHECK(p.next(4'000'000, *counts).empty());
  std::string out;
  consumer c{1, 0};
  receive(c, p.next(7'500'000, *counts), 9'000'000, out, *counts);  // due at 5, 6 and 7 ms
  CHECK(counts->published == 3);
  CHECK(counts->delivered == 3);
  CHECK(counts->latency.max() == 4'000'000);
  CHECK(counts->latency.min() == 2'000'000);
  CHECK(counts->send_lag.max() == 2'500'000);
  CHECK(p.next_due() == 8'000'000);
}

TEST_CASE("a producer publishes exactly its count", "[perf]") {
  const auto counts = std::make_unique<tally>();
  producer p{small_form(), {std::nullopt, 100}};
  p.start(std::nullopt);
  while (!p.next(1, *counts).empty()) CHECK(counts->published <= 100);
  CHECK(counts->published == 100);
  CHECK(p.finished());
}

TEST_CASE("a producer never has more unconfirmed publishes than its window", "[perf]") {
  const auto counts = std::make_unique<tally>();
  producer p{small_form(), {5, std::nullopt}};
  p.start(std::nullopt);
  while (!p.next(1000, *counts).empty()) {
  }
  CHECK(counts->published == 5);
  p.confirmed(2, true, true, 3000, *counts);
  CHECK(counts->confirmed == 2);
  while (!p.next(4000, *counts).empty()) {
  }
  CHECK(counts->published == 7);
  p.confirmed(4, false, false, 5000, *counts);
  CHECK(counts->nacked == 1);
  CHECK(p.next(5000, *counts).empty());  // 3 is still open
  p.confirmed(7, true, true, 6000, *counts);
  CHECK(counts->confirmed == 6);
  CHECK(counts->confirm_latency.count() == 7);
}

TEST_CASE("every publish is settled once, in whatever order confirms come", "[perf]") {
  confirm_window window{100};
  for (int i = 0; i < 100; ++i) window.sent(i);
  CHECK(window.room() == 0);
  std::uint64_t settled = 0;
  const auto count = [&](std::int64_t) { ++settled; };
  for (std::uint64_t tag = 100; tag > 1; tag -= 3) window.settle(tag, false, count);
  for (std::uint64_t tag = 100; tag > 1; tag -= 3) window.settle(tag, false, count);
  CHECK(settled == 33);
  window.settle(1'000'000, true, count);  // nothing of ours
  CHECK(settled == 33);
  window.settle(100, true, count);
  CHECK(settled == 100);
  CHECK(window.room() == 100);
}

TEST_CASE("a consumer acknowledges each batch of deliveries with one ack", "[perf]") {
  const auto counts = std::make_unique<tally>();
  consumer c{1, 3};
  std::string out, expected;
  for (std::uint64_t tag = 1; tag <= 7; ++tag)
    receive(c, as_bytes(delivery(tag, "x")), 0, out, *counts);
  wire::ack(expected, 1, 3, true);
  wire::ack(expected, 1, 6, true);
  CHECK(out == expected);
  c.ack_rest(out);
  wire::ack(expected, 1, 7, true);
  CHECK(out == expected);
  c.ack_rest(out);
  CHECK(out == expected);
  CHECK(counts->delivered == 7);
  CHECK(counts->delivered_bytes == 7);
  CHECK(counts->latency.count() == 0);
}

TEST_CASE("empty bodies and bodies of several frames each count as one delivery", "[perf]") {
  const auto counts = std::make_unique<tally>();
  consumer c{1, 0};
  std::string out;
  receive(c, as_bytes(delivery(1, "")), 0, out, *counts);
  CHECK(counts->delivered == 1);
  std::string big;
  wire::publish(big, {}, 10'000, 4096);
  receive(c, as_bytes(big), 0, out, *counts);
  CHECK(counts->delivered == 2);
  CHECK(counts->delivered_bytes == 10'000);
  CHECK(out.empty());
}
