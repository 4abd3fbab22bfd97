#include "actors/connection/output.hpp"

#include "storage/memory_account.hpp"

namespace baton {

connection_output::connection_output(connection_output&& other) noexcept
    : pool_{other.pool_},
      buffer_{std::exchange(other.buffer_, {})},
      splices_{std::exchange(other.splices_, {})},
      kept_{std::exchange(other.kept_, {})},
      spliced_bytes_{std::exchange(other.spliced_bytes_, 0)},
      splices_counted_{std::exchange(other.splices_counted_, 0)},
      written_{std::exchange(other.written_, 0)},
      written_before_{other.written_before_},
      accounted_{std::exchange(other.accounted_, 0)} {}

connection_output::~connection_output() { memory_account::of_this_thread().freed(accounted_); }

connection_output::pieces_of::pieces_of(const message& content)
    : size_{content.body_size()}, small_{content.small_body()} {
  if (content.large() == nullptr) {
    pieces_ = {&small_, small_.empty() ? std::size_t{0} : std::size_t{1}};
    return;
  }
  // Nobody encodes while another is encoding.
  thread_local std::vector<byte_view> pieces;
  pieces.clear();
  content.for_each_body_piece([&](byte_view piece) { pieces.push_back(piece); });
  pieces_ = pieces;
}

void connection_output::deliver(const amqp091::deliver_encoder& to, std::uint64_t delivery_tag,
                                bool redelivered, const message& content, byte_view properties) {
  const amqp091::delivery_view delivery{delivery_tag, redelivered, content.exchange(),
                                        content.routing_key(), properties};
  if (content.large() == nullptr) return to.encode(frames(), delivery, content.small_body());
  const pieces_of body{content};
  to.encode(frames(), splices_, delivery, body.view());
  hold(content);
}

void connection_output::hold(const message& content) {
  if (splices_counted_ == splices_.size()) return;
  for (; splices_counted_ < splices_.size(); ++splices_counted_)
    spliced_bytes_ += splices_[splices_counted_].bytes.size();
  kept_.push_back({appended(), content.fork()});
}

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
    add(s.bytes);
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
  splices_counted_ = 0;
  kept_.clear();
  memory_account::of_this_thread().freed(std::exchange(accounted_, 0));
  if (buffer_.capacity() > 0) pool_.give_back(std::exchange(buffer_, {}));
}

}  // namespace baton
