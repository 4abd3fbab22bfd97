// Frames that wait in the reserve, behind a held publish or for an answer, and their replay.
#include <algorithm>

#include "transport/amqp091/publish_view.hpp"
#include "transport/amqp091/server_connection.hpp"

namespace baton::amqp091 {

void server_connection::hold_publishes(bool hold) {
  holding_ = hold;
  const bool something_may_pass = !hold || questions_held_ > 0 || phase_ == phase::close_deferred;
  if (something_may_pass && !in_feed_ && !held_channels_.empty()) replay();
}

/// Methods whose answer a client may wait for. Not 0, which stands for frames of another type.
bool server_connection::is_question(std::uint32_t method) noexcept {
  return method != 0 && method != methods::id_of<methods::basic_publish> && !is_settlement(method);
}

/// Whether what is held of the channel goes on although publishes are held. A client that waits for
/// an answer may settle nothing meanwhile, and what it holds may be all that they wait for.
bool server_connection::may_pass(channel_number number, const channel_state& channel) {
  return (channel.questions_held > 0 && handler_.gives_back(number)) ||
         (phase_ == phase::close_deferred && handler_.gives_back(0));
}

void server_connection::mark_held(channel_number number) {
  if (std::find(held_channels_.begin(), held_channels_.end(), number) == held_channels_.end())
    held_channels_.push_back(number);
}

void server_connection::hold_frame(channel_number number, channel_state& channel,
                                   const frame& found, byte_view raw) {
  if (channel.reserve.empty()) mark_held(number);
  const auto method = found.type == frame_type::method ? method_id_of(found.payload) : 0;
  if (method == methods::id_of<methods::tx_select>) channel.holds_tx_select = true;
  if (method == methods::id_of<methods::channel_close>) channel.holds_close = true;
  if (is_question(method)) {
    ++channel.questions_held;
    ++questions_held_;
    replay_wanted_ = true;
  }
  if (channel.reserve_begin > channel.reserve.size() / 2)
    channel.reserve.drop_front(std::exchange(channel.reserve_begin, 0));
  channel.reserve.append(raw);
  reserve_used_ += raw.size();
}

void server_connection::drop_reserve(channel_state& channel) {
  reserve_used_ -= channel.reserve.size() - channel.reserve_begin;
  channel.reserve.release();
  channel.reserve_begin = 0;
  channel.holds_tx_select = false;
  questions_held_ -= std::exchange(channel.questions_held, 0);
}

void server_connection::hold_channel(channel_number number) {
  channel_state* const channel = find(number);
  if (channel != nullptr && channel->phase == channel_phase::open) channel->waiting = true;
}

void server_connection::release_channel(channel_number number) {
  channel_state* const channel = find(number);
  if (channel == nullptr || !std::exchange(channel->waiting, false) || held_channels_.empty())
    return;
  replay_wanted_ = true;
  if (!in_feed_) replay();
}

/// Handles what is held, the channels in turns, until nothing is left that may go on.
void server_connection::replay() {
  in_feed_ = true;
  for (bool progressed = true; progressed && phase_ <= phase::close_deferred;) {
    progressed = false;
    replay_wanted_ = false;
    for (const auto number : std::vector<channel_number>{held_channels_}) {
      if (!replay_channel(number)) continue;
      progressed = true;
      // It goes behind the others, if anything of it still waits.
      std::erase(held_channels_, number);
      const channel_state* const channel = find(number);
      if (channel != nullptr &&
          (!channel->reserve.empty() || channel->content == content_phase::awaiting_admission))
        held_channels_.push_back(number);
    }
  }
  in_feed_ = false;
  finish_deferred_close();
}

/// Whether anything of the channel could go on, or nothing of it is left.
bool server_connection::replay_channel(channel_number number) {
  channel_state* channel = find(number);
  if (channel == nullptr || channel->phase != channel_phase::open || !channel->is_held())
    return true;
  if (channel->waiting) return false;
  bool progressed = false;
  if (channel->content == content_phase::awaiting_admission) {
    if (holding_ && !may_pass(number, *channel)) return false;
    admit_again(number, *channel);
    channel = find(number);
    if (channel == nullptr || channel->content == content_phase::awaiting_admission) return false;
    progressed = true;
  }
  // The frames are taken out, because the handler may close the channel, which drops its reserve.
  output_buffer frames = std::move(channel->reserve);
  const std::size_t begin = std::exchange(channel->reserve_begin, 0);
  std::size_t at = begin;
  replay_frames(number, frames, at);
  channel = find(number);
  if (channel == nullptr || channel->phase != channel_phase::open ||
      phase_ > phase::close_deferred) {
    reserve_used_ -= frames.size() - at;
  } else if (at < frames.size()) {
    channel->reserve = std::move(frames);
    channel->reserve_begin = at;
  } else {
    channel->holds_tx_select = false;
  }
  return progressed || at != begin;
}

/// Handles frames from `at` on, up to the first that has to go on waiting or cannot matter any
/// more.
void server_connection::replay_frames(channel_number number, const output_buffer& frames,
                                      std::size_t& at) {
  while (at < frames.size() && phase_ <= phase::close_deferred) {
    channel_state* const channel = find(number);
    if (channel == nullptr || channel->phase != channel_phase::open || channel->waiting ||
        channel->content == content_phase::awaiting_admission)
      return;
    const byte_view rest = frames.view().subspan(at);
    const auto scanned = scan_frame(rest, frame_limit_);
    const auto method =
        scanned.found.type == frame_type::method ? method_id_of(scanned.found.payload) : 0;
    const bool publish = method == methods::id_of<methods::basic_publish>;
    if (publish && holding_ && !may_pass(number, *channel)) return;
    // A publish that is whole takes the short way, as it would have on arrival.
    if (publish && !holding_ && channel->content == content_phase::none) {
      const auto made = step_publish(rest);
      at += made.consumed;
      reserve_used_ -= made.consumed;
      if (made.consumed > 0) continue;
    }
    at += scanned.size;
    reserve_used_ -= scanned.size;
    if (is_question(method)) {
      --channel->questions_held;
      --questions_held_;
    }
    handle_channel_frame(number, *channel, scanned.found);
  }
}

/// Asks again for a content that was told to wait.
void server_connection::admit_again(channel_number number, channel_state& channel) {
  const output_buffer publish_payload = std::move(channel.publish_payload);
  const output_buffer header_payload = std::move(channel.header_payload);
  publish_view publish;
  BATON_CHECK(parse_publish(publish_payload.view().subspan(4), publish));
  publish.properties = header_payload.view().subspan(content_header_prefix);
  const auto body_size = load<std::uint64_t>(header_payload.view().data() + 4);
  begin_content(number, channel, publish, body_size, publish_payload.view(), header_payload.view());
}

}  // namespace baton::amqp091
