#include "actors/topology/arguments.hpp"

#include "tests/actors/topology/fixture.hpp"

namespace baton {
namespace {

using namespace topology_test;

TEST_CASE("a queue's arguments are read into what they mean") {
  const auto parsed = parse_queue_arguments({{"x-message-ttl", number(0)},
                                             {"x-expires", number(5, integer_width::u8)},
                                             {"x-max-length", number(10, integer_width::i64)},
                                             {"x-max-length-bytes", number(20)},
                                             {"x-overflow", text("reject-publish-dlx")},
                                             {"x-max-priority", number(255)},
                                             {"x-dead-letter-exchange", text("")},
                                             {"x-dead-letter-routing-key", text("k")},
                                             {"x-single-active-consumer", {true}},
                                             {"x-delivery-limit", number(7)},
                                             {"x-queue-type", text("quorum")},
                                             {"anything", number(1)}},
                                            "q", "/");
  REQUIRE(parsed);
  queue_arguments expected;
  expected.message_ttl = std::chrono::milliseconds{0};
  expected.expires = std::chrono::milliseconds{5};
  expected.max_length = 10;
  expected.max_length_bytes = 20;
  expected.overflow = overflow_policy::reject_publish_dlx;
  expected.max_priority = std::uint8_t{255};
  expected.dead_letter_exchange = "";
  expected.dead_letter_routing_key = "k";
  expected.single_active_consumer = true;
  expected.delivery_limit = 7;
  expected.type = queue_type::quorum;
  REQUIRE(*parsed == expected);
  REQUIRE(*parse_queue_arguments({}, "q", "/") == queue_arguments{});
  REQUIRE(*parse_queue_arguments({{"x-delivery-limit", number(-1)}}, "q", "/") ==
          queue_arguments{});
}

TEST_CASE("an argument that is wrong is refused in RabbitMQ's words") {
  struct example {
    const char* name;
    field_value value;
    const char* complaint;
  };
  const example examples[] = {
      {"x-message-ttl", text("1000"), "\"expected integer, got longstr\""},
      {"x-message-ttl", {1000.0}, "\"expected integer, got double\""},
      {"x-message-ttl", number(-1), "{value_negative,-1}"},
      {"x-message-ttl", number(315360000001, integer_width::i64), "{value_too_large,315360000001}"},
      {"x-expires", number(0), "{value_zero,0}"},
      {"x-expires", number(-5), "{value_negative,-5}"},
      {"x-max-length", number(-1), "{value_negative,-1}"},
      {"x-max-length-bytes", {true}, "\"expected integer, got bool\""},
      {"x-max-priority", number(256), "{max_value_exceeded,256}"},
      {"x-overflow", text("drop"), "invalid_overflow"},
      {"x-overflow", number(1), "{unacceptable_type,signedint}"},
      {"x-dead-letter-routing-key", text("k"), "routing_key_but_no_dlx_defined"},
      {"x-single-active-consumer", number(1), "{unacceptable_type,signedint}"},
      {"x-queue-mode", text("busy"), "invalid_queue_mode"},
      {"x-queue-type", text("fast"), "\"unsupported queue type 'fast'\""},
      {"x-max-age", text("0D"), "invalid_max_age"},
      {"x-max-age", text("7W"), "invalid_max_age"},
      {"x-delivery-limit", number(-2), "{value_negative,-2}"},
  };
  fixture t;
  for (const example& each : examples) {
    INFO(each.name << ": " << each.complaint);
    REQUIRE(refused(t.try_queue("q", {{each.name, each.value}})) ==
            refusal{406, "invalid arg '" + std::string{each.name} +
                             "' for queue 'q' in vhost '/': " + each.complaint});
  }
  REQUIRE(refused(t.try_queue("q", {{"x-dead-letter-exchange", number(1)}})) ==
          refusal{406,
                  "invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'q' in "
                  "vhost '/'"});
  REQUIRE(refused(t.try_exchange("e", "direct", {{"alternate-exchange", number(1)}})) ==
          refusal{406,
                  "invalid type 'signedint' for arg 'alternate-exchange' in exchange 'e' in "
                  "vhost '/'"});
  REQUIRE_FALSE(t.has_queue("q"));
  REQUIRE_FALSE(t.has_exchange("e"));
}

TEST_CASE("quorum queues and streams are durable, shared and stay") {
  fixture t;
  t.who.connection = connection_id{1};
  for (const char* type : {"quorum", "stream"}) {
    const auto declare = [&](bool durable, bool exclusive, bool auto_delete) {
      return t.try_queue(
          {t.vhost, "q", false, durable, exclusive, auto_delete, {{"x-queue-type", text(type)}}});
    };
    REQUIRE(refused(declare(false, false, false)) ==
            refusal{406, "invalid property 'non-durable' for queue 'q' in vhost '/'"});
    REQUIRE(refused(declare(true, true, false)) ==
            refusal{406, "invalid property 'exclusive-owner' for queue 'q' in vhost '/'"});
    REQUIRE(refused(declare(true, false, true)) ==
            refusal{406, "invalid property 'auto-delete' for queue 'q' in vhost '/'"});
  }
}

TEST_CASE("the mode of a queue is accepted and not compared, its type is compared") {
  fixture t;
  t.queue("c", {{"x-queue-mode", text("lazy")}, {"x-queue-type", text("classic")}});
  REQUIRE(t.try_queue("c")->status == queue_status::existing);
  REQUIRE(t.try_queue("c", {{"x-queue-mode", text("default")}})->status == queue_status::existing);
  t.queue("k", {{"x-queue-type", text("quorum")}});
  REQUIRE(t.try_queue("k", {{"x-queue-type", text("quorum")}, {"x-queue-mode", text("lazy")}})
              ->status == queue_status::existing);
  REQUIRE(refused(t.try_queue("k")) ==
          refusal{406,
                  "inequivalent arg 'x-queue-type' for queue 'k' in vhost '/': received none but "
                  "current is the value 'quorum' of type 'longstr'"});
  REQUIRE(refused(t.try_queue("c", {{"x-queue-type", text("stream")}})).code == 406);
}

TEST_CASE("an unknown argument is kept, and warned about once with its nearest neighbour") {
  fixture t;
  const auto first = t.try_queue("q", {{"x-mesage-ttl", number(1)}, {"mine", number(2)}});
  REQUIRE(first->warnings ==
          names{"unknown argument 'x-mesage-ttl' for queue 'q' in vhost '/'; did you mean "
                "'x-message-ttl'?",
                "unknown argument 'mine' for queue 'q' in vhost '/'"});
  REQUIRE(first->queue->declared.size() == 2);
  REQUIRE(t.try_queue("r", {{"x-mesage-ttl", number(1)}})->warnings.empty());
  REQUIRE(t.try_exchange("e", "direct", {{"alternate_exchange", text("a")}})->warnings ==
          names{"unknown argument 'alternate_exchange' for exchange 'e' in vhost '/'; did you mean "
                "'alternate-exchange'?"});
}

TEST_CASE("a strict node refuses unknown arguments") {
  fixture t{true};
  REQUIRE(refused(t.try_queue("q", {{"x-mesage-ttl", number(1)}})) ==
          refusal{406,
                  "unknown argument 'x-mesage-ttl' for queue 'q' in vhost '/'; did you mean "
                  "'x-message-ttl'?"});
  REQUIRE(t.try_queue("q", {{"x-message-ttl", number(1)}}));
}

}  // namespace
}  // namespace baton
