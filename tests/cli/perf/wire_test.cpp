#include "cli/perf/wire.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace baton;
using namespace baton::perf;

namespace {

struct seen_frame {
  wire::frame_type type;
  std::uint16_t channel;
  std::string payload;
};

wire::scan_result scan(std::string_view bytes, std::vector<seen_frame>& seen) {
  return wire::scan_frames(as_bytes(bytes), [&](const wire::frame& frame) {
    seen.push_back({frame.type, frame.channel, std::string{as_text(frame.payload)}});
    return true;
  });
}

}  // namespace

TEST_CASE("a written method frame has the bytes of AMQP 0-9-1", "[perf]") {
  std::string out;
  wire::ack(out, 3, 0x0102, true);
  const std::string_view golden{
      "\x01\x00\x03\x00\x00\x00\x0d\x00\x3c\x00\x50\x00\x00\x00\x00\x00\x00\x01\x02\x01\xce", 21};
  CHECK(out == golden);
}

TEST_CASE("a publish is a method, a header and bodies that respect frame-max", "[perf]") {
  std::string out;
  const auto body_at = wire::publish(out, {2, "ex", "key", true, true}, 10'000, 4096);
  std::vector<seen_frame> seen;
  const auto scanned = scan(out, seen);
  CHECK(scanned.consumed == out.size());
  CHECK_FALSE(scanned.malformed);
  REQUIRE(seen.size() == 5);
  const std::string_view method{
      "\x00\x3c\x00\x28\x00\x00\x02"
      "ex\x03"
      "key\x01",
      14};
  CHECK(seen[0].payload == method);
  CHECK(seen[1].type == wire::frame_type::header);
  CHECK(seen[1].payload ==
        std::string_view{"\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x27\x10\x10\x00\x02", 15});
  CHECK(seen[2].payload.size() == 4088);
  CHECK(seen[3].payload.size() == 4088);
  CHECK(seen[4].payload.size() == 10'000 - 2 * 4088);
  CHECK(out[body_at] == 'b');
  CHECK(static_cast<std::uint8_t>(out[body_at - 7]) == 3);  // the body frame's type
}

TEST_CASE("a publish without a body has no body frame", "[perf]") {
  std::string out;
  const auto body_at = wire::publish(out, {}, 0, 4096);
  CHECK(body_at == out.size());
  std::vector<seen_frame> seen;
  scan(out, seen);
  CHECK(seen.size() == 2);
}

TEST_CASE("frames are found whole wherever the input is cut", "[perf]") {
  std::string out;
  wire::publish(out, {1, "", "q", false, false}, 16, 131072);
  wire::ack(out, 1, 7, false);
  for (std::size_t cut = 0; cut <= out.size(); ++cut) {
    std::vector<seen_frame> seen;
    const auto first = scan(std::string_view{out}.substr(0, cut), seen);
    CHECK_FALSE(first.malformed);
    CHECK(first.consumed <= cut);
    const auto second = scan(std::string_view{out}.substr(first.consumed), seen);
    CHECK(first.consumed + second.consumed == out.size());
    CHECK(seen.size() == 4);
  }
}

TEST_CASE("a frame without its end octet, or a method without an id, is malformed", "[perf]") {
  std::string out;
  wire::ack(out, 1, 7, false);
  out.back() = 'x';
  std::vector<seen_frame> seen;
  CHECK(scan(out, seen).malformed);
  CHECK(scan(std::string_view{"\x01\x00\x01\x00\x00\x00\x02\x00\x3c\xce", 10}, seen).malformed);
  CHECK(seen.empty());
}

TEST_CASE("scanning stops where it is told to", "[perf]") {
  std::string out;
  wire::ack(out, 1, 1, false);
  wire::ack(out, 1, 2, false);
  const auto scanned = wire::scan_frames(as_bytes(out), [](const wire::frame&) { return false; });
  CHECK(scanned.consumed == out.size() / 2);
}

TEST_CASE("the reason of a close is its code and text, whatever is missing", "[perf]") {
  const std::string_view close{"\x00\x0a\x00\x32\x01\x94\x05GONE!\x00\x00\x00\x00", 16};
  CHECK(wire::close_text(as_bytes(close)) == "404 GONE!");
  CHECK(wire::close_text(as_bytes(close.substr(0, 9))) == "404 GO");
  CHECK(wire::close_text(as_bytes(close.substr(0, 6))) == "no reason given");
}
