// Messages from the server: the quick way for deliveries that are whole in the input, and the
// general one, which collects.
#include "transport/amqp091/client_connection.hpp"
#include "transport/amqp091/frame_errors.hpp"
#include "transport/amqp091/peeked_frame.hpp"

namespace baton::amqp091 {

/// The input begins with basic.deliver. Where it is followed by its header and body, nothing is
/// kept and one call is made; whatever is not plain goes the general way, frame by frame.
progress client_connection::step_deliver(byte_view input) {
  const auto* const channel_at = input.data() + 1;
  const auto method = peek_frame(input, frame_type::method, channel_at);
  if (method.size < 4 || method.size > frame_limit_) return step_frame(input);
  if (method.needed > input.size()) return {0, method.needed};
  methods::basic_deliver deliver;
  if (!ends_well(input, method) ||
      decode_arguments(input.subspan(frame_header_size + 4, method.size - 4), deliver) !=
          decode_status::ok)
    return step_frame(input);
  const auto number = load<std::uint16_t>(channel_at);
  const channel_state* const channel = find(number);
  if (channel == nullptr || channel->closing || channel->content != content_phase::none)
    return step_frame(input);

  const byte_view after_method = input.subspan(method.needed);
  const auto header = peek_frame(after_method, frame_type::header, channel_at);
  if (header.other ||
      (header.size_known && (header.size < smallest_header || header.size > frame_limit_)))
    return step_frame(input);
  if (header.needed > after_method.size()) return {0, method.needed + header.needed};
  const auto* const header_payload = after_method.data() + frame_header_size;
  const auto class_and_weight = load<std::uint32_t>(header_payload);
  const auto body_size = load<std::uint64_t>(header_payload + 4);
  message_view message{deliver.exchange,
                       deliver.routing_key,
                       after_method.subspan(frame_header_size + content_header_prefix,
                                            header.size - content_header_prefix),
                       {}};
  if (!ends_well(after_method, header) ||
      class_and_weight != std::uint32_t{methods::basic_deliver::class_id} << 16 ||
      body_size > settings_.max_message_size || !are_valid_properties(message.properties))
    return step_frame(input);

  const auto before_body = method.needed + header.needed;
  std::size_t consumed = before_body;
  if (body_size > 0) {
    const byte_view after_header = input.subspan(before_body);
    const auto body = peek_frame(after_header, frame_type::body, channel_at);
    const bool whole = !body.other && body.size == body_size && body.size <= frame_limit_;
    if (body.needed > after_header.size() && body_size <= kept_content_size &&
        (whole || (!body.size_known && !body.other)))
      return {0, before_body + body.needed};
    if (!whole || body.needed > after_header.size() || !ends_well(after_header, body))
      return step_frame(input);
    message.body = after_header.subspan(frame_header_size, body.size);
    consumed += body.needed;
  }
  handler_.delivered(number, deliver.consumer_tag, deliver.delivery_tag, deliver.redelivered,
                     message);
  return {consumed, 0};
}

void client_connection::handle_header(std::uint16_t number, channel_state& channel,
                                      byte_view payload) {
  if (payload.size() < smallest_header ||
      load<std::uint32_t>(payload.data()) != std::uint32_t{methods::basic_deliver::class_id}
                                                 << 16 ||
      !are_valid_properties(payload.subspan(content_header_prefix)))
    return fail(unknown_frame_error({frame_type::header, number, payload}));
  const auto body_size = load<std::uint64_t>(payload.data() + 4);
  if (body_size > settings_.max_message_size)
    return fail({reply_code::resource_error,
                 "a message of " + std::to_string(body_size) + " bytes is larger than our limit, " +
                     std::to_string(settings_.max_message_size),
                 0, 0});
  channel.properties.clear();
  channel.properties.append(payload.subspan(content_header_prefix));
  channel.body_left = body_size;
  channel.content = content_phase::expecting_body;
  if (body_size == 0) finish_content(number, channel);
}

void client_connection::handle_body(std::uint16_t number, channel_state& channel,
                                    byte_view payload) {
  if (payload.size() > channel.body_left)
    return fail({reply_code::frame_error, "a body is longer than its header announced", 0, 0});
  channel.body.append(payload);
  channel.body_left -= payload.size();
  if (channel.body_left == 0) finish_content(number, channel);
}

void client_connection::finish_content(std::uint16_t number, channel_state& channel) {
  channel.content = content_phase::none;
  // Taken out: the handler may close the channel.
  const output_buffer method = std::move(channel.method);
  const output_buffer properties = std::move(channel.properties);
  const output_buffer body = std::move(channel.body);
  const message_view message{{}, {}, properties.view(), body.view()};
  visit_method(method.view(), [&]<class Method>(const Method& head) {
    if constexpr (requires { head.exchange, head.routing_key; }) {
      message_view whole = message;
      whole.exchange = head.exchange;
      whole.routing_key = head.routing_key;
      if constexpr (std::is_same_v<Method, methods::basic_deliver>)
        handler_.delivered(number, head.consumer_tag, head.delivery_tag, head.redelivered, whole);
      else if constexpr (std::is_same_v<Method, methods::basic_return>)
        handler_.returned(number, head.reply_code, head.reply_text, whole);
      else if constexpr (std::is_same_v<Method, methods::basic_get_ok>)
        handler_.got(number, head.delivery_tag, head.redelivered, head.message_count, whole);
    }
  });
}

}  // namespace baton::amqp091
