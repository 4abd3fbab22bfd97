#include "actors/stream/stream_reading.hpp"

#include <algorithm>

#include "actors/topology/age.hpp"
#include "transport/amqp091/field_table.hpp"

namespace baton {

namespace {

constexpr std::string_view offset_name = "x-stream-offset";
constexpr std::string_view filter_name = "x-stream-filter";
constexpr std::string_view unfiltered_name = "x-stream-match-unfiltered";

failure<error> wrong(std::string_view name, const field_value& value, std::string_view expected) {
  return failure{error{"invalid arg '" + std::string{name} + "': " + amqp091::describe(value) +
                       ", expected " + std::string{expected}}};
}

result<stream_start> parse_start(const field_value& value, std::uint64_t now_ms) {
  using kind = stream_start::kind;
  if (const auto* number = value.get<integer_value>(); number != nullptr && number->value >= 0)
    return stream_start{kind::offset, static_cast<std::uint64_t>(number->value)};
  if (const auto* time = value.get<timestamp_value>();
      time != nullptr && time->seconds <= UINT64_MAX / 1000)
    return stream_start{kind::time, time->seconds * 1000};
  if (const auto* text = value.get<std::string>()) {
    if (*text == "first") return stream_start{kind::first};
    if (*text == "last") return stream_start{kind::last};
    if (*text == "next") return stream_start{kind::next};
    if (const auto age = parse_age(*text)) {
      const auto ms = static_cast<std::uint64_t>(age->count());
      return stream_start{kind::time, now_ms - std::min(now_ms, ms)};
    }
  }
  return wrong(offset_name, value,
               "first, last, next, an offset, a timestamp or an age such as \"1h\"");
}

result<std::vector<std::string>> parse_filter(const field_value& value) {
  if (const auto* one = value.get<std::string>()) return std::vector{*one};
  std::vector<std::string> all;
  const auto* several = value.get<field_array>();
  if (several != nullptr)
    for (const auto& each : *several)
      if (const auto* text = each.get<std::string>()) all.push_back(*text);
  if (all.empty() || all.size() != several->size())
    return wrong(filter_name, value, "a string or an array of strings");
  return all;
}

}  // namespace

bool stream_reading::wants(std::optional<std::string_view> filter_value) const noexcept {
  if (filter.empty()) return true;
  if (!filter_value) return match_unfiltered;
  return std::find(filter.begin(), filter.end(), *filter_value) != filter.end();
}

result<stream_reading> parse_stream_reading(byte_view arguments, std::uint64_t now_ms) {
  const auto given = [&](std::string_view name) -> std::optional<field_value> {
    const auto encoded = amqp091::find_in_table(arguments, name);
    if (!encoded) return std::nullopt;
    auto value = amqp091::decode_value(*encoded);
    return value ? std::optional{*std::move(value)} : std::nullopt;
  };
  stream_reading made;
  if (const auto value = given(offset_name)) {
    auto start = parse_start(*value, now_ms);
    if (!start) return failure{start.reason()};
    made.start = *start;
  }
  if (const auto value = given(filter_name)) {
    auto filter = parse_filter(*value);
    if (!filter) return failure{filter.reason()};
    made.filter = *std::move(filter);
  }
  if (const auto value = given(unfiltered_name)) {
    const auto* yes = value->get<bool>();
    if (yes == nullptr) return wrong(unfiltered_name, *value, "true or false");
    made.match_unfiltered = *yes;
  }
  return made;
}

}  // namespace baton
