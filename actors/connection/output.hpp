#pragma once

#include <cstdint>
#include <vector>

#include "storage/message.hpp"
#include "transport/amqp091/encode.hpp"
#include "transport/amqp091/wire.hpp"
#include "transport/net/stream.hpp"

namespace baton {

/// Empty output buffers that the connections of one loop share: one that has nothing to say holds
/// none, one that begins to speak does not have to grow its own. For that loop's thread alone.
class buffer_pool {
public:
  amqp091::output_buffer take() {
    if (spare_.empty()) return {};
    auto taken = std::move(spare_.back());
    spare_.pop_back();
    return taken;
  }
  void give_back(amqp091::output_buffer buffer) {
    buffer.clear();
    if (spare_.size() < max_spare && buffer.capacity() <= max_capacity)
      spare_.push_back(std::move(buffer));
  }

private:
  static constexpr std::size_t max_spare = 16;
  static constexpr std::size_t max_capacity = 256 << 10;
  std::vector<amqp091::output_buffer> spare_;
};

/// What a connection has to say and its socket has not taken yet: frames, appended to one buffer,
/// and between them stretches of large bodies, which are written from where they lie.
class connection_output {
public:
  explicit connection_output(buffer_pool& pool) : pool_{pool} {}
  /// Leaves nothing to be written behind; only on the loop's thread.
  connection_output(connection_output&& other) noexcept;
  connection_output& operator=(connection_output&&) = delete;
  /// On any thread: whoever holds a connection last may be anywhere. So it leaves the pool alone.
  ~connection_output();
  /// Forgets what has not been written, and gives the buffer back to the pool.
  void reset();

  /// Where the next frames go.
  amqp091::output_buffer& frames() {
    if (buffer_.capacity() == 0) buffer_ = pool_.take();
    return buffer_;
  }
  /// The same buffer, for whoever only remembers it: may be called before the connection runs on
  /// its loop.
  amqp091::output_buffer& buffer() noexcept { return buffer_; }
  /// Appends a deliver. A large body stays where it lies; `content` is held until it is written.
  void deliver(const amqp091::deliver_encoder& to, std::uint64_t delivery_tag, bool redelivered,
               const message& content) {
    deliver(to, delivery_tag, redelivered, content, content.properties());
  }
  /// The same with other properties than its own.
  void deliver(const amqp091::deliver_encoder& to, std::uint64_t delivery_tag, bool redelivered,
               const message& content, byte_view properties);
  /// Appends another method that carries a content: get-ok, return.
  template <class Method>
  void send_content(std::uint16_t channel, const Method& method, const message& content,
                    std::uint32_t frame_max) {
    send_content(channel, method, content, content.properties(), frame_max);
  }
  template <class Method>
  void send_content(std::uint16_t channel, const Method& method, const message& content,
                    byte_view properties, std::uint32_t frame_max) {
    const pieces_of body{content};
    amqp091::encode_content(frames(), splices_, channel, method, properties, body.view(),
                            frame_max);
    hold(content);
  }

  bool empty() const noexcept { return pending() == 0; }
  /// Bytes that wait for the socket.
  std::uint64_t pending() const noexcept { return appended() - written_; }
  std::uint64_t total_written() const noexcept { return written_before_ + written_; }

  /// Hands over as much as the socket takes. `ok`: all of it, nothing is held any more;
  /// `would_block`: ask again when it is writable; otherwise the connection is dead.
  io_status flush(stream& socket);

private:
  /// The pieces of a message's body, as encoders take them.
  class pieces_of {
  public:
    explicit pieces_of(const message& content);
    amqp091::body_pieces view() const noexcept { return {pieces_, size_}; }

  private:
    std::span<const byte_view> pieces_;
    std::uint64_t size_;
    byte_view small_;
  };
  struct kept {
    std::uint64_t until = 0;  // bytes of all that was appended
    message holder;
  };

  std::uint64_t appended() const noexcept { return buffer_.size() + spliced_bytes_; }
  void hold(const message& content);
  void gather(std::vector<byte_view>& pieces) const;
  void account();

  buffer_pool& pool_;
  amqp091::output_buffer buffer_;
  std::vector<amqp091::splice> splices_;
  std::vector<kept> kept_;
  std::uint64_t spliced_bytes_ = 0;
  std::size_t splices_counted_ = 0;
  std::uint64_t written_ = 0;  // of what is in buffer_ and splices_
  std::uint64_t written_before_ = 0;
  std::uint64_t accounted_ = 0;
};

}  // namespace baton
