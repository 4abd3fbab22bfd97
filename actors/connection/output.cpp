#include "actors/connection/output.hpp"

#include <algorithm>

#include "storage/memory_account.hpp"

namespace baton {

connection_output::~connection_output() { reset(); }

void connection_output::deliver(const amqp091::deliver_prefix& to, std::uint64_t delivery_tag,
                                bool redelivered, const message& content, std::uint32_t frame_max) {
  amqp091::encode_deliver_head(frames(), to, delivery_tag, redelivered, content.exchange(),
                               content.routing_key(), content.properties(), content.body_size());
  body(to.channel(), content, frame_max);
}

void connection_output::get_ok(std::uint16_t channel, std::uint64_t delivery_tag, bool redelivered,
                               const message& content, std::uint64_t remaining,
                               std::uint32_t frame_max) {
  amqp091::encode_method(
      frames(), channel,
      amqp091::methods::basic_get_ok{
          delivery_tag, redelivered, content.exchange(), content.routing_key(),
          static_cast<std::uint32_t>(std::min<std::uint64_t>(remaining, UINT32_MAX))});
  amqp091::encode_content_header(frames(), channel, content.properties(), content.body_size());
  body(channel, content, frame_max);
}

void connection_output::returned(std::uint16_t channel, std::uint16_t code, std::string_view text,
                                 const message& content, std::uint32_t frame_max) {
  amqp091::encode_method(
      frames(), channel,
      amqp091::methods::basic_return{code, text, content.exchange(), content.routing_key()});
  amqp091::encode_content_header(frames(), channel, content.properties(), content.body_size());
  body(channel, content, frame_max);
}

void connection_output::body(std::uint16_t channel, const message& content,
                             std::uint32_t frame_max) {
  const auto* large = content.large();
  if (large == nullptr)
    return amqp091::encode_body(frames(), channel, content.small_body(), frame_max);

  const auto capacity = amqp091::body_frame_capacity(frame_max);
  std::uint64_t left = large->size();
  std::size_t frame_left = 0;
  auto begin_frame = [&] {
    frame_left = static_cast<std::size_t>(std::min<std::uint64_t>(capacity, left));
    amqp091::encode_body_frame_head(frames(), channel, static_cast<std::uint32_t>(frame_left));
  };
  begin_frame();
  large->for_each_piece([&](byte_view piece) {
    while (!piece.empty()) {
      if (frame_left == 0) begin_frame();
      const auto part = piece.first(std::min(piece.size(), frame_left));
      splice(part);
      piece = piece.subspan(part.size());
      frame_left -= part.size();
      left -= part.size();
      if (frame_left == 0) amqp091::encode_frame_end(frames());
    }
  });
  keep(content.fork());
}

void connection_output::splice(byte_view piece) {
  splices_.push_back({frames().size(), piece});
  spliced_bytes_ += piece.size();
}

void connection_output::keep(message holder) { kept_.push_back({appended(), std::move(holder)}); }

void connection_output::gather(std::vector<byte_view>& pieces) const {
  auto skip = written_;
  auto add = [&](byte_view piece) {
    if (skip >= piece.size()) {
      skip -= piece.size();
      return;
    }
    pieces.push_back(piece.subspan(static_cast<std::size_t>(skip)));
    skip = 0;
  };
  std::size_t at = 0;
  auto frames = buffer_.view();
  for (const auto& s : splices_) {
    add(frames.subspan(at, s.at - at));
    add(s.piece);
    at = s.at;
  }
  add(frames.subspan(at));
}

io_status connection_output::flush(stream& socket) {
  thread_local std::vector<byte_view> pieces;
  pieces.clear();
  gather(pieces);
  if (pieces.empty()) return io_status::ok;
  auto put = socket.write(pieces);
  if (put.status == io_status::failed || put.status == io_status::closed) return put.status;
  written_ += put.bytes;
  if (pending() == 0) {
    reset();
    return io_status::ok;
  }
  std::erase_if(kept_, [this](const kept& k) { return k.until <= written_; });
  account();
  return io_status::would_block;
}

void connection_output::account() {
  // Only what a slow client makes us hold is worth counting; the rest is gone within a turn.
  auto& counter = memory_account::of_this_thread();
  counter.created(buffer_.capacity());
  counter.freed(std::exchange(accounted_, buffer_.capacity()));
}

void connection_output::reset() {
  written_before_ += std::exchange(written_, 0);
  splices_.clear();
  spliced_bytes_ = 0;
  kept_.clear();
  memory_account::of_this_thread().freed(std::exchange(accounted_, 0));
  pool_.give_back(std::exchange(buffer_, {}));
}

}  // namespace baton
