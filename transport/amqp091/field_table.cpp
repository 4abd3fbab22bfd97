#include "transport/amqp091/field_table.hpp"

#include <bit>
#include <type_traits>

namespace baton::amqp091 {

namespace {

/// Octets of a value of fixed size, or -1 for the types that carry a length.
constexpr int fixed_size(char type) noexcept {
  switch (type) {
    case 'V':
      return 0;
    case 't':
    case 'b':
    case 'B':
      return 1;
    case 's':
    case 'u':
      return 2;
    case 'I':
    case 'i':
    case 'f':
      return 4;
    case 'D':
      return 5;
    case 'l':
    case 'L':
    case 'd':
    case 'T':
      return 8;
    default:
      return -1;
  }
}
constexpr bool has_length(char type) noexcept {
  return type == 'S' || type == 'x' || type == 'A' || type == 'F';
}

bool is_valid_value(const encoded_value& value, int depth) noexcept {
  if (value.type == 'F') return is_valid_table(value.bytes, depth - 1);
  if (value.type != 'A') return true;
  if (depth <= 1) return false;
  reader from{value.bytes};
  while (from.left() > 0) {
    const auto element = read_value(from);
    if (!from.ok() || !is_valid_value(element, depth - 1)) return false;
  }
  return true;
}

failure<error> malformed(std::string text) { return failure{error{std::move(text)}}; }

result<field_array> decode_array(byte_view elements, int depth) {
  if (depth <= 0) return malformed("tables and arrays are nested too deep");
  field_array array;
  reader from{elements};
  while (from.left() > 0) {
    const auto element = read_value(from);
    if (!from.ok()) return malformed("a value of an array is cut short or of unknown type");
    auto decoded = decode_value(element, depth);
    if (!decoded) return failure{decoded.reason()};
    array.push_back(std::move(*decoded));
  }
  return array;
}

}  // namespace

std::optional<std::string_view> encoded_value::text() const noexcept {
  if (type != 'S') return std::nullopt;
  return as_text(bytes);
}

std::optional<std::int64_t> encoded_value::integer() const noexcept {
  const auto* from = bytes.data();
  switch (type) {
    case 'b':
      return static_cast<std::int8_t>(*from);
    case 'B':
      return *from;
    case 's':
      return static_cast<std::int16_t>(load<std::uint16_t>(from));
    case 'u':
      return load<std::uint16_t>(from);
    case 'I':
      return static_cast<std::int32_t>(load<std::uint32_t>(from));
    case 'i':
      return load<std::uint32_t>(from);
    case 'l':
    case 'L':
      return static_cast<std::int64_t>(load<std::uint64_t>(from));
    default:
      return std::nullopt;
  }
}

std::optional<bool> encoded_value::boolean() const noexcept {
  if (type != 't') return std::nullopt;
  return bytes[0] != 0;
}

encoded_value read_value(reader& from) noexcept {
  const auto type = static_cast<char>(from.u8());
  if (has_length(type)) return {type, from.long_string()};
  const int size = fixed_size(type);
  if (size < 0) {
    from.fail();
    return {};
  }
  return {type, from.bytes(static_cast<std::size_t>(size))};
}

bool is_valid_table(byte_view entries, int depth) noexcept {
  if (depth <= 0) return false;
  reader from{entries};
  while (from.left() > 0) {
    from.short_string();
    const auto value = read_value(from);
    if (!from.ok() || !is_valid_value(value, depth)) return false;
  }
  return true;
}

std::optional<encoded_value> find_in_table(byte_view entries, std::string_view name) noexcept {
  reader from{entries};
  while (from.left() > 0) {
    const auto key = from.short_string();
    const auto value = read_value(from);
    if (!from.ok()) break;
    if (key == name) return value;
  }
  return std::nullopt;
}

result<field_value> decode_value(const encoded_value& value, int depth) {
  const auto* from = value.bytes.data();
  const auto integer = [&](integer_width width) {
    return field_value{integer_value{*value.integer(), width}};
  };
  switch (value.type) {
    case 't':
      return field_value{*value.boolean()};
    case 'b':
      return integer(integer_width::i8);
    case 'B':
      return integer(integer_width::u8);
    case 's':
      return integer(integer_width::i16);
    case 'u':
      return integer(integer_width::u16);
    case 'I':
      return integer(integer_width::i32);
    case 'i':
      return integer(integer_width::u32);
    case 'l':
    case 'L':
      return integer(integer_width::i64);
    case 'f':
      return field_value{std::bit_cast<float>(load<std::uint32_t>(from))};
    case 'd':
      return field_value{std::bit_cast<double>(load<std::uint64_t>(from))};
    case 'D':
      return field_value{
          decimal_value{from[0], static_cast<std::int32_t>(load<std::uint32_t>(from + 1))}};
    case 'T':
      return field_value{timestamp_value{load<std::uint64_t>(from)}};
    case 'S':
      return field_value{std::string{as_text(value.bytes)}};
    case 'x':
      return field_value{binary_value{std::string{as_text(value.bytes)}}};
    case 'V':
      return field_value{void_value{}};
    case 'A': {
      auto array = decode_array(value.bytes, depth - 1);
      if (!array) return failure{array.reason()};
      return field_value{std::move(*array)};
    }
    case 'F': {
      auto table = decode_table(value.bytes, depth - 1);
      if (!table) return failure{table.reason()};
      return field_value{std::move(*table)};
    }
    default:
      return malformed("a value is of unknown type");
  }
}

result<field_table> decode_table(byte_view entries, int depth) {
  if (depth <= 0) return malformed("tables and arrays are nested too deep");
  field_table table;
  reader from{entries};
  while (from.left() > 0) {
    const auto name = from.short_string();
    const auto value = read_value(from);
    if (!from.ok()) return malformed("an entry of a table is cut short or of unknown type");
    auto decoded = decode_value(value, depth);
    if (!decoded) return failure{decoded.reason()};
    table.emplace_back(std::string{name}, std::move(*decoded));
  }
  return table;
}

namespace {

/// Appends a length that is known only when `body` has appended what it counts.
template <class Body>
void append_counted(output_buffer& out, Body&& body) {
  const auto at = out.size();
  out.append_number(std::uint32_t{0});
  body();
  out.patch_u32(at, static_cast<std::uint32_t>(out.size() - at - 4));
}

struct value_encoder {
  output_buffer& out;

