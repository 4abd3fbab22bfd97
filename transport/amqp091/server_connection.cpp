#include "transport/amqp091/server_connection.hpp"

#include "transport/amqp091/frame_errors.hpp"

// Input, frames and methods of a running connection. The rules are in README.md.
namespace baton::amqp091 {

server_connection::server_connection(const server_settings& settings, server_handler& handler,
                                     output_buffer& out)
    : settings_{settings},
      handler_{handler},
      out_{out},
      channel_max_{settings.channel_max},
      frame_max_{settings.frame_max},
      frame_limit_{settings.handshake_frame_max} {}

bool server_connection::is_settlement(std::uint32_t method) noexcept {
  return method == methods::id_of<methods::basic_ack> ||
         method == methods::id_of<methods::basic_nack> ||
         method == methods::id_of<methods::basic_reject>;
}

void server_connection::feed(byte_view input) {
  BATON_CHECK(!in_feed_);
  heartbeat_.received(input.size());
  in_feed_ = true;
  input_.feed(input, [this](byte_view bytes) { return step(bytes); });
  in_feed_ = false;
  if ((!holding_ || replay_wanted_) && !held_channels_.empty()) replay();
}

progress server_connection::step(byte_view input) {
  if (streamed_left_ > 0) [[unlikely]]
    return step_streamed_body(input);
  if (phase_ == phase::running) [[likely]] {
    if (input.size() >= frame_overhead + 4 && input[0] == frame_type::method) {
      const auto method = load<std::uint32_t>(input.data() + frame_header_size);
      if (method == methods::id_of<methods::basic_publish>) return step_publish(input);
    }
    return step_frame(input);
  }
  switch (phase_) {
    case phase::expecting_header:
      return step_protocol_header(input);
    case phase::authenticating:
    case phase::opening:
      return progress::paused();
    case phase::expecting_start_ok:
    case phase::expecting_tune_ok:
    case phase::expecting_open:
      return step_handshake(input);
    case phase::closing:
      return step_close(input);
    default:
      return {input.size(), 0};  // all of it is ignored
  }
}

progress server_connection::step_frame(byte_view input) {
  const auto scanned = scan_frame(input, frame_limit_);
  switch (scanned.status) {
    case scan_status::whole:
      handle_frame(scanned.found, input.first(scanned.size));
      return {scanned.size, 0};
    case scan_status::cut:
      if (input[0] == frame_type::body && input.size() >= frame_header_size)
        return step_body(input);
      return {0, scanned.size};
    default:
      fail_stream(bad_frame_error(scanned, input, frame_limit_));
      return {input.size(), 0};
  }
}

/// We have sent connection.close: only its answer, or a crossing close, matters.
progress server_connection::step_close(byte_view input) {
  const auto scanned = scan_frame(input, frame_limit_);
  if (scanned.status == scan_status::cut) {
    if (input.size() < frame_header_size || scanned.found.channel == 0) return {0, scanned.size};
    streamed_channel_ = 0;
    streamed_left_ = scanned.size - input.size();
    return {input.size(), 0};
  }
  if (scanned.status != scan_status::whole) {
    phase_ = phase::lingering;
    return {input.size(), 0};
  }
  if (scanned.found.channel == 0 && scanned.found.type == frame_type::method) {
    const auto method = method_id_of(scanned.found.payload);
    if (method == methods::id_of<methods::connection_close>)
      encode_method(out_, 0, methods::connection_close_ok{});
    if (method == methods::id_of<methods::connection_close> ||
        method == methods::id_of<methods::connection_close_ok>)
      phase_ = phase::over;
  }
  return {scanned.size, 0};
}

void server_connection::handle_frame(const frame& found, byte_view raw) {
  if (found.channel == 0) return handle_connection_frame(found);
  if (found.type == frame_type::heartbeat) return fail_connection(unexpected_frame_error(found));
  channel_state* const channel = find(found.channel);
  if (channel == nullptr) return handle_unopened(found);
  if (channel->phase == channel_phase::closing) return handle_closing(found.channel, found);
  if (channel->phase == channel_phase::close_requested) return handle_unopened(found);
  const auto method = found.type == frame_type::method ? method_id_of(found.payload) : 0;
  if (channel->is_held()) {
    // All of them, whatever is waited for: settlements must not overtake each other.
    const bool overtakes =
        is_settlement(method) && !channel->transactional && !channel->holds_tx_select;
    if (!overtakes) return hold_frame(found.channel, *channel, found, raw);
    return handle_method(found.channel, *channel, found.payload);
  }
  if (holding_ && method == methods::id_of<methods::basic_publish> &&
      channel->content == content_phase::none)
    return hold_frame(found.channel, *channel, found, raw);
  handle_channel_frame(found.channel, *channel, found);
}

void server_connection::handle_connection_frame(const frame& found) {
  if (found.type == frame_type::heartbeat) {
    if (!found.payload.empty()) fail_stream(unknown_frame_error(found));
    return;
  }
  if (found.type != frame_type::method) return fail_connection(unexpected_frame_error(found));
  const auto status = visit_method(found.payload, [this]<class Method>(const Method& method) {
    if constexpr (std::is_same_v<Method, methods::connection_close>) {
      client_closes(method.reply_code, method.reply_text);
    } else if constexpr (std::is_same_v<Method, methods::connection_update_secret>) {
      handler_.secret_updated(method.new_secret, method.reason);
      send(0, methods::connection_update_secret_ok{});
    } else {
      unexpected_in_phase(Method::class_id, Method::method_id);
    }
  });
  if (status != decode_status::ok) fail_connection(bad_method_error(status, found.payload));
}

/// A frame on a channel that is not open (or that the client has just closed).
void server_connection::handle_unopened(const frame& found) {
  if (found.type != frame_type::method)
    return fail_connection({reply_code::unexpected_frame,
                            "expected method frame, got non method frame instead", 0, 0});
  const channel_number number = found.channel;
  const auto status = visit_method(found.payload, [&]<class Method>(const Method&) {
    if constexpr (std::is_same_v<Method, methods::channel_open>) {
      if (find(number) != nullptr)
        return fail_connection(
            error_in<Method>(reply_code::channel_error, "second 'channel.open' seen"));
      if (channel_max_ != 0 && channels_.size() >= channel_max_)
        return fail_connection(error_in<Method>(
            reply_code::not_allowed,
            "number of channels opened (" + std::to_string(channels_.size()) +
                ") has reached the negotiated channel_max (" + std::to_string(channel_max_) + ")"));
      channels_.try_emplace(number);
      encode_method(out_, number, methods::channel_open_ok{});
      handler_.channel_opened(number);
    } else {
      fail_connection(error_in<Method>(reply_code::channel_error, "expected 'channel.open'"));
    }
  });
  if (status != decode_status::ok) fail_connection(bad_method_error(status, found.payload));
}

/// We have sent channel.close: contents and methods that the client sent before it knew are
/// dropped.
void server_connection::handle_closing(channel_number number, const frame& found) {
  if (found.type != frame_type::method) return;
  switch (method_id_of(found.payload)) {
    case methods::id_of<methods::channel_close>:
      encode_method(out_, number, methods::channel_close_ok{});
      return;  // the channel is free when the client has answered our close too
    case methods::id_of<methods::channel_close_ok>:
      return forget(number);
    case methods::id_of<methods::channel_open>:
      return fail_connection(
          error_in<methods::channel_open>(reply_code::channel_error, "second 'channel.open' seen"));
    default:
      return;
  }
}

void server_connection::handle_channel_frame(channel_number number, channel_state& channel,
                                             const frame& found) {
  using namespace methods;
  const auto unexpected = [&](std::string text, bool in_publish) {
    fail_connection({reply_code::unexpected_frame, std::move(text),
                     in_publish ? basic_publish::class_id : std::uint16_t{0},
                     in_publish ? basic_publish::method_id : std::uint16_t{0}});
  };
  switch (channel.content) {
    case content_phase::none:
      if (found.type != frame_type::method)
        return unexpected("expected method frame, got non method frame instead", false);
      return handle_method(number, channel, found.payload);
    case content_phase::expecting_header:
      if (found.type != frame_type::header)
        return unexpected(
            "expected content header for class 60, got non content header frame instead", true);
      return handle_header(number, channel, found);
    case content_phase::expecting_body:
      if (found.type != frame_type::body)
        return unexpected("expected content body, got non content body frame instead", true);
      return handle_body(number, channel, found);
    case content_phase::awaiting_admission:
      BATON_CHECK(!"frames of a held channel are held");
  }
}

/// Methods on an open channel: those of the protocol itself here, all others to the handler.
struct server_connection::channel_methods {
  server_connection& machine;
  channel_number number;
  channel_state& channel;
  byte_view payload;

