// What RabbitMQ 3.10.8 was seen to send, byte for byte: a client's machine understands it, and a
// server's encoders write the same.
#include "tests/catch.hpp"
#include "tests/transport/amqp091/bytes.hpp"
#include "transport/amqp091/client_connection.hpp"

using namespace baton;
using namespace baton::amqp091;
using namespace baton::amqp091::test;

namespace {

constexpr auto start =
    "010000000001ee000a000a0009000001c90c6361706162696c697469657346000000c7127075626c69736865725f"
    "636f6e6669726d7374011a65786368616e67655f65786368616e67655f62696e64696e677374010a62617369632e"
    "6e61636b740116636f6e73756d65725f63616e63656c5f6e6f74696679740112636f6e6e656374696f6e2e626c6f"
    "636b6564740113636f6e73756d65725f7072696f72697469657374011c61757468656e7469636174696f6e5f6661"
    "696c7572655f636c6f73657401107065725f636f6e73756d65725f716f7374010f6469726563745f7265706c795f"
    "746f74010c636c75737465725f6e616d655300000007676f6c6440766d09636f707972696768745300000037436f"
    "707972696768742028632920323030372d3230323220564d776172652c20496e632e206f72206974732061666669"
    "6c69617465732e0b696e666f726d6174696f6e53000000394c6963656e73656420756e64657220746865204d504c"
    "20322e302e20576562736974653a2068747470733a2f2f7261626269746d712e636f6d08706c6174666f726d5300"
    "00001145726c616e672f4f54502032352e322e330770726f6475637453000000085261626269744d510776657273"
    "696f6e5300000006332e31302e380000000e504c41494e20414d51504c41494e00000005656e5f5553ce";
constexpr auto tune = "0100000000000c000a001e07ff00020000003cce";
constexpr auto open_ok = "01000000000005000a002900ce";
constexpr auto opened_channel = "010001000000080014000b00000000ce";
constexpr auto declare_ok = "010001000000110032000b04676f6c640000000000000000ce";
constexpr auto confirm_ok = "010001000000040055000bce";
constexpr auto consume_ok = "01000100000008003c001503746167ce";
constexpr auto deliver =
    "01000100000017003c003c037461670000000000000001000004676f6c64ce0200010000002d003c000000000000"
    "00000005b0000a746578742f706c61696e0000000f016e4900000005017353000000017602ce0300010000000568"
    "656c6c6fce";
constexpr auto ack = "0100010000000d003c0050000000000000000100ce";
constexpr auto returned =
    "01000100000021003c00320138084e4f5f524f5554450a616d712e646972656374066e6f626f6479ce0200010000"
    "000e003c000000000000000000020000ce030001000000026869ce";
constexpr auto delete_ok = "010001000000080032002900000000ce";
constexpr auto cancel = "01000100000009003c001e0374616701ce";
constexpr auto closed_channel =
    "010001000000360014002801942b4e4f545f464f554e44202d206e6f20717565756520276d697373696e67272069"
    "6e2076686f737420272f270032000ace";
constexpr auto closed_connection = "01000000000004000a0033ce";

/// The properties of the message above: a content type, two headers, persistent.
const auto properties =
    hex("b000 0a 'text/plain' 0000000f 01 'n' 49 00000005 01 's' 53 00000001 'v' 02");

template <class Method>
std::vector<std::uint8_t> encoded(std::uint16_t channel, const Method& method) {
  output_buffer out;
  encode_method(out, channel, method);
  return copy_of(out.view());
}

struct listener : client_handler {
  std::string heard;

