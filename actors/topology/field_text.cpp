#include "actors/topology/field_text.hpp"

#include <array>
#include <charconv>

namespace baton {

namespace {

std::string_view integer_text(integer_width width) {
  switch (width) {
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

std::string real_text(double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text{digits.data(), end};
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string quoted(std::string_view text) {
  return std::string{"<<\""}.append(text).append("\">>");
}

/// Elements of an array or a table: {type,value} or {name,type,value}.
std::string element_text(const field_value& value) {
  return std::string{type_text(value)} + "," + term_text(value);
}

struct term_of {
  std::string operator()(void_value) const { return "undefined"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(integer_value value) const { return std::to_string(value.value); }
  std::string operator()(float value) const { return real_text(static_cast<double>(value)); }
  std::string operator()(double value) const { return real_text(value); }
  std::string operator()(decimal_value value) const {
    return "{" + std::to_string(value.scale) + "," + std::to_string(value.value) + "}";
  }
  std::string operator()(timestamp_value value) const { return std::to_string(value.seconds); }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const binary_value& value) const { return quoted(value.bytes); }
  std::string operator()(const field_array& values) const {
    std::string text = "[";
    for (const field_value& value : values)
      text.append(text.size() > 1 ? ",{" : "{").append(element_text(value)).append("}");
    return text + "]";
  }
  std::string operator()(const field_table& table) const {
    std::string text = "[";
    for (const auto& [name, value] : table)
      text.append(text.size() > 1 ? ",{" : "{")
          .append(quoted(name))
          .append(",")
          .append(element_text(value))
          .append("}");
    return text + "]";
  }
};

struct type_of {
  std::string_view operator()(void_value) const { return "void"; }
  std::string_view operator()(bool) const { return "bool"; }
  std::string_view operator()(integer_value value) const { return integer_text(value.width); }
  std::string_view operator()(float) const { return "float"; }
  std::string_view operator()(double) const { return "double"; }
  std::string_view operator()(decimal_value) const { return "decimal"; }
  std::string_view operator()(timestamp_value) const { return "timestamp"; }
  std::string_view operator()(const std::string&) const { return "longstr"; }
  std::string_view operator()(const binary_value&) const { return "binary"; }
  std::string_view operator()(const field_array&) const { return "array"; }
  std::string_view operator()(const field_table&) const { return "table"; }
};

}  // namespace

std::string_view type_text(const field_value& value) {
  return std::visit(type_of{}, value.held);
}

std::string term_text(const field_value& value) {
  return std::visit(term_of{}, value.held);
}

std::string plain_text(const field_value& value) {
  if (const auto* text = value.get<std::string>()) return *text;
  if (const auto* binary = value.get<binary_value>()) return binary->bytes;
  return term_text(value);
}

}  // namespace baton
