#include "transport/amqp091/properties.hpp"

#include "tests/catch.hpp"
#include "tests/transport/amqp091/bytes.hpp"

using namespace baton;
using namespace baton::amqp091;
using namespace baton::amqp091::test;

namespace {

/// All fourteen, and the bit that means nothing.
std::vector<std::uint8_t> every() {
  return hex(
      "FFFE 04 'text' 04 'gzip' 00000013 01 'a' 49 00000001 01 'b' 53 00000001 'x' 01 't' 74 01"
      "02 09 02 'id' 05 'reply' 03 '100' 01 'm' 00000000499602D2 01 'y' 01 'u' 01 'p' 01 'c'");
}
std::vector<std::uint8_t> finished(const properties_editor& editor) {
  output_buffer out;
  editor.finish(out);
  return copy_of(out.view());
}

}  // namespace

TEST_CASE("all properties are decoded and encoded to the same bytes again", "[amqp091]") {
  const auto bytes = every();
  const auto decoded = decode_properties(bytes);
  REQUIRE(decoded);
  CHECK(decoded->content_type == "text");
  CHECK(decoded->content_encoding == "gzip");
  CHECK(decoded->header("a")->integer() == 1);
  CHECK(decoded->delivery_mode == 2);
  CHECK(decoded->priority == 9);
  CHECK(decoded->correlation_id == "id");
  CHECK(decoded->reply_to == "reply");
  CHECK(decoded->expiration == "100");
  CHECK(decoded->message_id == "m");
  CHECK(decoded->timestamp == 1234567890);
  CHECK(decoded->type == "y");
  CHECK(decoded->user_id == "u");
  CHECK(decoded->app_id == "p");
  CHECK(decoded->cluster_id == "c");
  CHECK(decode_checked_properties(bytes).cluster_id == "c");
  output_buffer out;
  encode_properties(out, *decoded);
  CHECK(copy_of(out.view()) == bytes);
}

TEST_CASE("each property alone is understood", "[amqp091]") {
  const auto bytes = every();
  for (int bit = 2; bit < 16; ++bit) {
    auto decoded = *decode_properties(bytes);
    decoded.flags = static_cast<std::uint16_t>(1u << bit);
    output_buffer out;
    encode_properties(out, decoded);
    CHECK(are_valid_properties(out.view()));
    const auto again = decode_properties(out.view());
    REQUIRE(again);
    CHECK(again->has(static_cast<property>(bit)));
    output_buffer twice;
    encode_properties(twice, *again);
    CHECK(copy_of(twice.view()) == copy_of(out.view()));
  }
}

TEST_CASE("properties cut short, too long, continued or with broken headers are refused",
          "[amqp091]") {
  const auto bytes = every();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(are_valid_properties({bytes.data(), size}));
    CHECK_FALSE(decode_properties({bytes.data(), size}));
  }
  for (const char* bad :
       {"0000 00", "0001", "8001 00 0000", "2000 00000001 00", "2000 00000003 01 'k' 7A", "1000"}) {
    CHECK_FALSE(are_valid_properties(hex(bad)));
    CHECK_FALSE(decode_properties(hex(bad)));
  }
  CHECK(are_valid_properties(hex("0000")));
  CHECK(are_valid_properties(hex("0002")));
  CHECK(are_valid_properties(hex("1000 02")));
}

TEST_CASE("editing one property leaves the bytes of all others", "[amqp091]") {
  const auto bytes = every();
  properties_editor editor{bytes};
  editor.remove_expiration();
  editor.set_reply_to("elsewhere");
  auto expected = *decode_properties(bytes);
  expected.remove(property::expiration);
  expected.reply_to = "elsewhere";
  output_buffer out;
  encode_properties(out, expected);
  CHECK(finished(editor) == copy_of(out.view()));
  CHECK(decode_properties(out.view())->expiration.empty());
}

TEST_CASE("an editor that changes nothing changes nothing", "[amqp091]") {
  const auto bytes = every();
  properties_editor editor{bytes};
  editor.remove_header("not there");
  CHECK(finished(editor) == bytes);
}

TEST_CASE("headers are replaced in place, added at the end, removed; the rest stays", "[amqp091]") {
  const auto bytes = hex("2000 00000013 01 'a' 49 00000001 01 'b' 53 00000001 'x' 01 't' 74 01");
  SECTION("replaced") {
    properties_editor editor{bytes};
    editor.set_header("b", field_value{true});
    CHECK(finished(editor) == hex("2000 0000000F 01 'a' 49 00000001 01 'b' 74 01 01 't' 74 01"));
  }
  SECTION("added") {
    properties_editor editor{bytes};
    editor.set_header("n", field_value{void_value{}});
    CHECK(finished(editor) ==
          hex("2000 00000016 01 'a' 49 00000001 01 'b' 53 00000001 'x' 01 't' 74 01 01 'n' 56"));
  }
  SECTION("removed") {
    properties_editor editor{bytes};
    editor.remove_header("a");
    editor.remove_header("t");
    CHECK(finished(editor) == hex("2000 00000008 01 'b' 53 00000001 'x'"));
  }
  SECTION("several edits see one another") {
    properties_editor editor{bytes};
    editor.remove_header("b");
    editor.add_headers({{"c", field_value{true}}, {"d", field_value{false}}});
    editor.set_header("c", field_value{void_value{}});
    CHECK(finished(editor) ==
          hex("2000 00000012 01 'a' 49 00000001 01 't' 74 01 01 'c' 56 01 'd' 74 00"));
  }
}

TEST_CASE("headers can be added to a message without properties", "[amqp091]") {
  properties_editor editor{no_properties};
  editor.set_header("k", field_value{true});
  CHECK(finished(editor) == hex("2000 00000004 01 'k' 74 01"));
}
