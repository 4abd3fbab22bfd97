#include "actors/topology/stored_definitions.hpp"

#include "tests/actors/topology/fixture.hpp"
#include "tests/transport/amqp091/bytes.hpp"

namespace baton {
namespace {

using namespace topology_test;

std::string bytes(std::string_view written) {
  const auto made = amqp091::test::hex(written);
  return {made.begin(), made.end()};
}

std::string spelled(std::string_view bytes) {
  std::string text;
  for (const char each : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(each);
    (text += digits[byte >> 4]) += digits[byte & 15];
  }
  return text;
}

shared<exchange_definition> exchange_of(std::string name, exchange_type type,
                                        field_table arguments = {}) {
  exchange_definition made;
  made.name = std::move(name);
  made.type = type;
  made.declared = std::move(arguments);
  return shared<exchange_definition>::make(std::move(made));
}

queue_entry queue_of(std::string vhost, std::string name, std::uint64_t id,
                     field_table arguments = {}) {
  queue_entry made;
  made.vhost_name = std::move(vhost);
  made.name = std::move(name);
  made.id = queue_id{id};
  made.declared = std::move(arguments);
  return made;
}

struct vector {
  definition is;
  std::string key, value;
};

/// One definition of each kind, and its bytes.
std::vector<vector> vectors() {
  auto topic = exchange_of("e", exchange_type::topic, {{"alternate-exchange", text("a")}}).edit();
  topic.auto_delete = true;
  topic.internal = true;
  binding to_queue{5, exchange_of("e", exchange_type::headers), {}, "k", {{"n", number(-2)}}};
  to_queue.to.queue = shared<queue_entry>::make(queue_of("/", "q", 7));
  binding to_exchange{258, exchange_of("e", exchange_type::direct), {}, "", {}};
  to_exchange.to.exchange = exchange_of("f", exchange_type::fanout);
  auto queue = queue_of("/", "q", 7, {{"x-max-length", number(10, integer_width::i64)}});
  queue.auto_delete = true;
  return {
      {encode_vhost("/"), "01 00000001 '/'", "01"},
      {encode("/", topic), "02 00000001 '/' 00000001 'e'",
       "01 03 03 00000019 12 'alternate-exchange' 'S' 00000001 'a'"},
      {encode(queue), "03 00000001 '/' 00000001 'q'",
       "01 0000000000000007 01 00000016 0c 'x-max-length' 'l' 000000000000000a"},
      {encode("/", to_queue),
       "04 00000001 '/' 00000001 'e' 02 00000001 'q' 00000001 'k' 00000007 01 'n' 'I' fffffffe",
       "01 0000000000000005"},
      {encode("/", to_exchange), "04 00000001 '/' 00000001 'e' 01 00000001 'f' 00000000 00000000",
       "01 0000000000000102"},
  };
}

std::string why(std::string key, std::string value) {
  const auto decoded = decode({std::move(key), std::move(value)});
  REQUIRE_FALSE(decoded);
  return decoded.reason().text;
}

TEST_CASE("definitions have the bytes that the README draws") {
  for (const auto& each : vectors()) {
    CHECK(spelled(each.is.key) == spelled(bytes(each.key)));
    CHECK(spelled(each.is.value) == spelled(bytes(each.value)));
  }
}

TEST_CASE("what a definition says is what was encoded") {
  const auto all = vectors();
  CHECK(std::get<stored_vhost>(*decode(all[0].is)).name == "/");

  const auto exchange = std::get<stored_exchange>(*decode(all[1].is));
  CHECK(exchange.vhost == "/");
  CHECK(exchange.name == "e");
  CHECK(exchange.type == exchange_type::topic);
  CHECK(exchange.auto_delete);
  CHECK(exchange.internal);
  CHECK(exchange.arguments == field_table{{"alternate-exchange", text("a")}});

  const auto queue = std::get<stored_queue>(*decode(all[2].is));
  CHECK(queue.vhost == "/");
  CHECK(queue.name == "q");
  CHECK(queue.id == queue_id{7});
  CHECK(queue.auto_delete);
  CHECK(queue.arguments.at(0).second.get<integer_value>()->width == integer_width::i64);

  const auto to_queue = std::get<stored_binding>(*decode(all[3].is));
  CHECK(to_queue.source == "e");
  CHECK(to_queue.kind == resource_kind::queue);
  CHECK(to_queue.destination == "q");
  CHECK(to_queue.routing_key == "k");
  CHECK(to_queue.arguments == field_table{{"n", number(-2)}});
  CHECK(to_queue.number == 5);
  CHECK(std::get<stored_binding>(*decode(all[4].is)).kind == resource_kind::exchange);
}

TEST_CASE("a definition that is cut or goes on anywhere is refused by name") {
  for (const auto& [is, key, value] : vectors()) {
    for (std::size_t size = 0; size < is.key.size(); ++size)
      CHECK_THAT(why(is.key.substr(0, size), is.value),
                 Catch::Matchers::StartsWith("definition with key"));
    CHECK_THAT(why(is.key + '\0', is.value),
               Catch::Matchers::EndsWith("its key goes on where it should end"));
    for (std::size_t size = 0; size < is.value.size(); ++size)
      CHECK(why(is.key, is.value.substr(0, size)) ==
            describe_key(is.key) + ": its value is cut short");
    CHECK(why(is.key, is.value + '\0') ==
          describe_key(is.key) + ": its value goes on where it should end");
  }
}

TEST_CASE("a definition is called what refusals call it") {
  std::vector<std::string> called;
  for (const auto& each : vectors()) called.push_back(describe_key(each.is.key));
  CHECK(called == names{"vhost '/'", "exchange 'e' in vhost '/'", "queue 'q' in vhost '/'",
                        "binding of exchange 'e' to queue 'q' with key 'k' in vhost '/'",
                        "binding of exchange 'e' to exchange 'f' with key '' in vhost '/'"});
  CHECK(describe_key(bytes("09 ff")) == "definition with key 09ff");
  CHECK(describe_key(std::string(100, 'a')) ==
        "definition with key 616161616161616161616161616161616161616161616161...");
}

TEST_CASE("what no version has written is refused, with the reason") {
  const std::string queue = "03 00000001 '/' 00000001 'q'", is_queue = "queue 'q' in vhost '/': ";
  const std::string exchange = "02 00000001 '/' 00000001 'e'";
  CHECK(why(bytes("05"), bytes("01")) ==
        "definition with key 05: its kind is 5, which this version does not know");
  CHECK(why(bytes("00 00000001 '/'"), bytes("01")) ==
        "definition with key 00000000012f: its kind is 0, which this version does not know");
  CHECK(why(bytes(queue), bytes("02")) ==
        is_queue + "its value is of version 2, and this program knows 1");
  CHECK(why(bytes(queue), bytes("01 0000000000000000 00 00000000")) ==
        is_queue + "its id is 0, which no queue is given");
  CHECK(why(bytes(queue), bytes("01 4000000000000000 00 00000000")) ==
        is_queue + "its id is 4611686018427387904, which no queue is given");
  CHECK(why(bytes(queue), bytes("01 0000000000000001 02 00000000")) ==
        is_queue + "its flags are 2, which this version does not know");
  CHECK(why(bytes(queue), bytes("01 0000000000000001 00 00000002 01 'a'")) ==
        is_queue + "its arguments: an entry of a table is cut short or of unknown type");
  CHECK(why(bytes("03 00000001 '/' 00000000"), bytes("01 0000000000000001 00 00000000")) ==
        "queue '' in vhost '/': it names no queue");
  CHECK(why(bytes("01 00000000"), bytes("01")) == "vhost '': it names no virtual host");
  for (const char* type : {"00", "05"})
    CHECK_THAT(why(bytes(exchange), bytes(std::string{"01"} + type + "00 00000000")),
               Catch::Matchers::StartsWith("exchange 'e' in vhost '/': its type is "));
  CHECK_THAT(
      why(bytes("04 00000001 '/' 00000001 'e' 03 00000001 'q' 00000000 00000000"), bytes("01")),
      Catch::Matchers::EndsWith("its key leads to a destination of kind 3"));
  CHECK_THAT(why(bytes("04 00000001 '/' 00000001 'e' 02 00000001 'q' 00000000 00000000"),
                 bytes("01 ffffffffffffffff")),
             Catch::Matchers::EndsWith("which no binding is given"));
  CHECK_THAT(why(bytes(queue), bytes("01 0000000000000001 00 ffffffff")),
             Catch::Matchers::EndsWith("its value is cut short"));
}

TEST_CASE("no two things have one key, whatever their names") {
  const auto key = [](std::string vhost, std::string source, std::string to, std::string routing,
                      field_table arguments = {}, bool to_queue = true) {
    binding made{1,
                 exchange_of(std::move(source), exchange_type::direct),
                 {},
                 std::move(routing),
                 std::move(arguments)};
    if (to_queue)
      made.to.queue = shared<queue_entry>::make(queue_of(vhost, std::move(to), 1));
    else
      made.to.exchange = exchange_of(std::move(to), exchange_type::direct);
    return stored_key(vhost, made);
  };
  std::vector<std::string> keys{
      stored_vhost_key("a"),
      stored_vhost_key("ab"),
      stored_key("a", *exchange_of("bc", exchange_type::direct)),
      stored_key("ab", *exchange_of("c", exchange_type::direct)),
      stored_key(queue_of("a", "bc", 1)),
      stored_key(queue_of("ab", "c", 1)),
      stored_key(queue_of("abc", "", 1)),
      stored_key(queue_of("a", std::string{"b\0c", 3}, 1)),
      key("a", "b", "c", "d"),
      key("ab", "", "c", "d"),
      key("a", "bc", "", "d"),
      key("a", "b", "cd", ""),
      key("a", "b", "c", "d", {}, false),
      key("a", "b", "c", "", {{"d", text("")}}),
      key("a", "b", "c", "", {{"d", {binary_value{""}}}}),
      key("a", "b", "c", "", {{"d", number(1)}}),
      key("a", "b", "c", "", {{"d", number(1)}, {"e", number(1)}}),
  };
  std::sort(keys.begin(), keys.end());
  CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
}

}  // namespace
}  // namespace baton
