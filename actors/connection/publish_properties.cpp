#include "actors/connection/publish_properties.hpp"

#include <charconv>

#include "actors/topology/names.hpp"
#include "transport/amqp091/properties.hpp"

namespace baton {

namespace {

using amqp091::property;

constexpr std::uint64_t ten_years_ms = 315'360'000'000;  // RabbitMQ's limit for any TTL

refusal invalid(std::string text) { return {refusal::precondition_failed, std::move(text)}; }

/// A decimal number of milliseconds; a sign in front is taken, as RabbitMQ does.
result<std::uint64_t, refusal> read_expiration(std::string_view text) {
  auto refuse = [&](std::string_view why) {
    return failure{invalid("invalid expiration '" + std::string{text} + "': " + std::string{why})};
  };
  auto digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative) digits.remove_prefix(1);
  std::uint64_t value = 0;
  auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed == std::errc::result_out_of_range)
    return refuse("{value_too_large," + std::string{digits} + "}");
  if (failed != std::errc{} || end != digits.data() + digits.size()) {
    if (end != digits.data() && !digits.empty())
      return refuse("{leftover_string,\"" + std::string{end, digits.data() + digits.size()} +
                    "\"}");
    return refuse("no_integer");
  }
  if (negative && value > 0) return refuse("{value_negative,-" + std::string{digits} + "}");
  if (value > ten_years_ms) return refuse("{value_too_large," + std::string{digits} + "}");
  return value;
}

std::optional<refusal> read_keys(std::string_view name, const amqp091::encoded_value& value,
                                 std::vector<std::string_view>& into) {
  if (value.type != 'A') {
    auto decoded = amqp091::decode_value(value);
    auto type = decoded ? amqp091::type_name(*decoded) : "unknown";
    return invalid("invalid message: {unacceptable_type_in_header,\"" + std::string{name} + "\"," +
                   std::string{type} + "}");
  }
  amqp091::for_each_element(value.bytes, [&](const amqp091::encoded_value& element) {
    if (auto key = element.text()) into.push_back(*key);
  });
  return std::nullopt;
}

}  // namespace

publish_properties publish_properties::read(byte_view encoded) {
  publish_properties made;
  const auto p = amqp091::decode_checked_properties(encoded);
  const auto refuse = [&](refusal why) {
    if (!made.refused) made.refused = std::move(why);
  };
  if (p.has(property::expiration)) {
    if (auto expiration = read_expiration(p.expiration))
      made.expiration_ms = *expiration;
    else
      refuse(expiration.reason());
  }
  if (p.has(property::delivery_mode)) {
    if (p.delivery_mode != 1 && p.delivery_mode != 2)
      refuse(invalid("invalid message: {delivery_mode_unknown," + std::to_string(p.delivery_mode) +
                     "}"));
    made.persistent = p.delivery_mode == 2;
  }
  made.priority = p.priority;
  if (p.has(property::user_id)) made.user_id = p.user_id;
  made.reply_to = p.reply_to;
  made.has_headers = p.has(property::headers);
  made.headers = p.headers.entries;
  if (!made.has_headers) return made;
  for (std::string_view name : {"CC", "BCC"})
    if (auto keys = p.header(name)) {
      if (auto refused = read_keys(name, *keys, made.extra_keys)) refuse(*std::move(refused));
      made.has_bcc |= name == "BCC";
    }
  return made;
}

std::string publish_properties::rewritten(byte_view encoded,
                                          std::string_view direct_reply_to) const {
  amqp091::properties_editor editor{encoded};
  if (has_bcc) editor.remove_header("BCC");
  if (reply_to == direct_reply_queue && !direct_reply_to.empty())
    editor.set_reply_to(direct_reply_to);
  amqp091::output_buffer out;
  editor.finish(out);
  return std::string{as_text(out.view())};
}

}  // namespace baton
