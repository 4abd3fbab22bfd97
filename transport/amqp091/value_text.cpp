// How RabbitMQ prints values and names their types in its error texts; clients' tests compare them.
#include <charconv>

#include "transport/amqp091/field_table.hpp"

namespace baton::amqp091 {

namespace {

template <class Number>
std::string number_text(Number number) {
  char text[64];
  const auto [end, problem] = std::to_chars(text, text + sizeof text, number);
  std::string printed{text, end};
  if constexpr (std::is_floating_point_v<Number>)
    if (printed.find_first_not_of("-0123456789") == std::string::npos) printed += ".0";
  return printed;
}

/// A value inside a table or an array, where Erlang's quoting shows: `{longstr,<<"text">>}`.
std::string nested_text(const field_value& value) {
  const auto bare = value_text(value);
  const bool quoted = value.get<std::string>() != nullptr || value.get<binary_value>() != nullptr;
  return std::string{type_name(value)} + "," + (quoted ? "<<\"" + bare + "\">>" : bare);
}

struct printer {
  std::string operator()(void_value) const { return "undefined"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(integer_value number) const { return number_text(number.value); }
  std::string operator()(float value) const { return number_text(value); }
  std::string operator()(double value) const { return number_text(value); }
  std::string operator()(decimal_value number) const {
    return "{" + number_text(static_cast<int>(number.scale)) + "," + number_text(number.value) +
           "}";
  }
  std::string operator()(timestamp_value time) const { return number_text(time.seconds); }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const binary_value& binary) const { return binary.bytes; }
  std::string operator()(const field_array& array) const {
    std::string text;
    for (const auto& element : array)
      text += (text.empty() ? "{" : ",{") + nested_text(element) + "}";
    return "[" + text + "]";
  }
  std::string operator()(const field_table& table) const {
    std::string text;
    for (const auto& [name, value] : table)
      text += (text.empty() ? "{<<\"" : ",{<<\"") + name + "\">>," + nested_text(value) + "}";
    return "[" + text + "]";
  }
};

}  // namespace

std::string_view type_name(const field_value& value) noexcept {
  struct namer {
    std::string_view operator()(void_value) const { return "void"; }
    std::string_view operator()(bool) const { return "bool"; }
    std::string_view operator()(integer_value number) const {
      switch (number.width) {
        case integer_width::i8:
          return "byte";
        case integer_width::u8:
          return "unsignedbyte";
        case integer_width::i16:
          return "short";
        case integer_width::u16:
          return "unsignedshort";
        case integer_width::i32:
          return "signedint";
        case integer_width::u32:
          return "unsignedint";
        case integer_width::i64:
          return "long";
      }
      return "long";
    }
    std::string_view operator()(float) const { return "float"; }
    std::string_view operator()(double) const { return "double"; }
    std::string_view operator()(decimal_value) const { return "decimal"; }
    std::string_view operator()(timestamp_value) const { return "timestamp"; }
    std::string_view operator()(const std::string&) const { return "longstr"; }
    std::string_view operator()(const binary_value&) const { return "binary"; }
    std::string_view operator()(const field_array&) const { return "array"; }
    std::string_view operator()(const field_table&) const { return "table"; }
  };
  return std::visit(namer{}, value.held);
}

std::string value_text(const field_value& value) { return std::visit(printer{}, value.held); }

std::string describe(const field_value& value) {
  return "the value '" + value_text(value) + "' of type '" + std::string{type_name(value)} + "'";
}

}  // namespace baton::amqp091
