#include "transport/amqp091/client_connection.hpp"

#include <algorithm>

#include "transport/amqp091/frame_errors.hpp"

namespace baton::amqp091 {

namespace {

/// The smaller limit, where 0 is none.
template <class Number>
Number smaller_limit(Number one, Number other) noexcept {
  if (one == 0 || other == 0) return std::max(one, other);
  return std::min(one, other);
}

field_table described(const client_settings& settings) {
  field_table capabilities;
  for (const auto* name :
       {"publisher_confirms", "exchange_exchange_bindings", "basic.nack", "consumer_cancel_notify",
        "connection.blocked", "authentication_failure_close"})
    capabilities.emplace_back(name, field_value{true});
  field_table properties = settings.properties;
  if (!settings.connection_name.empty())
    properties.emplace_back("connection_name", field_value{settings.connection_name});
  properties.emplace_back("capabilities", field_value{std::move(capabilities)});
  return properties;
}

}  // namespace

client_connection::client_connection(client_settings settings, client_handler& handler,
                                     output_buffer& out)
    : settings_{std::move(settings)}, handler_{handler}, out_{out} {}

// ---- what the owner asks for

void client_connection::start() {
  BATON_CHECK(phase_ == phase::idle);
  out_.append(protocol_header);
  phase_ = phase::expecting_start;
}

void client_connection::open_channel(std::uint16_t channel) {
  if (!is_open() || channel == 0) return;
  const auto [at, added] = channels_.try_emplace(channel);
  BATON_CHECK(added);
  encode_method(out_, channel, methods::channel_open{});
}

void client_connection::close_channel(std::uint16_t channel) {
  if (!can_send(channel)) return;
  encode_method(out_, channel, methods::channel_close{.reply_code = 200, .reply_text = "closed"});
  channel_state& state = *find(channel);
  state.closing = true;
  state.content = content_phase::none;
}

void client_connection::close() {
  if (phase_ == phase::closing || phase_ == phase::over) return;
  if (!is_open()) return end(200, "closed");
  encode_method(out_, 0, methods::connection_close{.reply_code = 200, .reply_text = "closed"});
  phase_ = phase::closing;
}

bool client_connection::can_send(std::uint16_t channel) const noexcept {
  if (!is_open()) return false;
  if (channel == last_number_ && last_channel_ != nullptr) return !last_channel_->closing;
  const auto found = channels_.find(channel);
  return found != channels_.end() && !found->second.closing;
}

client_connection::channel_state* client_connection::find(std::uint16_t channel) noexcept {
  if (channel == last_number_ && last_channel_ != nullptr) return last_channel_;
  const auto found = channels_.find(channel);
  if (found == channels_.end()) return nullptr;
  last_number_ = channel;
  last_channel_ = &found->second;
  return last_channel_;
}

void client_connection::forget(std::uint16_t channel, std::uint16_t code, std::string_view text) {
  last_channel_ = nullptr;
  channels_.erase(channel);
  handler_.channel_closed(channel, code, text);
}

void client_connection::end(std::uint16_t code, std::string_view text) {
  phase_ = phase::over;
  handler_.closed(code, text);
}

void client_connection::fail(const protocol_error& error) {
  if (phase_ == phase::over) return;
  if (is_open())
    encode_method(out_, 0,
                  methods::connection_close{.reply_code = static_cast<std::uint16_t>(error.code),
                                            .reply_text = reply_text(error)});
  end(static_cast<std::uint16_t>(error.code), reply_text(error));
}

// ---- input

void client_connection::feed(byte_view input) {
  heartbeat_.received(input.size());
  input_.feed(input, [this](byte_view bytes) { return step(bytes); });
}

progress client_connection::step(byte_view input) {
  if (phase_ == phase::over || phase_ == phase::idle) return {input.size(), 0};
  if (phase_ == phase::running && input.size() >= frame_overhead + 4 &&
      input[0] == frame_type::method &&
      load<std::uint32_t>(input.data() + frame_header_size) ==
          methods::id_of<methods::basic_deliver>)
    return step_deliver(input);
  return step_frame(input);
}

progress client_connection::step_frame(byte_view input) {
  if (phase_ == phase::expecting_start && input[0] == protocol_header[0]) {
    end(static_cast<std::uint16_t>(reply_code::not_implemented),
        "the server speaks another version of the protocol");
    return {input.size(), 0};
  }
  const auto scanned = scan_frame(input, frame_limit_);
  if (scanned.status == scan_status::cut) return {0, scanned.size};
  if (scanned.status != scan_status::whole) {
    fail(bad_frame_error(scanned, input, frame_limit_));
    return {input.size(), 0};
  }
  handle_frame(scanned.found);
  return {scanned.size, 0};
}

void client_connection::handle_frame(const frame& found) {
  if (found.type == frame_type::heartbeat) return;
  if (found.channel == 0) {
    if (found.type != frame_type::method) return fail(unexpected_frame_error(found));
    return handle_connection_method(found.payload);
  }
  channel_state* const channel = find(found.channel);
  if (phase_ == phase::closing) return;
  if (phase_ != phase::running || channel == nullptr) return fail(unexpected_frame_error(found));
  if (!channel->closing) return handle_channel_frame(found.channel, *channel, found);
  if (found.type == frame_type::method) handle_closing(found.channel, *channel, found.payload);
}

void client_connection::handle_connection_method(byte_view payload) {
  const auto status = visit_method(payload, [this]<class Method>(const Method& method) {
    if constexpr (std::is_same_v<Method, methods::connection_start>) {
      if (phase_ == phase::expecting_start) return start_received(method);
    } else if constexpr (std::is_same_v<Method, methods::connection_tune>) {
      if (phase_ == phase::expecting_tune) return tune_received(method);
    } else if constexpr (std::is_same_v<Method, methods::connection_open_ok>) {
      if (phase_ == phase::expecting_open_ok) {
        phase_ = phase::running;
        return handler_.opened();
      }
    } else if constexpr (std::is_same_v<Method, methods::connection_close>) {
      encode_method(out_, 0, methods::connection_close_ok{});
      return end(method.reply_code, method.reply_text);
    } else if constexpr (std::is_same_v<Method, methods::connection_close_ok>) {
      if (phase_ == phase::closing) return end(200, "closed");
    } else if constexpr (std::is_same_v<Method, methods::connection_blocked>) {
      if (phase_ == phase::running) return handler_.blocked(method.reason);
    } else if constexpr (std::is_same_v<Method, methods::connection_unblocked>) {
      if (phase_ == phase::running) return handler_.unblocked();
    } else if constexpr (std::is_same_v<Method, methods::connection_update_secret_ok>) {
      if (phase_ == phase::running) return;
    }
    if (phase_ != phase::closing)
      fail(error_in<Method>(reply_code::command_invalid,
                            "unexpected " + std::string{Method::name} + " from the server"));
  });
  if (status != decode_status::ok) fail(bad_method_error(status, payload));
}

void client_connection::start_received(const methods::connection_start& start) {
  server_properties_ = as_text(start.server_properties.entries);
  output_buffer properties;
  encode_table(properties, described(settings_));
  const std::string response =
      std::string(1, '\0') + settings_.user + std::string(1, '\0') + settings_.password;
  encode_method(out_, 0,
                methods::connection_start_ok{
                    .client_properties = {properties.view().subspan(sizeof(std::uint32_t))},
                    .mechanism = "PLAIN",
                    .response = as_bytes(response),
                    .locale = "en_US"});
  phase_ = phase::expecting_tune;
}

void client_connection::tune_received(const methods::connection_tune& tune) {
  channel_max_ = smaller_limit(tune.channel_max, settings_.channel_max);
  frame_max_ = smaller_limit(tune.frame_max, settings_.frame_max);
  frame_limit_ = frame_max_ == 0 ? unlimited_frame_size : frame_max_;
  const auto heartbeat = settings_.heartbeat_seconds == 0
                             ? std::uint16_t{0}
                             : smaller_limit(tune.heartbeat, settings_.heartbeat_seconds);
  heartbeat_.set_interval(std::chrono::seconds{heartbeat});
  encode_method(out_, 0,
                methods::connection_tune_ok{
                    .channel_max = channel_max_, .frame_max = frame_max_, .heartbeat = heartbeat});
  encode_method(out_, 0, methods::connection_open{.virtual_host = settings_.virtual_host});
  phase_ = phase::expecting_open_ok;
}

// ---- AMQP channels

/// What the server sent before it knew of our close is dropped.
void client_connection::handle_closing(std::uint16_t number, channel_state& channel,
                                       byte_view payload) {
  const auto status = visit_method(payload, [&]<class Method>(const Method& method) {
    if constexpr (std::is_same_v<Method, methods::channel_close>) {
      encode_method(out_, number, methods::channel_close_ok{});
      channel.close_code = method.reply_code;
      channel.close_text = method.reply_text;
    } else if constexpr (std::is_same_v<Method, methods::channel_close_ok>) {
      const auto code = channel.close_code;
      const auto text = std::move(channel.close_text);
      forget(number, code, text);
    }
  });
  if (status != decode_status::ok) fail(bad_method_error(status, payload));
}

/// Methods on an open channel: those of the protocol itself here, all others to the handler.
struct client_connection::channel_methods {
  client_connection& machine;
  std::uint16_t number;
  channel_state& channel;
  byte_view payload;

