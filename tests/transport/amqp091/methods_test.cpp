#include "transport/amqp091/methods.hpp"

#include "tests/catch.hpp"
#include "tests/transport/amqp091/bytes.hpp"
#include "transport/amqp091/publish_view.hpp"
#include "transport/amqp091/reply_code.hpp"

using namespace baton;
using namespace baton::amqp091;
using namespace baton::amqp091::test;

namespace {

template <class Method>
std::vector<std::uint8_t> encoded(std::uint16_t channel, const Method& method) {
  output_buffer out;
  encode_method(out, channel, method);
  return copy_of(out.view());
}

/// Fills every field of a method with something that is not its default.
struct filler {
  int count = 0;
  void operator()(auto&&... fields) { (fill(fields), ...); }
  void fill(bool& field) { field = ++count % 2 == 1; }
  void fill(std::string_view& field) { field = "name"; }
  void fill(byte_view& field) { field = as_bytes("long string"); }
  void fill(table_view& field) {
    static const auto entries = hex("01 'k' 49 00000007");
    field.entries = entries;
  }
  void fill(auto& number) {
    if constexpr (requires { number.text; })
      number.text = "\xFFkey";
    else
      number = static_cast<std::remove_reference_t<decltype(number)>>(200 + ++count);
  }
};

template <class... Methods>
void check_all(method_list<Methods...>) {
  const auto check = []<class Method>(Method method) {
    Method::fields(method, filler{});
    const auto bytes = encoded(9, method);
    const auto scanned = scan_frame(bytes, 100'000);
    REQUIRE(scanned.status == scan_status::whole);
    const byte_view payload = scanned.found.payload;
    bool same = false;
    const auto status = visit_method(payload, [&]<class Seen>(const Seen& seen) {
      same = std::is_same_v<Seen, Method> && encoded(9, seen) == bytes;
    });
    INFO(Method::name);
    CHECK(status == decode_status::ok);
    CHECK(same);
    for (std::size_t size = 0; size < payload.size(); ++size)
      CHECK(visit_method(payload.first(size), [](const auto&) {}) == decode_status::malformed);
    auto longer = copy_of(payload);
    longer.push_back(0);
    CHECK(visit_method(longer, [](const auto&) {}) == decode_status::malformed);
  };
  (check(Methods{}), ...);
}

}  // namespace

TEST_CASE("every method comes back from its encoding, and from no part or extension of it",
          "[amqp091]") {
  check_all(all_methods{});
}

TEST_CASE("methods are on the wire as other implementations write them", "[amqp091]") {
  const auto table = hex("0D 'x-message-ttl' 49 000003E8");
  CHECK(encoded(1,
                methods::queue_declare{
                    .queue = "q1", .durable = true, .auto_delete = true, .arguments = {table}}) ==
        hex("01 0001 00000021 0032 000A 0000 02 'q1' 0A 00000013 0D 'x-message-ttl' 49 000003E8"
            "CE"));
  CHECK(encoded(3, methods::basic_ack{.delivery_tag = 258, .multiple = true}) ==
        hex("01 0003 0000000D 003C 0050 0000000000000102 01 CE"));
  CHECK(encoded(1, methods::basic_nack{.delivery_tag = 1, .multiple = true, .requeue = true}) ==
        hex("01 0001 0000000D 003C 0078 0000000000000001 03 CE"));
  CHECK(
      encoded(1, methods::basic_publish{.exchange = "e", .routing_key = "k", .immediate = true}) ==
      hex("01 0001 0000000B 003C 0028 0000 01 'e' 01 'k' 02 CE"));
  CHECK(
      encoded(
          0, methods::connection_tune{.channel_max = 2047, .frame_max = 131072, .heartbeat = 60}) ==
      hex("01 0000 0000000C 000A 001E 07FF 00020000 003C CE"));
  CHECK(encoded(0, methods::connection_close{.reply_code = 320,
                                             .reply_text = "CONNECTION_FORCED",
                                             .failed_class = 0,
                                             .failed_method = 0}) ==
        hex("01 0000 0000001C 000A 0032 0140 11 'CONNECTION_FORCED' 0000 0000 CE"));
  CHECK(encoded(2, methods::channel_open_ok{}) == hex("01 0002 00000008 0014 000B 00000000 CE"));
  CHECK(encoded(1,
                methods::basic_consume{
                    .queue = "q", .consumer_tag = "t", .no_ack = true, .exclusive = true}) ==
        hex("01 0001 0000000F 003C 0014 0000 01 'q' 01 't' 06 00000000 CE"));
  CHECK(encoded(1, methods::exchange_declare{.exchange = "x", .type = "topic", .durable = true}) ==
        hex("01 0001 00000013 0028 000A 0000 01 'x' 05 'topic' 02 00000000 CE"));
  CHECK(encoded(1, methods::exchange_unbind_ok{}) == hex("01 0001 00000004 0028 0033 CE"));
}

TEST_CASE("unknown ids are no method", "[amqp091]") {
  for (const char* ids : {"003C 0063", "0000 0000", "FFFF FFFF", "0046 000A"})
    CHECK(visit_method(hex(ids), [](const auto&) {}) == decode_status::unknown_method);
}

TEST_CASE("names must be UTF-8, routing keys need not", "[amqp091]") {
  const auto status = [](std::vector<std::uint8_t> frame) {
    return visit_method(scan_frame(frame, 4096).found.payload, [](const auto&) {});
  };
  CHECK(status(encoded(1, methods::queue_declare{.queue = "\xFF"})) ==
        decode_status::malformed_utf8);
  CHECK(status(encoded(1, methods::queue_bind{.queue = "q", .exchange = "\xC3"})) ==
        decode_status::malformed_utf8);
  CHECK(status(encoded(1, methods::queue_bind{.queue = "q", .routing_key = "\xFF\x80"})) ==
        decode_status::ok);
  CHECK(status(encoded(1, methods::basic_publish{.routing_key = "\xFF"})) == decode_status::ok);
}

TEST_CASE("a table that overruns its method is malformed", "[amqp091]") {
  auto bytes = encoded(1, methods::queue_declare{.queue = "q"});
  bytes[bytes.size() - 2] = 1;  // the table's length
  CHECK(visit_method(scan_frame(bytes, 4096).found.payload, [](const auto&) {}) ==
        decode_status::malformed);
}

TEST_CASE("the quick reading of basic.publish agrees with the derived one", "[amqp091]") {
  const methods::basic_publish method{
      .exchange = "some exchange", .routing_key = "a.key", .mandatory = true};
  output_buffer out;
  encode_payload(out, method);
  const byte_view arguments = out.view().subspan(4);
  publish_view view;
  REQUIRE(parse_publish(arguments, view));
  CHECK(view.exchange == method.exchange);
  CHECK(view.routing_key == method.routing_key);
  CHECK(view.mandatory);
  CHECK_FALSE(view.immediate);
  for (std::size_t size = 0; size < arguments.size(); ++size)
    CHECK_FALSE(parse_publish(arguments.first(size), view));
  out.append_number(std::uint8_t{0});
  CHECK_FALSE(parse_publish(out.view().subspan(4), view));
}

TEST_CASE("a reply text is the code's name and why, in at most 255 bytes of UTF-8", "[amqp091]") {
  CHECK(reply_text({reply_code::not_found, "no queue 'q' in vhost '/'", 50, 10}) ==
        "NOT_FOUND - no queue 'q' in vhost '/'");
  const auto cut = reply_text({reply_code::access_refused, std::string(300, 'x'), 0, 0});
  CHECK(cut.size() == 255);
  CHECK(cut.ends_with("x..."));
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "\xC3\xA4";
  const auto cut_utf8 = reply_text({reply_code::not_found, umlauts, 0, 0});
  CHECK(cut_utf8.size() <= 255);
  CHECK(is_utf8(cut_utf8));
  CHECK(reply_text({reply_code::not_found, "no exchange '\xFF'", 60, 40}) ==
        "NOT_FOUND - no exchange '?'");
}

TEST_CASE("hard codes close the connection, soft ones the channel", "[amqp091]") {
  for (const auto code : {reply_code::access_refused, reply_code::not_found,
                          reply_code::resource_locked, reply_code::precondition_failed})
    CHECK(scope_of(code) == close_scope::channel);
  for (const auto code :
       {reply_code::connection_forced, reply_code::frame_error, reply_code::command_invalid,
        reply_code::channel_error, reply_code::unexpected_frame, reply_code::not_allowed,
        reply_code::not_implemented, reply_code::internal_error})
    CHECK(scope_of(code) == close_scope::connection);
}