  void hear(const std::string& words) { heard += words + "; "; }
  void opened() override { hear("opened"); }
  void closed(std::uint16_t code, std::string_view) override {
    hear("closed " + std::to_string(code));
  }
  void channel_opened(std::uint16_t) override { hear("channel opened"); }
  void channel_closed(std::uint16_t, std::uint16_t, std::string_view text) override {
    hear("channel closed, " + std::string{text});
  }
  void delivered(std::uint16_t, std::string_view consumer, std::uint64_t tag, bool,
                 const message_view& message) override {
    CHECK(copy_of(message.properties) == properties);
    hear("delivered " + std::string{consumer} + " " + std::to_string(tag) + " " +
         std::string{message.routing_key} + " " + std::string{as_text(message.body)});
  }
  void returned(std::uint16_t, std::uint16_t code, std::string_view text,
                const message_view& message) override {
    hear("returned " + std::to_string(code) + " " + std::string{text} + " " +
         std::string{message.exchange} + " " + std::string{as_text(message.body)});
  }
  void on(std::uint16_t, const methods::queue_declare_ok& ok) override {
    hear("declared " + std::string{ok.queue});
  }
  void on(std::uint16_t, const methods::basic_ack& m) override {
    hear("ack " + std::to_string(m.delivery_tag));
  }
  void on(std::uint16_t, const methods::basic_cancel& m) override {
    hear("cancelled " + std::string{m.consumer_tag});
  }
};

}  // namespace

TEST_CASE("a client understands what RabbitMQ says", "[amqp091]") {
  listener heard;
  output_buffer out;
  client_connection client{{}, heard, out};
  client.start();
  for (const auto* bytes : {start, tune, open_ok}) client.feed(hex(bytes));
  CHECK(find_in_table(client.server_properties(), "version")->text() == "3.10.8");
  CHECK(client.frame_max() == 131072);
  client.open_channel(1);
  for (const auto* bytes : {opened_channel, declare_ok, confirm_ok, consume_ok, deliver, ack,
                            returned, delete_ok, cancel, closed_channel})
    client.feed(hex(bytes));
  client.close();
  client.feed(hex(closed_connection));
  CHECK(heard.heard ==
        "opened; channel opened; declared gold; delivered tag 1 gold hello; ack 1; returned 312 "
        "NO_ROUTE amq.direct hi; cancelled tag; channel closed, NOT_FOUND - no queue 'missing' in "
        "vhost '/'; closed 200; ");
}

TEST_CASE("a server writes the bytes that RabbitMQ writes", "[amqp091]") {
  using namespace methods;
  CHECK(encoded(0, connection_tune{.channel_max = 2047, .frame_max = 131072, .heartbeat = 60}) ==
        hex(tune));
  CHECK(encoded(0, connection_open_ok{}) == hex(open_ok));
  CHECK(encoded(1, methods::channel_open_ok{}) == hex(opened_channel));
  CHECK(encoded(1, queue_declare_ok{.queue = "gold"}) == hex(declare_ok));
  CHECK(encoded(1, confirm_select_ok{}) == hex(confirm_ok));
  CHECK(encoded(1, basic_consume_ok{.consumer_tag = "tag"}) == hex(consume_ok));
  CHECK(encoded(1, basic_ack{.delivery_tag = 1}) == hex(ack));
  CHECK(encoded(1, queue_delete_ok{}) == hex(delete_ok));
  CHECK(encoded(1, basic_cancel{.consumer_tag = "tag", .no_wait = true}) == hex(cancel));
  CHECK(encoded(0, methods::connection_close_ok{}) == hex(closed_connection));
  const auto error =
      error_in<queue_declare>(reply_code::not_found, "no queue 'missing' in vhost '/'");
  CHECK(encoded(1, methods::channel_close{.reply_code = 404,
                                          .reply_text = reply_text(error),
                                          .failed_class = error.class_id,
                                          .failed_method = error.method_id}) ==
        hex(closed_channel));

  output_buffer out;
  deliver_encoder{1, "tag", 131072}.encode(out, {1, false, "", "gold", properties},
                                           as_bytes("hello"));
  CHECK(copy_of(out.view()) == hex(deliver));
  out.clear();
  const auto body = as_bytes("hi");
  encode_content(out, 1,
                 basic_return{.reply_code = 312,
                              .reply_text = "NO_ROUTE",
                              .exchange = "amq.direct",
                              .routing_key = "nobody"},
                 no_properties, {{&body, 1}, 2}, 131072);
  CHECK(copy_of(out.view()) == hex(returned));
}