  template <class Method>
  void operator()(const Method& method) const {
    if constexpr (requires { machine.handler_.on(number, method); })
      machine.handler_.on(number, method);
    else
      machine.fail(
          error_in<Method>(reply_code::command_invalid,
                           "unexpected " + std::string{Method::name} + " from the server"));
  }
  void operator()(const methods::channel_open_ok&) const {
    machine.handler_.channel_opened(number);
  }
  void operator()(const methods::channel_close& close) const {
    encode_method(machine.out_, number, methods::channel_close_ok{});
    machine.forget(number, close.reply_code, close.reply_text);
  }
  void operator()(const methods::channel_flow& flow) const {
    machine.send(number, methods::channel_flow_ok{.active = flow.active});
  }
  void operator()(const methods::basic_deliver&) const { expect_content(); }
  void operator()(const methods::basic_return&) const { expect_content(); }
  void operator()(const methods::basic_get_ok&) const { expect_content(); }

private:
  void expect_content() const {
    channel.method.clear();
    channel.method.append(payload);
    channel.content = content_phase::expecting_header;
  }
};

void client_connection::handle_channel_frame(std::uint16_t number, channel_state& channel,
                                             const frame& found) {
  switch (channel.content) {
    case content_phase::none:
      if (found.type == frame_type::method) return handle_method(number, channel, found.payload);
      break;
    case content_phase::expecting_header:
      if (found.type == frame_type::header) return handle_header(number, channel, found.payload);
      break;
    case content_phase::expecting_body:
      if (found.type == frame_type::body) return handle_body(number, channel, found.payload);
      break;
  }
  fail(unexpected_frame_error(found));
}

void client_connection::handle_method(std::uint16_t number, channel_state& channel,
                                      byte_view payload) {
  const auto status = visit_method(payload, channel_methods{*this, number, channel, payload});
  if (status != decode_status::ok) fail(bad_method_error(status, payload));
}

}  // namespace baton::amqp091
