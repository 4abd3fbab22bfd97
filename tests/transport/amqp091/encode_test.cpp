#include "transport/amqp091/encode.hpp"

#include "tests/catch.hpp"
#include "tests/transport/amqp091/bytes.hpp"
#include "transport/amqp091/heartbeat.hpp"

using namespace baton;
using namespace baton::amqp091;
using namespace baton::amqp091::test;

namespace {

/// The output with its splices put in.
std::vector<std::uint8_t> spliced(const output_buffer& out, const std::vector<splice>& splices) {
  std::vector<std::uint8_t> all;
  std::size_t at = 0;
  for (const auto& piece : splices) {
    const auto inlined = out.view().subspan(at, piece.at - at);
    all.insert(all.end(), inlined.begin(), inlined.end());
    all.insert(all.end(), piece.bytes.begin(), piece.bytes.end());
    at = piece.at;
  }
  const auto rest = out.view().subspan(at);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

const delivery_view delivery{7, true, "ex", "key", no_properties};

}  // namespace

TEST_CASE("a deliver is on the wire as RabbitMQ writes it", "[amqp091]") {
  output_buffer out;
  deliver_encoder{1, "ctag", 131072}.encode(out, delivery, as_bytes("hello"));
  CHECK(copy_of(out.view()) ==
        hex("01 0001 00000019 003C 003C 04 'ctag' 0000000000000007 01 02 'ex' 03 'key' CE"
            "02 0001 0000000E 003C 0000 0000000000000005 0000 CE"
            "03 0001 00000005 'hello' CE"));
}

TEST_CASE("a deliver without a body has no body frame", "[amqp091]") {
  output_buffer out;
  deliver_encoder{1, "t", 4096}.encode(out, delivery, byte_view{});
  CHECK(copy_of(out.view()) ==
        hex("01 0001 00000016 003C 003C 01 't' 0000000000000007 01 02 'ex' 03 'key' CE"
            "02 0001 0000000E 003C 0000 0000000000000000 0000 CE"));
}

TEST_CASE("bodies are cut into frames of at most frame_max, framing included", "[amqp091]") {
  const std::string body(10'000, 'b');
  const deliver_encoder encoder{1, "t", 4096};
  output_buffer whole;
  encoder.encode(whole, delivery, as_bytes(body));
  byte_view bytes = whole.view();
  std::vector<std::size_t> sizes;
  while (!bytes.empty()) {
    const auto scanned = scan_frame(bytes, 4096 - frame_overhead);
    REQUIRE(scanned.status == scan_status::whole);
    if (scanned.found.type == frame_type::body) sizes.push_back(scanned.found.payload.size());
    bytes = bytes.subspan(scanned.size);
  }
  CHECK(sizes == std::vector<std::size_t>{4088, 4088, 1824});

  SECTION("pieces, copied or spliced, give the same bytes") {
    for (const std::size_t size : {1u, 999u, 4088u, 4096u, 9999u}) {
      std::vector<byte_view> pieces;
      for (std::size_t at = 0; at < body.size(); at += size)
        pieces.push_back(as_bytes(std::string_view{body}.substr(at, size)));
      const body_pieces in_pieces{pieces, body.size()};
      output_buffer copied;
      encoder.encode(copied, delivery, in_pieces);
      CHECK(copy_of(copied.view()) == copy_of(whole.view()));
      output_buffer framing;
      std::vector<splice> splices;
      encoder.encode(framing, splices, delivery, in_pieces);
      CHECK(framing.size() < 200);
      CHECK(spliced(framing, splices) == copy_of(whole.view()));
    }
  }
}

TEST_CASE("get-ok and return carry their contents", "[amqp091]") {
  const auto piece = as_bytes("x");
  output_buffer out;
  encode_content(
      out, 2,
      methods::basic_return{
          .reply_code = 312, .reply_text = "NO_ROUTE", .exchange = "e", .routing_key = "k"},
      hex("1000 02"), {{&piece, 1}, 1}, 4096);
  CHECK(copy_of(out.view()) == hex("01 0002 00000013 003C 0032 0138 08 'NO_ROUTE' 01 'e' 01 'k' CE"
                                   "02 0002 0000000F 003C 0000 0000000000000001 1000 02 CE"
                                   "03 0002 00000001 'x' CE"));
}

TEST_CASE("the quick publish gives the bytes of the general one", "[amqp091]") {
  const methods::basic_publish publish{
      .exchange = "e", .routing_key = "a.key", .mandatory = true, .immediate = true};
  for (const std::size_t size : {0u, 1u, 4088u, 4089u, 9000u}) {
    const std::string body(size, 'x');
    const byte_view bytes = as_bytes(body);
    output_buffer quick;
    output_buffer general;
    encode_publish(quick, 3, publish, no_properties, bytes, 4096);
    encode_content(general, 3, publish, no_properties, {{&bytes, 1}, size}, 4096);
    CHECK(copy_of(quick.view()) == copy_of(general.view()));
  }
}

TEST_CASE("copying any number of bytes copies them", "[amqp091]") {
  const std::string source = "0123456789abcdefghijklmnopqrstuvwxyz";
  for (std::size_t size = 0; size <= source.size(); ++size) {
    std::uint8_t target[64] = {};
    CHECK(copy(target, source.data(), size) == target + size);
    CHECK(as_text({target, size}) == source.substr(0, size));
    CHECK(target[size] == 0);
  }
}

TEST_CASE("a heartbeat is due after half an interval without sending", "[amqp091]") {
  using std::chrono::seconds;
  heartbeat_monitor monitor;
  const heartbeat_monitor::time_point start{seconds{1000}};
  CHECK_FALSE(monitor.tick(start).send);
  monitor.set_interval(seconds{10});
  CHECK_FALSE(monitor.tick(start).send);
  CHECK_FALSE(monitor.tick(start + seconds{4}).send);
  CHECK(monitor.tick(start + seconds{5}).send);
  monitor.sent(8);
  CHECK_FALSE(monitor.tick(start + seconds{6}).send);
  CHECK_FALSE(monitor.tick(start + seconds{10}).send);
  CHECK(monitor.tick(start + seconds{11}).send);
}

TEST_CASE("a peer is silent after two intervals without a byte, unless it is forgiven",
          "[amqp091]") {
  using std::chrono::seconds;
  heartbeat_monitor monitor;
  const heartbeat_monitor::time_point start{seconds{1000}};
  monitor.set_interval(seconds{10});
  CHECK_FALSE(monitor.tick(start).silent);
  CHECK_FALSE(monitor.tick(start + seconds{19}).silent);
  monitor.received(1);
  CHECK_FALSE(monitor.tick(start + seconds{20}).silent);
  CHECK(monitor.tick(start + seconds{40}).silent);
  monitor.forgive(start + seconds{40});
  CHECK_FALSE(monitor.tick(start + seconds{41}).silent);
  monitor.set_interval(seconds{0});
  CHECK_FALSE(monitor.tick(start + seconds{4000}).silent);
}
