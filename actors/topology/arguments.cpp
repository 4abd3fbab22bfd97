#include "actors/topology/arguments.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "actors/topology/age.hpp"
#include "config/nearest.hpp"
#include "transport/amqp091/field_table.hpp"

namespace baton {

namespace {

constexpr std::int64_t ten_years_ms = 315'360'000'000;
constexpr std::int64_t highest_priority = 255;

/// What is wrong with a value, as RabbitMQ writes the term; empty: nothing.
using complaint = std::string;

complaint unacceptable_type(const field_value& value) {
  return "{unacceptable_type," + std::string{amqp091::type_name(value)} + "}";
}

complaint numbered(std::string_view what, std::int64_t number) {
  return std::string{"{"}.append(what).append(",").append(std::to_string(number)).append("}");
}

complaint check_integer(const field_value& value) {
  if (value.get<integer_value>() != nullptr) return {};
  return "\"expected integer, got " + std::string{amqp091::type_name(value)} + "\"";
}

complaint check_not_negative(const field_value& value, const field_table&) {
  const auto* number = value.get<integer_value>();
  if (number == nullptr) return check_integer(value);
  return number->value < 0 ? numbered("value_negative", number->value) : complaint{};
}

complaint check_positive(const field_value& value, const field_table& all) {
  const auto* number = value.get<integer_value>();
  if (number != nullptr && number->value == 0) return numbered("value_zero", 0);
  return check_not_negative(value, all);
}

complaint check_duration(const field_value& value, const field_table& all) {
  const auto* number = value.get<integer_value>();
  if (number != nullptr && number->value > ten_years_ms)
    return numbered("value_too_large", number->value);
  return check_not_negative(value, all);
}

complaint check_expires(const field_value& value, const field_table& all) {
  const complaint zero = check_positive(value, all);
  return zero.empty() ? check_duration(value, all) : zero;
}

complaint check_priority(const field_value& value, const field_table& all) {
  const auto* number = value.get<integer_value>();
  if (number != nullptr && number->value > highest_priority)
    return numbered("max_value_exceeded", number->value);
  return check_not_negative(value, all);
}

complaint check_delivery_limit(const field_value& value, const field_table& all) {
  const auto* number = value.get<integer_value>();
  if (number != nullptr && number->value == -1) return {};  // no limit
  if (number != nullptr && number->value > std::numeric_limits<std::uint32_t>::max())
    return numbered("value_too_large", number->value);
  return check_not_negative(value, all);
}

complaint check_string(const field_value& value, const field_table&) {
  return value.get<std::string>() != nullptr ? complaint{} : unacceptable_type(value);
}

complaint check_boolean(const field_value& value, const field_table&) {
  return value.get<bool>() != nullptr ? complaint{} : unacceptable_type(value);
}

complaint check_dead_letter_key(const field_value& value, const field_table& all) {
  if (value.get<std::string>() == nullptr) return unacceptable_type(value);
  return find_field(all, "x-dead-letter-exchange") != nullptr ? complaint{}
                                                              : "routing_key_but_no_dlx_defined";
}

complaint check_one_of(const field_value& value, std::initializer_list<std::string_view> words,
                       std::string_view otherwise) {
  const auto* word = value.get<std::string>();
  if (word == nullptr) return unacceptable_type(value);
  const bool known = std::find(words.begin(), words.end(), *word) != words.end();
  return known ? complaint{} : complaint{otherwise};
}

complaint check_strategy(const field_value& value, const field_table&) {
  return check_one_of(value, {"at-most-once", "at-least-once"}, "invalid_dlx_strategy");
}

complaint check_overflow(const field_value& value, const field_table&) {
  return check_one_of(value, {"drop-head", "reject-publish", "reject-publish-dlx"},
                      "invalid_overflow");
}

complaint check_mode(const field_value& value, const field_table&) {
  return check_one_of(value, {"default", "lazy"}, "invalid_queue_mode");
}

complaint check_locator(const field_value& value, const field_table&) {
  return check_one_of(value, {"client-local", "balanced", "random", "least-leaders", "min-masters"},
                      "invalid_queue_locator_arg");
}

complaint check_version(const field_value& value, const field_table& all) {
  const auto* number = value.get<integer_value>();
  if (number == nullptr || number->value < 0) return check_not_negative(value, all);
  if (number->value == 1 || number->value == 2) return {};
  return "\"unsupported queue version '" + std::to_string(number->value) + "'\"";
}

complaint check_type(const field_value& value, const field_table&) {
  return check_one_of(value, {"classic", "quorum", "stream"},
                      "\"unsupported queue type '" + amqp091::value_text(value) + "'\"");
}

complaint check_age(const field_value& value, const field_table&) {
  const auto* age = value.get<std::string>();
  if (age == nullptr) return unacceptable_type(value);
  return parse_age(*age) ? complaint{} : "invalid_max_age";
}

struct known_argument {
  std::string_view name;
  complaint (*check)(const field_value& value, const field_table& all);
};

// In the order of comparison, and of complaints but for x-queue-type, which is checked first.
constexpr std::array queue_checks{
    known_argument{"x-expires", check_expires},
    known_argument{"x-message-ttl", check_duration},
    known_argument{"x-dead-letter-exchange", check_string},
    known_argument{"x-dead-letter-routing-key", check_dead_letter_key},
    known_argument{"x-dead-letter-strategy", check_strategy},
    known_argument{"x-max-length", check_not_negative},
    known_argument{"x-max-length-bytes", check_not_negative},
    known_argument{"x-max-in-memory-length", check_not_negative},
    known_argument{"x-max-in-memory-bytes", check_not_negative},
    known_argument{"x-max-priority", check_priority},
    known_argument{"x-overflow", check_overflow},
    known_argument{"x-queue-mode", check_mode},
    known_argument{"x-queue-version", check_version},
    known_argument{"x-single-active-consumer", check_boolean},
    known_argument{"x-queue-type", check_type},
    known_argument{"x-delivery-limit", check_delivery_limit},
    known_argument{"x-consumer-timeout", check_not_negative},
    known_argument{"x-quorum-initial-group-size", check_positive},
    known_argument{"x-quorum-target-group-size", check_positive},
    known_argument{"x-max-age", check_age},
    known_argument{"x-stream-max-segment-size-bytes", check_not_negative},
    known_argument{"x-stream-filter-size-bytes", check_not_negative},
    known_argument{"x-initial-cluster-size", check_positive},
    known_argument{"x-queue-leader-locator", check_locator},
    known_argument{"x-queue-master-locator", check_locator},
};

constexpr auto queue_names = [] {
  std::array<std::string_view, queue_checks.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = queue_checks[i].name;
  return names;
}();

constexpr std::array<std::string_view, 1> exchange_names{"alternate-exchange"};

std::optional<std::int64_t> integer(const field_table& all, std::string_view name) {
  const field_value* value = find_field(all, name);
  return value == nullptr ? std::nullopt : std::optional{value->get<integer_value>()->value};
}

std::optional<std::string> text(const field_table& all, std::string_view name) {
  const field_value* value = find_field(all, name);
  return value == nullptr ? std::nullopt : std::optional{*value->get<std::string>()};
}

std::optional<std::chrono::milliseconds> duration(const field_table& all, std::string_view name) {
  const auto value = integer(all, name);
  return value ? std::optional{std::chrono::milliseconds{*value}} : std::nullopt;
}

std::optional<std::uint64_t> amount(const field_table& all, std::string_view name) {
  const auto value = integer(all, name);
  return value ? std::optional{static_cast<std::uint64_t>(*value)} : std::nullopt;
}

/// All of them checked.
queue_arguments meaning_of(const field_table& all) {
  queue_arguments made;
  made.expires = duration(all, "x-expires");
  made.message_ttl = duration(all, "x-message-ttl");
  made.max_length = amount(all, "x-max-length");
  made.max_length_bytes = amount(all, "x-max-length-bytes");
  if (const auto value = integer(all, "x-max-priority"))
    made.max_priority = static_cast<std::uint8_t>(*value);
  if (const auto value = integer(all, "x-delivery-limit"); value && *value >= 0)
    made.delivery_limit = static_cast<std::uint32_t>(*value);
  if (const auto mode = text(all, "x-overflow"))
    made.overflow = *mode == "reject-publish"       ? overflow_policy::reject_publish
                    : *mode == "reject-publish-dlx" ? overflow_policy::reject_publish_dlx
                                                    : overflow_policy::drop_head;
  if (const auto age = text(all, "x-max-age")) made.max_age = parse_age(*age);
  made.max_segment_size = amount(all, "x-stream-max-segment-size-bytes");
  made.dead_letter_exchange = text(all, "x-dead-letter-exchange");
  made.dead_letter_routing_key = text(all, "x-dead-letter-routing-key");
  if (const field_value* single = find_field(all, "x-single-active-consumer"))
    made.single_active_consumer = *single->get<bool>();
  if (const auto type = text(all, "x-queue-type"))
    made.type = *type == "quorum"   ? queue_type::quorum
                : *type == "stream" ? queue_type::stream
                                    : queue_type::classic;
  return made;
}

}  // namespace

result<queue_arguments, refusal> parse_queue_arguments(const field_table& arguments,
                                                       std::string_view queue,
                                                       std::string_view vhost) {
  const auto check = [&](const known_argument& known) -> std::optional<refusal> {
    const field_value* value = find_field(arguments, known.name);
    const complaint wrong = value == nullptr ? complaint{} : known.check(*value, arguments);
    if (wrong.empty()) return std::nullopt;
    return refusal{refusal::precondition_failed, "invalid arg '" + std::string{known.name} +
                                                     "' for " + queue_text(queue, vhost) + ": " +
                                                     wrong};
  };
  if (auto wrong = check({"x-queue-type", check_type})) return failure{std::move(*wrong)};
  for (const known_argument& known : queue_checks)
    if (auto wrong = check(known)) return failure{std::move(*wrong)};
  return meaning_of(arguments);
}

result<std::optional<std::string>, refusal> exchange_argument(const field_table& arguments,
                                                              std::string_view name,
                                                              std::string_view owner) {
  const field_value* value = find_field(arguments, name);
  if (value == nullptr) return std::optional<std::string>{};
  if (const auto* exchange = value->get<std::string>()) return std::optional{*exchange};
  return failure{refusal{refusal::precondition_failed, std::string{"invalid type '"}
                                                           .append(amqp091::type_name(*value))
                                                           .append("' for arg '")
                                                           .append(name)
                                                           .append("' in ")
                                                           .append(owner)}};
}

std::span<const std::string_view> known_queue_arguments() { return queue_names; }

std::span<const std::string_view> known_exchange_arguments() { return exchange_names; }

std::vector<unknown_argument> unknown_arguments(const field_table& arguments,
                                                std::span<const std::string_view> known) {
  const std::vector<std::string_view> words{known.begin(), known.end()};
  std::vector<unknown_argument> unknown;
  for (const auto& [name, value] : arguments) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    unknown.push_back({name, nearest(name, words).value_or(std::string_view{})});
  }
  return unknown;
}

}  // namespace baton
