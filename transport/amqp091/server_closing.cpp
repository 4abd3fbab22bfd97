// How AMQP channels and connections end, and who is told.
#include "transport/amqp091/server_connection.hpp"

namespace baton::amqp091 {

namespace {

template <class Close>
void encode_close(output_buffer& out, channel_number channel, const protocol_error& error) {
  encode_method(out, channel,
                Close{.reply_code = static_cast<std::uint16_t>(error.code),
                      .reply_text = reply_text(error),
                      .failed_class = error.class_id,
                      .failed_method = error.method_id});
}

}  // namespace

enum ending server_connection::ending() const noexcept {
  switch (phase_) {
    case phase::closing:
      return ending::awaiting_close_ok;
    case phase::lingering:
      return ending::lingering;
    case phase::over:
      return ending::over;
    default:
      return ending::none;
  }
}

server_connection::channel_state* server_connection::find(channel_number channel) noexcept {
  if (channel == last_number_ && last_channel_ != nullptr) return last_channel_;
  const auto found = channels_.find(channel);
  if (found == channels_.end()) return nullptr;
  last_number_ = channel;
  last_channel_ = &found->second;
  return last_channel_;
}

void server_connection::forget(channel_number channel) {
  if (channel_state* const state = find(channel)) drop_reserve(*state);
  last_channel_ = nullptr;
  channels_.erase(channel);
}

bool server_connection::can_send(channel_number channel) const noexcept {
  if (phase_ != phase::running) return false;
  if (channel == last_number_ && last_channel_ != nullptr)
    return last_channel_->phase == channel_phase::open;
  const auto found = channels_.find(channel);
  return found != channels_.end() && found->second.phase == channel_phase::open;
}

void server_connection::raise(channel_number channel, const protocol_error& error) {
  if (error.scope() == close_scope::channel)
    close_channel(channel, error);
  else
    close_connection(error);
}

void server_connection::close_channel(channel_number channel, const protocol_error& error) {
  channel_state* const state = find(channel);
  const bool alive = phase_ == phase::running || phase_ == phase::close_deferred;
  if (!alive || state == nullptr || state->phase != channel_phase::open) return;
  // A client that has closed the connection does not want to hear of its channels.
  if (phase_ == phase::running) {
    encode_close<methods::channel_close>(out_, channel, error);
    // The client's own close, which is dropped with all that is held, crosses ours.
    if (state->holds_close) encode_method(out_, channel, methods::channel_close_ok{});
  }
  state->phase = channel_phase::closing;
  state->content = content_phase::none;
  state->waiting = false;
  state->publish_payload.release();
  state->header_payload.release();
  drop_reserve(*state);
  std::erase(held_channels_, channel);
  finish_deferred_close();
}

void server_connection::close_connection(const protocol_error& error) {
  if (phase_ >= phase::close_requested) return;
  encode_close<methods::connection_close>(out_, 0, error);
  // Nothing of it will be handled, and while it is full the owner may read nothing: no close-ok.
  for (auto& [number, channel] : channels_) drop_reserve(channel);
  held_channels_.clear();
  if (phase_ == phase::close_deferred) {  // the client's own close crosses ours
    encode_method(out_, 0, methods::connection_close_ok{});
    phase_ = phase::over;
    return;
  }
  phase_ = phase::closing;
  go_on();  // what is kept for an answer that will not come
}

/// May be called in the midst of anything, so it looks at no channel.
void server_connection::fail_internally() {
  if (phase_ > phase::authenticating && phase_ < phase::closing)
    encode_close<methods::connection_close>(out_, 0, {reply_code::internal_error, {}, 0, 0});
  if (phase_ < phase::lingering) phase_ = phase::lingering;
}

void server_connection::fail_channel(channel_number channel, const protocol_error& error) {
  close_channel(channel, error);
  handler_.channel_failed(channel, error);
}

/// Before the login is done a client is told nothing: it may be guessing.
void server_connection::fail_connection(const protocol_error& error) {
  if (phase_ >= phase::close_requested) return;
  if (phase_ <= phase::authenticating)
    phase_ = phase::lingering;
  else
    close_connection(error);
  handler_.connection_failed(error);
}

/// The beginning of the next frame is not to be found: whatever comes is ignored.
void server_connection::fail_stream(const protocol_error& error) {
  if (phase_ >= phase::close_requested) return;
  if (phase_ > phase::authenticating) close_connection(error);
  phase_ = phase::lingering;
  handler_.connection_failed(error);
}

/// Publishes that were sent before the close are handled before it.
void server_connection::client_closes(std::uint16_t code, std::string_view text) {
  if (held_channels_.empty()) {
    phase_ = phase::close_requested;
    handler_.close_requested(code, text);
    return;
  }
  phase_ = phase::close_deferred;
  deferred_close_code_ = code;
  deferred_close_text_ = text;
  replay_wanted_ = true;
}

/// Asks the handler as soon as nothing waits any more that was sent before the client's close.
void server_connection::finish_deferred_close() {
  if (phase_ != phase::close_deferred || in_feed_ || !held_channels_.empty()) return;
  phase_ = phase::close_requested;
  handler_.close_requested(deferred_close_code_, deferred_close_text_);
}

void server_connection::finish_channel_close(channel_number channel) {
  channel_state* const state = find(channel);
  if (state == nullptr || state->phase != channel_phase::close_requested) return;
  if (phase_ == phase::running || phase_ == phase::close_deferred)
    encode_method(out_, channel, methods::channel_close_ok{});
  forget(channel);
}

void server_connection::finish_close() {
  if (phase_ != phase::close_requested) return;
  encode_method(out_, 0, methods::connection_close_ok{});
  phase_ = phase::over;
}

}  // namespace baton::amqp091