  template <class Method>
  void operator()(const Method& method) const {
    if constexpr (requires { machine.handler_.on(number, method); })
      machine.handler_.on(number, method);
    else
      fail<Method>(reply_code::command_invalid, "unimplemented method");
  }
  void operator()(const methods::basic_publish&) const {
    channel.publish_payload.append(payload);
    channel.content = content_phase::expecting_header;
  }
  void operator()(const methods::tx_select& method) const {
    channel.transactional = true;
    machine.handler_.on(number, method);
  }
  void operator()(const methods::channel_close&) const {
    channel.phase = channel_phase::close_requested;
    machine.handler_.channel_close_requested(number);
  }
  void operator()(const methods::channel_open&) const {
    fail<methods::channel_open>(reply_code::channel_error, "second 'channel.open' seen");
  }
  void operator()(const methods::channel_flow& method) const {
    if (!method.active)
      return fail<methods::channel_flow>(reply_code::not_implemented, "active=false");
    machine.send(number, methods::channel_flow_ok{.active = true});
  }
  void operator()(const methods::access_request&) const {
    machine.send(number, methods::access_request_ok{});
  }
  void operator()(const methods::basic_cancel_ok&) const {}  // the answer to our cancel

private:
  template <class Method>
  void fail(reply_code code, std::string text) const {
    machine.fail_connection(error_in<Method>(code, std::move(text)));
  }
};

void server_connection::handle_method(channel_number number, channel_state& channel,
                                      byte_view payload) {
  const auto status = visit_method(payload, channel_methods{*this, number, channel, payload});
  if (status != decode_status::ok) fail_connection(bad_method_error(status, payload));
}

}  // namespace baton::amqp091
