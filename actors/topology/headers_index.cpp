#include "actors/topology/headers_index.hpp"

#include <cmath>
#include <optional>
#include <string_view>

#include "transport/amqp091/field_table.hpp"

namespace baton {

namespace {

/// An integer or a floating-point number, whichever a field is.
struct number {
  bool integral;
  std::int64_t integer;
  double real;
};

std::optional<number> as_number(const field_value& value) {
  if (const auto* integer = value.get<integer_value>()) return number{true, integer->value, 0};
  if (const auto* time = value.get<timestamp_value>())
    return number{true, static_cast<std::int64_t>(time->seconds), 0};
  if (const auto* real = value.get<double>()) return number{false, 0, *real};
  if (const auto* real = value.get<float>()) return number{false, 0, *real};
  return std::nullopt;
}

/// Exact, also where a double cannot hold the integer.
bool equal(std::int64_t integer, double real) {
  constexpr double limit = 9223372036854775808.0;  // 2^63
  return real >= -limit && real < limit && std::trunc(real) == real &&
         static_cast<std::int64_t>(real) == integer;
}

bool equal(const number& a, const number& b) {
  if (a.integral && b.integral) return a.integer == b.integer;
  if (a.integral) return equal(a.integer, b.real);
  if (b.integral) return equal(b.integer, a.real);
  return a.real == b.real;
}

const std::string* as_bytes(const field_value& value) {
  if (const auto* text = value.get<std::string>()) return text;
  if (const auto* binary = value.get<binary_value>()) return &binary->bytes;
  return nullptr;
}

}  // namespace

bool same_header_value(const field_value& wanted, const field_value& given) {
  if (const auto a = as_number(wanted)) {
    const auto b = as_number(given);
    return b && equal(*a, *b);
  }
  if (const auto* a = as_bytes(wanted)) {
    const auto* b = as_bytes(given);
    return b != nullptr && *a == *b;
  }
  return wanted == given;
}

result<headers_matcher, refusal> headers_matcher::compile(const field_table& arguments) {
  headers_matcher made;
  bool with_x = false;
  if (const field_value* match = find_field(arguments, "x-match")) {
    const auto* mode = match->get<std::string>();
    if (mode == nullptr)
      return failure{refusal{refusal::precondition_failed,
                             "Invalid x-match field type " +
                                 std::string{amqp091::type_name(*match)} + " (value " +
                                 amqp091::value_text(*match) + "); expected longstr"}};
    if (*mode != "all" && *mode != "any" && *mode != "all-with-x" && *mode != "any-with-x")
      return failure{refusal{refusal::precondition_failed,
                             "Invalid x-match field value <<\"" + *mode +
                                 "\">>; expected all, any, all-with-x, or any-with-x"}};
    made.any_ = mode->starts_with("any");
    with_x = mode->ends_with("-with-x");
  }
  for (const auto& [name, value] : arguments)
    if (name != "x-match" && (with_x || !name.starts_with("x-")))
      made.wanted_.emplace_back(name, value);
  return made;
}

bool headers_matcher::matches(const field_table& headers) const {
  for (const auto& [name, value] : wanted_) {
    const field_value* given = find_field(headers, name);
    const bool fits = given != nullptr &&
                      (value.get<void_value>() != nullptr || same_header_value(value, *given));
    if (fits == any_) return any_;
  }
  return !any_;
}

void headers_index::add(const binding& of) {
  auto matcher = headers_matcher::compile(of.arguments);
  rules_.set(of.id, shared<rule>::make(rule{std::move(matcher.value()), of.to}));
}

void headers_index::match(const field_table& headers, std::vector<const destination*>& out) const {
  rules_.for_each([&](std::uint64_t, const shared<rule>& each) {
    if (each->matcher.matches(headers)) out.push_back(&each->to);
  });
}

}  // namespace baton
