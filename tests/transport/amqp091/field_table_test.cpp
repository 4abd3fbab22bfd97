#include "transport/amqp091/field_table.hpp"

#include "tests/catch.hpp"
#include "tests/transport/amqp091/bytes.hpp"

using namespace baton;
using namespace baton::amqp091;
using namespace baton::amqp091::test;

namespace {

/// Entries with every type that RabbitMQ writes.
std::vector<std::uint8_t> every_type() {
  return hex(
      "01 't' 74 01   01 'b' 62 FF   01 'B' 42 FF   01 's' 73 FFFE   01 'u' 75 FFFE"
      "01 'I' 49 FFFFFFFD   01 'i' 69 FFFFFFFD   01 'l' 6C FFFFFFFFFFFFFFFC"
      "01 'f' 66 3FC00000   01 'd' 64 4004000000000000   01 'D' 44 02 0000007B"
      "01 'T' 54 00000000499602D2   01 'S' 53 00000002 'hi'   01 'x' 78 00000002 00FF"
      "01 'A' 41 0000000A 49 00000001 53 00000000   01 'F' 46 00000005 02 'in' 74 00"
      "01 'V' 56");
}

field_value integer(std::int64_t value, integer_width width = integer_width::i32) {
  return field_value{integer_value{value, width}};
}
field_value text(std::string value) { return field_value{std::move(value)}; }

/// Tables inside one another, `depth` of them.
std::vector<std::uint8_t> nested(int depth) {
  std::vector<std::uint8_t> entries;
  for (int i = 1; i < depth; ++i) {
    output_buffer outer;
    outer.append_short_string("k");
    outer.append_number(static_cast<std::uint8_t>('F'));
    outer.append_long_string(entries);
    entries = copy_of(outer.view());
  }
  return entries;
}

}  // namespace

TEST_CASE("every type of field value is decoded to its value", "[amqp091]") {
  const auto table = decode_table(every_type());
  REQUIRE(table);
  const auto value = [&](const char* name) { return *find_field(*table, name); };
  CHECK(value("t") == field_value{true});
  CHECK(value("b") == integer(-1));
  CHECK(value("B") == integer(255));
  CHECK(value("s") == integer(-2));
  CHECK(value("u") == integer(65534));
  CHECK(value("I") == integer(-3));
  CHECK(value("i") == integer(4294967293));
  CHECK(value("l") == integer(-4));
  CHECK(value("f") == field_value{1.5F});
  CHECK(value("d") == field_value{2.5});
  CHECK(value("D") == field_value{decimal_value{2, 123}});
  CHECK(value("T") == field_value{timestamp_value{1234567890}});
  CHECK(value("S") == text("hi"));
  CHECK(value("x") == field_value{binary_value{std::string{"\0\xFF", 2}}});
  CHECK(value("A") == field_value{field_array{integer(1), text("")}});
  CHECK(value("F") == field_value{field_table{{"in", field_value{false}}}});
  CHECK(value("V") == field_value{void_value{}});
}

TEST_CASE("a decoded table is encoded to the same bytes again", "[amqp091]") {
  const auto bytes = every_type();
  output_buffer out;
  encode_table(out, *decode_table(bytes));
  CHECK(load<std::uint32_t>(out.view().data()) == bytes.size());
  CHECK(copy_of(out.view().subspan(4)) == bytes);
}

TEST_CASE("L is a signed number of 64 bits like l", "[amqp091]") {
  const auto bytes = hex("01 'L' 4C FFFFFFFFFFFFFFFB");
  CHECK(decode_table(bytes)->front().second == integer(-5));
  CHECK(find_in_table(bytes, "L")->integer() == -5);
}

TEST_CASE("a table cut at any byte is refused", "[amqp091]") {
  const auto bytes = every_type();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const byte_view cut{bytes.data(), size};
    // Between entries a shorter table is a table; elsewhere it is not one.
    CHECK(is_valid_table(cut) == static_cast<bool>(decode_table(cut)));
    if (is_valid_table(cut)) {
      output_buffer out;
      encode_table(out, *decode_table(cut));
      CHECK(out.size() == size + 4);
    }
  }
}

