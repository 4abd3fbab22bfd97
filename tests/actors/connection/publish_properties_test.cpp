#include "actors/connection/publish_properties.hpp"

#include <utility>

#include "tests/catch.hpp"
#include "transport/amqp091/properties.hpp"

using namespace baton;

namespace {

/// Wire form: flags, then what they announce.
std::string encoded(std::uint16_t flags, std::string_view values) {
  std::string bytes{static_cast<char>(flags >> 8), static_cast<char>(flags & 0xff)};
  bytes += values;
  return bytes;
}

constexpr std::uint16_t headers_flag = 1 << 13;
constexpr std::uint16_t delivery_mode_flag = 1 << 12;
constexpr std::uint16_t reply_to_flag = 1 << 9;
constexpr std::uint16_t expiration_flag = 1 << 8;

std::string short_string(std::string_view text) {
  return std::string(1, static_cast<char>(text.size())) + std::string{text};
}

std::string long_string(std::string_view text) {
  return std::string{0, 0, 0, static_cast<char>(text.size())} + std::string{text};
}

std::string array_header(std::string_view name, std::string_view key) {
  return short_string(name) + "A" + long_string("S" + long_string(key));
}

std::string with_expiration(std::string_view text) {
  return encoded(expiration_flag, short_string(text));
}

std::string refusal_of(std::string_view bytes) {
  auto read = publish_properties::read(as_bytes(bytes));
  REQUIRE(read.refused);
  CHECK(read.refused->code == 406);
  return read.refused->text;
}

}  // namespace

TEST_CASE("delivery mode 2 is persistent, 1 and none are not, any other is refused") {
  auto mode = [](char value) { return encoded(delivery_mode_flag, std::string(1, value)); };
  CHECK(publish_properties::read(as_bytes(mode(2))).persistent);
  CHECK(!publish_properties::read(as_bytes(mode(1))).persistent);
  CHECK(!publish_properties::read(as_bytes(encoded(0, ""))).persistent);
  CHECK(refusal_of(mode(3)) == "invalid message: {delivery_mode_unknown,3}");
}

TEST_CASE("an expiration is a whole number of milliseconds up to ten years, or refused by name") {
  CHECK(publish_properties::read(as_bytes(with_expiration("60000"))).expiration_ms == 60000u);
  CHECK(publish_properties::read(as_bytes(with_expiration("+5"))).expiration_ms == 5u);
  CHECK(publish_properties::read(as_bytes(with_expiration("-0"))).expiration_ms == 0u);
  for (auto bad : {"", "soon", "1s", "-1", "315360000001", "99999999999999999999"})
    CHECK(refusal_of(with_expiration(bad)).starts_with("invalid expiration '" + std::string{bad}));
}

TEST_CASE("CC and BCC add routing keys, and BCC does not go on to consumers") {
  const auto bytes =
      encoded(headers_flag, long_string(array_header("CC", "copy") + array_header("BCC", "blind")));
  auto read = publish_properties::read(as_bytes(bytes));
  REQUIRE(!read.refused);
  CHECK(read.extra_keys == std::vector<std::string_view>{"copy", "blind"});
  CHECK(read.has_bcc);
  CHECK(read.rewritten(as_bytes(bytes), {}) ==
        encoded(headers_flag, long_string(array_header("CC", "copy"))));
  CHECK(refusal_of(encoded(headers_flag, long_string(short_string("CC") + "S" + long_string("x"))))
            .starts_with("invalid message: {unacceptable_type_in_header,\"CC\""));
}

TEST_CASE("direct replies get the name that they come under, and nothing else changes") {
  const auto bytes = encoded(reply_to_flag | delivery_mode_flag,
                             std::string(1, 1) + short_string("amq.rabbitmq.reply-to"));
  auto read = publish_properties::read(as_bytes(bytes));
  REQUIRE(!read.refused);
  CHECK(read.rewritten(as_bytes(bytes), "amq.rabbitmq.reply-to.x") ==
        encoded(reply_to_flag | delivery_mode_flag,
                std::string(1, 1) + short_string("amq.rabbitmq.reply-to.x")));
}

TEST_CASE("properties read in a row are each what they would be alone") {
  publish_properties_reader reader;
  const std::string several[] = {
      encoded(0, ""),
      with_expiration("100"),
      with_expiration("101"),
      with_expiration("no"),
      encoded(delivery_mode_flag, std::string(1, 2)),
      encoded(headers_flag, long_string(array_header("CC", "copy"))),
      encoded(headers_flag, long_string(array_header("CC", std::string(100, 'k')) +
                                        array_header("BCC", "blind"))),
  };
  for (const auto& first : several)
    for (const auto& second : several)
      for (const auto* now : {&first, &first, &second, &first}) {
        auto bytes = std::make_unique<std::string>(*now);  // gone before the next one is read
        auto alone = publish_properties::read(as_bytes(*bytes));
        const auto& in_row = reader.read(as_bytes(*bytes));
        REQUIRE(in_row.refused.has_value() == alone.refused.has_value());
        if (alone.refused) CHECK(in_row.refused->text == alone.refused->text);
        CHECK(in_row.persistent == alone.persistent);
        CHECK(in_row.expiration_ms == alone.expiration_ms);
        CHECK(in_row.has_bcc == alone.has_bcc);
        CHECK(in_row.extra_keys == alone.extra_keys);
      }
}
