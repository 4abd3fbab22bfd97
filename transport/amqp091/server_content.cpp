// Publishes: the quick way for those that are whole in the input, and the general one.
#include <algorithm>

#include "transport/amqp091/frame_errors.hpp"
#include "transport/amqp091/peeked_frame.hpp"
#include "transport/amqp091/properties.hpp"
#include "transport/amqp091/publish_view.hpp"
#include "transport/amqp091/server_connection.hpp"

namespace baton::amqp091 {

namespace {

/// RabbitMQ's own bound: a header that announces more is taken for a broken one.
constexpr std::uint64_t largest_body = std::uint64_t{512} << 20;

}  // namespace

/// The input begins with basic.publish. Where it is followed by its header and body, nothing is
/// kept and one call is made; whatever is not plain (errors too) goes the general way, frame by
/// frame.
progress server_connection::step_publish(byte_view input) {
  const auto* const channel_at = input.data() + 1;
  const auto method = peek_frame(input, frame_type::method, channel_at);
  if (method.size < 4 || method.size > frame_limit_) return step_frame(input);
  if (method.needed > input.size()) return {0, method.needed};
  publish_view publish;
  if (!ends_well(input, method) ||
      !parse_publish(input.subspan(frame_header_size + 4, method.size - 4), publish))
    return step_frame(input);
  const auto number = load<std::uint16_t>(channel_at);
  channel_state* const channel = find(number);
  if (channel == nullptr || channel->phase != channel_phase::open ||
      channel->content != content_phase::none || holding_ || channel->is_held())
    return step_frame(input);

  const byte_view after_method = input.subspan(method.needed);
  const auto header = peek_frame(after_method, frame_type::header, channel_at);
  if (header.other ||
      (header.size_known && (header.size < smallest_header || header.size > frame_limit_)))
    return step_frame(input);
  if (header.needed > after_method.size()) return {0, method.needed + header.needed};
  const byte_view header_payload = after_method.subspan(frame_header_size, header.size);
  const auto class_and_weight = load<std::uint32_t>(header_payload.data());
  const auto body_size = load<std::uint64_t>(header_payload.data() + 4);
  publish.properties = header_payload.subspan(content_header_prefix);
  if (!ends_well(after_method, header) ||
      class_and_weight != std::uint32_t{methods::basic_publish::class_id} << 16 ||
      body_size > settings_.max_message_size || !are_valid_properties(publish.properties))
    return step_frame(input);

  const auto before_body = method.needed + header.needed;
  const byte_view after_header = input.subspan(before_body);
  if (body_size == 0) {
    handler_.publish(number, publish);
    return {before_body, 0};
  }
  const auto body = peek_frame(after_header, frame_type::body, channel_at);
  const bool whole = !body.other && body.size == body_size && body.size <= frame_limit_;
  if (whole && body.needed <= after_header.size()) {
    if (!ends_well(after_header, body)) return step_frame(input);
    publish.body = after_header.subspan(frame_header_size, body.size);
    handler_.publish(number, publish);
    return {before_body + body.needed, 0};
  }
  if (body_size <= kept_content_size && (whole || (!body.size_known && !body.other)))
    return {0, before_body + body.needed};
  begin_content(number, *channel, publish, body_size, input.subspan(frame_header_size, method.size),
                header_payload);
  return {before_body, 0};
}

/// Asks the handler to take a content whose body is still to come. When it shall wait, method and
/// header are kept, to ask again.
void server_connection::begin_content(channel_number number, channel_state& channel,
                                      const publish_view& publish, std::uint64_t body_size,
                                      byte_view publish_payload, byte_view header_payload) {
  if (is_admitted(number, channel, publish, body_size)) return;
  channel.publish_payload.append(publish_payload);
  channel.header_payload.append(header_payload);
  mark_held(number);
}

/// False when it shall wait; also true when the handler has closed what it belongs to.
bool server_connection::is_admitted(channel_number number, channel_state& channel,
                                    const publish_view& publish, std::uint64_t body_size) {
  channel.content = content_phase::expecting_body;
  channel.body_left = body_size;
  const auto answer =
      handler_.content_begin(number, publish, body_size, !may_pass(number, channel));
  if (answer == admission::take || channel.phase != channel_phase::open ||
      phase_ >= phase::close_requested)
    return true;
  channel.content = content_phase::awaiting_admission;
  holding_ = true;
  return false;
}

void server_connection::handle_header(channel_number number, channel_state& channel,
                                      const frame& found) {
  using methods::basic_publish;
  if (found.payload.size() < smallest_header) return fail_connection(unknown_frame_error(found));
  const auto class_id = load<std::uint16_t>(found.payload.data());
  const auto weight = load<std::uint16_t>(found.payload.data() + 2);
  const auto body_size = load<std::uint64_t>(found.payload.data() + 4);
  if (class_id != basic_publish::class_id || weight != 0)
    return fail_connection(error_in<basic_publish>(
        reply_code::unexpected_frame, "expected content header for class 60, got one for class " +
                                          std::to_string(class_id) + " instead"));
  publish_view publish;
  publish.properties = found.payload.subspan(content_header_prefix);
  if (!are_valid_properties(publish.properties))
    return fail_connection(error_in<basic_publish>(
        reply_code::frame_error, "cannot decode properties " + printed_bytes(publish.properties)));
  if (body_size > std::max(largest_body, settings_.max_message_size))
    return fail_connection(error_in<basic_publish>(
        reply_code::frame_error, "content body size " + std::to_string(body_size) +
                                     " exceeds maximum allowed size " +
                                     std::to_string(largest_body)));
  if (body_size > settings_.max_message_size)
    return fail_channel(number,
                        error_in<basic_publish>(reply_code::precondition_failed,
                                                "message size " + std::to_string(body_size) +
                                                    " is larger than configured max size " +
                                                    std::to_string(settings_.max_message_size)));
  const output_buffer publish_payload = std::move(channel.publish_payload);
  BATON_CHECK(parse_publish(publish_payload.view().subspan(4), publish));
  if (body_size == 0) {
    channel.content = content_phase::none;
    return handler_.publish(number, publish);
  }
  begin_content(number, channel, publish, body_size, publish_payload.view(), found.payload);
}

void server_connection::handle_body(channel_number number, channel_state& channel,
                                    const frame& found) {
  if (!accept_body(channel, found.payload.size())) return;
  if (!found.payload.empty()) take_piece(number, channel, found.payload);
  finish_body_frame(number);
}

/// Whether a body frame of that size fits into what the header announced.
bool server_connection::accept_body(channel_state& channel, std::uint64_t size) {
  if (size <= channel.body_left) return true;
  fail_connection(error_in<methods::basic_publish>(
      reply_code::frame_error, "content body is longer than its header announced by " +
                                   std::to_string(size - channel.body_left) + " bytes or more"));
  return false;
}

void server_connection::take_piece(channel_number number, channel_state& channel, byte_view piece) {
  channel.body_left -= piece.size();
  handler_.content_piece(number, piece);
}

/// The frame's end was seen. The handler may have closed what it belonged to.
void server_connection::finish_body_frame(channel_number number) {
  channel_state* const channel = find(number);
  if (channel == nullptr || channel->content != content_phase::expecting_body ||
      channel->body_left > 0 || phase_ >= phase::close_requested)
    return;
  channel->content = content_phase::none;
  handler_.content_end(number);
}

/// A body frame, cut by the end of the input: its beginning is passed on, or ignored, at once.
/// Frames that are to be held are waited for.
progress server_connection::step_body(byte_view input) {
  const auto number = load<std::uint16_t>(input.data() + 1);
  const auto size = load<std::uint32_t>(input.data() + 3);
  channel_state* const channel = find(number);
  const frame found{frame_type::body, number, input.subspan(frame_header_size)};
  if (channel != nullptr && channel->is_held()) return {0, frame_overhead + std::size_t{size}};
  streamed_left_ = frame_overhead + std::size_t{size} - input.size();
  streamed_channel_ = 0;
  if (channel == nullptr || channel->phase != channel_phase::open ||
      channel->content != content_phase::expecting_body) {
    handle_frame(found, {});  // an error, or ignored
  } else if (accept_body(*channel, size)) {
    streamed_channel_ = number;
    const auto there = found.payload.first(std::min<std::size_t>(found.payload.size(), size));
    if (!there.empty()) take_piece(number, *channel, there);
  }
  return {input.size(), 0};
}

progress server_connection::step_streamed_body(byte_view input) {
  const auto taken = std::min(input.size(), streamed_left_);
  const auto piece = input.first(std::min(taken, streamed_left_ - 1));
  const bool ends = taken == streamed_left_;
  streamed_left_ -= taken;
  channel_state* const channel = streamed_channel_ == 0 ? nullptr : find(streamed_channel_);
  if (channel == nullptr || channel->content != content_phase::expecting_body ||
      phase_ >= phase::close_requested)
    return {taken, 0};  // ignored
  if (!piece.empty()) take_piece(streamed_channel_, *channel, piece);
  if (!ends) return {taken, 0};
  if (input[taken - 1] != frame_end) {
    scanned_frame scanned{
        scan_status::bad_end, {frame_type::body, streamed_channel_, {}}, taken, 0};
    fail_stream(bad_frame_error(scanned, input, frame_limit_));
    return {input.size(), 0};
  }
  finish_body_frame(streamed_channel_);
  return {taken, 0};
}

}  // namespace baton::amqp091