  void type(char letter) { out.append_number(static_cast<std::uint8_t>(letter)); }

  void operator()(void_value) { type('V'); }
  void operator()(bool value) {
    type('t');
    out.append_number(static_cast<std::uint8_t>(value));
  }
  void operator()(integer_value number) {
    type(static_cast<char>(number.width));
    switch (number.width) {
      case integer_width::i8:
      case integer_width::u8:
        return out.append_number(static_cast<std::uint8_t>(number.value));
      case integer_width::i16:
      case integer_width::u16:
        return out.append_number(static_cast<std::uint16_t>(number.value));
      case integer_width::i32:
      case integer_width::u32:
        return out.append_number(static_cast<std::uint32_t>(number.value));
      case integer_width::i64:
        return out.append_number(static_cast<std::uint64_t>(number.value));
    }
  }
  void operator()(float value) {
    type('f');
    out.append_number(std::bit_cast<std::uint32_t>(value));
  }
  void operator()(double value) {
    type('d');
    out.append_number(std::bit_cast<std::uint64_t>(value));
  }
  void operator()(decimal_value number) {
    type('D');
    out.append_number(number.scale);
    out.append_number(static_cast<std::uint32_t>(number.value));
  }
  void operator()(timestamp_value time) {
    type('T');
    out.append_number(time.seconds);
  }
  void operator()(const std::string& text) {
    type('S');
    out.append_long_string(as_bytes(text));
  }
  void operator()(const binary_value& binary) {
    type('x');
    out.append_long_string(as_bytes(binary.bytes));
  }
  void operator()(const field_array& array) {
    type('A');
    append_counted(out, [&] {
      for (const auto& element : array) encode_value(out, element);
    });
  }
  void operator()(const field_table& table) {
    type('F');
    encode_table(out, table);
  }
};

}  // namespace

void encode_value(output_buffer& out, const field_value& value) {
  std::visit(value_encoder{out}, value.held);
}

void encode_table(output_buffer& out, const field_table& table) {
  append_counted(out, [&] {
    for (const auto& [name, value] : table) {
      out.append_short_string(name);
      encode_value(out, value);
    }
  });
}

}  // namespace baton::amqp091
