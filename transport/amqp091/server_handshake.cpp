// From the protocol header to open-ok; AMQP 0-9-1 §2.2.4.
#include <algorithm>
#include <optional>

#include "transport/amqp091/frame_errors.hpp"
#include "transport/amqp091/server_connection.hpp"

namespace baton::amqp091 {

namespace {

struct credentials {
  std::string_view user;
  std::string_view password;
};

/// `\0user\0password` (RFC 4616). An authorization identity in front is refused, as RabbitMQ does.
std::optional<credentials> parse_plain(std::string_view response) {
  if (response.empty() || response[0] != '\0') return std::nullopt;
  response.remove_prefix(1);
  const auto separator = response.find('\0');
  if (separator == std::string_view::npos) return std::nullopt;
  const auto password = response.substr(separator + 1);
  if (password.find('\0') != std::string_view::npos) return std::nullopt;
  return credentials{response.substr(0, separator), password};
}

/// The entries of a table, without a length, with LOGIN and PASSWORD.
std::optional<credentials> parse_amqplain(byte_view response) {
  if (!is_valid_table(response)) return std::nullopt;
  const auto text_of = [&](std::string_view name) {
    const auto value = find_in_table(response, name);
    return value ? value->text() : std::nullopt;
  };
  const auto user = text_of("LOGIN");
  const auto password = text_of("PASSWORD");
  if (!user || !password) return std::nullopt;
  return credentials{*user, *password};
}

/// Whether `name` is one of the space-separated names.
bool is_listed(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const auto end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

}  // namespace

field_table server_properties(std::string_view product, std::string_view version,
                              std::string_view cluster_name) {
  field_table capabilities;
  for (const auto* name : {"publisher_confirms", "exchange_exchange_bindings", "basic.nack",
                           "consumer_cancel_notify", "connection.blocked", "consumer_priorities",
                           "authentication_failure_close", "per_consumer_qos", "direct_reply_to"})
    capabilities.emplace_back(name, field_value{true});
  const auto text = [](std::string_view value) { return field_value{std::string{value}}; };
  return {{"capabilities", field_value{std::move(capabilities)}},
          {"cluster_name", text(cluster_name)},
          {"copyright", text("The Baton authors")},
          {"information", text("A message router that speaks AMQP 0-9-1")},
          {"platform", text("C++20")},
          {"product", text(product)},
          {"version", text(version)}};
}

progress server_connection::step_protocol_header(byte_view input) {
  const auto is = [&](std::initializer_list<std::uint8_t> version) {
    return std::equal(version.begin(), version.end(), input.begin() + 4);
  };
  const auto known = std::min(input.size(), std::size_t{4});
  const bool amqp = std::equal(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(known),
                               std::begin(protocol_header));
  if (amqp && input.size() < sizeof protocol_header) return {0, sizeof protocol_header};
  if (!amqp || !(is({0, 0, 9, 1}) || is({1, 1, 0, 9}))) {
    out_.append(protocol_header);
    phase_ = phase::over;
    return {input.size(), 0};
  }
  output_buffer properties;
  encode_table(properties, settings_.properties);
  encode_method(out_, 0,
                methods::connection_start{
                    .server_properties = {properties.view().subspan(sizeof(std::uint32_t))},
                    .mechanisms = as_bytes(settings_.mechanisms),
                    .locales = as_bytes("en_US")});
  phase_ = phase::expecting_start_ok;
  return {sizeof protocol_header, 0};
}

progress server_connection::step_handshake(byte_view input) {
  const auto scanned = scan_frame(input, frame_limit_);
  if (scanned.status == scan_status::cut) return {0, scanned.size};
  if (scanned.status != scan_status::whole) {
    fail_stream(bad_frame_error(scanned, input, frame_limit_));
    return {input.size(), 0};
  }
  const frame& found = scanned.found;
  const bool heartbeat = found.type == frame_type::heartbeat && found.payload.empty();
  if (found.channel != 0 || (found.type != frame_type::method && !heartbeat))
    fail_stream(unexpected_frame_error(found));
  else if (!heartbeat)
    handle_handshake(found.payload);
  return {scanned.size, 0};
}

void server_connection::handle_handshake(byte_view payload) {
  const auto status = visit_method(payload, [this]<class Method>(const Method& method) {
    if constexpr (std::is_same_v<Method, methods::connection_start_ok>) {
      if (phase_ == phase::expecting_start_ok) return start_ok(method);
    } else if constexpr (std::is_same_v<Method, methods::connection_tune_ok>) {
      if (phase_ == phase::expecting_tune_ok) return tune_ok(method);
    } else if constexpr (std::is_same_v<Method, methods::connection_open>) {
      if (phase_ == phase::expecting_open) {
        phase_ = phase::opening;
        return handler_.open_requested(method.virtual_host);
      }
    } else if constexpr (std::is_same_v<Method, methods::connection_close>) {
      return client_closes(method.reply_code, method.reply_text);
    }
    unexpected_in_phase(Method::class_id, Method::method_id);
  });
  if (status != decode_status::ok) fail_connection(bad_method_error(status, payload));
}

void server_connection::unexpected_in_phase(std::uint16_t class_id, std::uint16_t method_id) {
  std::string text = "unexpected method in connection state ";
  switch (phase_) {
    case phase::expecting_start_ok:
      text += "starting";
      break;
    case phase::expecting_tune_ok:
      text += "tuning";
      break;
    case phase::expecting_open:
      text += "opening";
      break;
    default:
      text += "running";
      break;
  }
  fail_connection({reply_code::channel_error, std::move(text), class_id, method_id});
}

void server_connection::start_ok(const methods::connection_start_ok& method) {
  using methods::connection_start_ok;
  client_ = client_description{method.client_properties.entries};
  mechanism_ = method.mechanism;
  if (!is_listed(settings_.mechanisms, method.mechanism))
    return fail_connection(error_in<connection_start_ok>(
        reply_code::command_invalid, "unknown authentication mechanism '" + mechanism_ + "'"));
  const auto login = method.mechanism == "AMQPLAIN" ? parse_amqplain(method.response)
                                                    : parse_plain(as_text(method.response));
  if (!login)
    return fail_connection(
        error_in<connection_start_ok>(reply_code::syntax_error, "malformed SASL response"));
  phase_ = phase::authenticating;
  handler_.authenticate(method.mechanism, login->user, login->password);
}

void server_connection::authenticated() {
  if (phase_ != phase::authenticating) return;
  encode_method(out_, 0,
                methods::connection_tune{.channel_max = settings_.channel_max,
                                         .frame_max = settings_.frame_max,
                                         .heartbeat = settings_.heartbeat_seconds});
  phase_ = phase::expecting_tune_ok;
  go_on();
}

void server_connection::authentication_refused() {
  if (phase_ != phase::authenticating) return;
  phase_ = phase::lingering;
  if (client_.capabilities().authentication_failure_close) {
    phase_ = phase::expecting_tune_ok;  // from here on a close may be sent
    return close_connection({reply_code::access_refused,
                             "Login was refused using authentication mechanism " + mechanism_ +
                                 ". For details see the broker logfile.",
                             0, 0});
  }
  go_on();
}

void server_connection::refuse_tune(std::string_view field, std::uint32_t value, bool too_high,
                                    std::uint32_t bound) {
  fail_connection(error_in<methods::connection_tune>(
      reply_code::not_allowed,
      "negotiated " + std::string{field} + " = " + std::to_string(value) +
          (value == 0 ? " (no limit)" : "") + " is " +
          (too_high ? "higher than the maximum" : "lower than the minimum") + " allowed value (" +
          std::to_string(bound) + ")"));
}

/// What we offered as a limit must not be exceeded; 0 means no limit, on both sides.
void server_connection::tune_ok(const methods::connection_tune_ok& method) {
  const auto exceeds = [](std::uint32_t value, std::uint32_t limit) {
    return limit != 0 && (value == 0 || value > limit);
  };
  if (exceeds(method.channel_max, settings_.channel_max))
    return refuse_tune("channel_max", method.channel_max, true, settings_.channel_max);
  if (exceeds(method.frame_max, settings_.frame_max))
    return refuse_tune("frame_max", method.frame_max, true, settings_.frame_max);
  if (method.frame_max != 0 && method.frame_max < frame_min_size)
    return refuse_tune("frame_max", method.frame_max, false, frame_min_size);
  channel_max_ = method.channel_max;
  frame_max_ = method.frame_max;
  frame_limit_ = frame_max_ == 0 ? unlimited_frame_size : frame_max_;
  heartbeat_.set_interval(std::chrono::seconds{method.heartbeat});
  phase_ = phase::expecting_open;
}

void server_connection::open_accepted() {
  if (phase_ != phase::opening) return;
  encode_method(out_, 0, methods::connection_open_ok{});
  phase_ = phase::running;
  go_on();
}

/// Handles what came in while an answer was due, unless `feed` is on the stack and will.
void server_connection::go_on() {
  if (in_feed_) return;
  in_feed_ = true;
  input_.resume([this](byte_view bytes) { return step(bytes); });
  in_feed_ = false;
  if (!holding_ && !held_channels_.empty()) replay();
}

}  // namespace baton::amqp091