TEST_CASE("a value of unknown type is refused", "[amqp091]") {
  for (const char* bytes :
       {"01 'k' 7A 00", "01 'k' 00", "01 'k' 41 00000001 7A", "01 'k' 46 00000003 01 'i' 7A"}) {
    CHECK_FALSE(is_valid_table(hex(bytes)));
    CHECK_FALSE(decode_table(hex(bytes)));
  }
}

TEST_CASE("tables nested deeper than the limit are refused", "[amqp091]") {
  for (const int depth : {1, 2, 7}) {
    const auto bytes = nested(depth);
    CHECK(is_valid_table(bytes, depth));
    CHECK(decode_table(bytes, depth));
    CHECK_FALSE(is_valid_table(bytes, depth - 1));
    CHECK_FALSE(decode_table(bytes, depth - 1));
  }
  CHECK(is_valid_table(nested(max_table_depth)));
  CHECK_FALSE(is_valid_table(nested(max_table_depth + 1)));
  CHECK_FALSE(is_valid_table(nested(5000)));
}

TEST_CASE("arrays count as much as tables in the nesting limit", "[amqp091]") {
  const auto bytes = hex("01 'k' 41 0000000F 41 0000000A 46 00000005 02 'in' 74 00");
  CHECK(is_valid_table(bytes, 4));
  CHECK_FALSE(is_valid_table(bytes, 3));
  CHECK(decode_table(bytes, 4));
  CHECK_FALSE(decode_table(bytes, 3));
}

TEST_CASE("one key is found without the others being decoded", "[amqp091]") {
  const auto bytes = every_type();
  CHECK(find_in_table(bytes, "S")->text() == "hi");
  CHECK(find_in_table(bytes, "t")->boolean() == true);
  CHECK(find_in_table(bytes, "i")->integer() == 4294967293);
  CHECK(find_in_table(bytes, "u")->integer() == 65534);
  CHECK(find_in_table(bytes, "b")->integer() == -1);
  CHECK_FALSE(find_in_table(bytes, "S")->integer());
  CHECK_FALSE(find_in_table(bytes, "i")->text());
  CHECK_FALSE(find_in_table(bytes, "missing"));
  const auto twice = hex("01 'k' 49 00000001 01 'k' 49 00000002");
  CHECK(find_in_table(twice, "k")->integer() == 1);
}

TEST_CASE("values are described as RabbitMQ prints them", "[amqp091]") {
  CHECK(describe(integer(1000)) == "the value '1000' of type 'signedint'");
  CHECK(describe(integer(1, integer_width::u8)) == "the value '1' of type 'unsignedbyte'");
  CHECK(describe(integer(1, integer_width::i64)) == "the value '1' of type 'long'");
  CHECK(describe(text("dlx")) == "the value 'dlx' of type 'longstr'");
  CHECK(describe(field_value{true}) == "the value 'true' of type 'bool'");
  CHECK(describe(field_value{2.0}) == "the value '2.0' of type 'double'");
  CHECK(value_text(field_value{field_table{{"k", text("v")}, {"n", integer(1)}}}) ==
        "[{<<\"k\">>,longstr,<<\"v\">>},{<<\"n\">>,signedint,1}]");
  CHECK(value_text(field_value{field_array{integer(1), text("v")}}) ==
        "[{signedint,1},{longstr,<<\"v\">>}]");
  CHECK(type_name(field_value{void_value{}}) == "void");
}

TEST_CASE("only well-formed UTF-8 passes for a name", "[amqp091]") {
  for (const char* good : {"", "plain", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80 and more"})
    CHECK(is_utf8(good));
  for (const char* bad : {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xE2\x82",
                          "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "a\xFF"})
    CHECK_FALSE(is_utf8(bad));
}
