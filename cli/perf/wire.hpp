#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "storage/byte_view.hpp"

// The little of AMQP 0-9-1 that a load generator needs. It is kept apart from transport/amqp091 on
// purpose: what measures a node shares no codec with it, and copies ready-made frames instead of
// encoding each message.
namespace baton::perf::wire {

inline constexpr std::size_t frame_overhead = 8;  // type 1, channel 2, size 4; end 1 (§4.2.3)
inline constexpr std::uint8_t frame_end = 0xCE;
inline constexpr std::string_view protocol_header{"AMQP\0\0\x09\x01", 8};

enum class frame_type : std::uint8_t { method = 1, header = 2, body = 3, heartbeat = 8 };

/// Class id in the upper, method id in the lower 16 bits.
enum class method : std::uint32_t {
  connection_start = 10 << 16 | 10,
  connection_start_ok = 10 << 16 | 11,
  connection_tune = 10 << 16 | 30,
  connection_tune_ok = 10 << 16 | 31,
  connection_open = 10 << 16 | 40,
  connection_open_ok = 10 << 16 | 41,
  connection_close = 10 << 16 | 50,
  connection_close_ok = 10 << 16 | 51,
  connection_blocked = 10 << 16 | 60,
  connection_unblocked = 10 << 16 | 61,
  channel_open = 20 << 16 | 10,
  channel_open_ok = 20 << 16 | 11,
  channel_close = 20 << 16 | 40,
  channel_close_ok = 20 << 16 | 41,
  exchange_declare = 40 << 16 | 10,
  exchange_declare_ok = 40 << 16 | 11,
  exchange_delete = 40 << 16 | 20,
  exchange_delete_ok = 40 << 16 | 21,
  queue_declare = 50 << 16 | 10,
  queue_declare_ok = 50 << 16 | 11,
  queue_bind = 50 << 16 | 20,
  queue_bind_ok = 50 << 16 | 21,
  queue_delete = 50 << 16 | 40,
  queue_delete_ok = 50 << 16 | 41,
  queue_unbind = 50 << 16 | 50,
  queue_unbind_ok = 50 << 16 | 51,
  basic_qos = 60 << 16 | 10,
  basic_qos_ok = 60 << 16 | 11,
  basic_consume = 60 << 16 | 20,
  basic_consume_ok = 60 << 16 | 21,
  basic_cancel = 60 << 16 | 30,
  basic_cancel_ok = 60 << 16 | 31,
  basic_publish = 60 << 16 | 40,
  basic_return = 60 << 16 | 50,
  basic_deliver = 60 << 16 | 60,
  basic_ack = 60 << 16 | 80,
  basic_nack = 60 << 16 | 120,
  confirm_select = 85 << 16 | 10,
  confirm_select_ok = 85 << 16 | 11,
};

inline std::uint16_t read_u16(const std::uint8_t* at) noexcept {
  std::uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap16(value);
}
inline std::uint32_t read_u32(const std::uint8_t* at) noexcept {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap32(value);
}
inline std::uint64_t read_u64(const std::uint8_t* at) noexcept {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap64(value);
}

/// One whole frame of the input; the payload is borrowed.
struct frame {
  frame_type type;
  std::uint16_t channel;
  byte_view payload;

  /// Of a method frame with at least 4 bytes of payload.
  method id() const noexcept { return static_cast<method>(read_u32(payload.data())); }
};

/// What became of the bytes given to `scan_frames`.
struct scan_result {
  std::size_t consumed = 0;  // whole frames; the rest waits for more bytes
  bool malformed = false;    // a frame that does not end where it says
};

/// Calls `on_frame(const frame&)` for each whole frame in `bytes`; stops early when it returns
/// false.
template <class OnFrame>
scan_result scan_frames(byte_view bytes, OnFrame&& on_frame) {
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  while (left >= frame_overhead) {
    const std::size_t size = read_u32(at + 3);
    if (left < size + frame_overhead) break;
    const frame next{static_cast<frame_type>(at[0]), read_u16(at + 1), {at + 7, size}};
    if (at[7 + size] != frame_end || (next.type == frame_type::method && size < 4))
      return {bytes.size() - left, true};
    at += size + frame_overhead;
    left -= size + frame_overhead;
    if (!on_frame(next)) break;
  }
  return {bytes.size() - left, false};
}

/// Appends one frame to `out`; the frame ends, and gets its size, when the writer does.
class frame_writer {
public:
  frame_writer(std::string& out, std::uint16_t channel, method id);
  frame_writer(std::string& out, std::uint16_t channel, frame_type type);
  frame_writer(const frame_writer&) = delete;
  frame_writer& operator=(const frame_writer&) = delete;
  ~frame_writer();

  frame_writer& u8(std::uint8_t value);
  frame_writer& u16(std::uint16_t value);
  frame_writer& u32(std::uint32_t value);
  frame_writer& u64(std::uint64_t value);
  frame_writer& short_text(std::string_view text);  // at most 255 bytes
  frame_writer& long_text(std::string_view text);
  frame_writer& raw(std::string_view bytes);

private:
  std::string& out_;
  std::size_t size_at_;
};

// Whole frames, appended to `out`. Methods that can be sent without waiting have `no_wait`.

void start_ok(std::string& out, std::string_view user, std::string_view password);
void tune_ok(std::string& out, std::uint16_t channel_max, std::uint32_t frame_max);
void connection_open(std::string& out, std::string_view virtual_host);
void connection_close(std::string& out);
/// A method that has no arguments but reserved empty short texts: channel.open, close-ok, ...
void plain(std::string& out, std::uint16_t channel, method id, int empty_texts = 0);
void channel_close(std::string& out, std::uint16_t channel);

void exchange_declare(std::string& out, std::uint16_t channel, std::string_view name,
                      std::string_view type, bool durable);
void exchange_delete(std::string& out, std::uint16_t channel, std::string_view name);

struct queue_flags {
  bool durable = false;
  bool exclusive = false;
  bool auto_delete = false;
};
/// `type`: x-queue-type; empty: says none.
void queue_declare(std::string& out, std::uint16_t channel, std::string_view name,
                   queue_flags flags, std::string_view type = {});
void queue_delete(std::string& out, std::uint16_t channel, std::string_view name);
void queue_bind(std::string& out, std::uint16_t channel, std::string_view queue,
                std::string_view exchange, std::string_view key, bool no_wait);
void queue_unbind(std::string& out, std::uint16_t channel, std::string_view queue,
                  std::string_view exchange, std::string_view key);

void confirm_select(std::string& out, std::uint16_t channel);
void qos(std::string& out, std::uint16_t channel, std::uint16_t prefetch);
void consume(std::string& out, std::uint16_t channel, std::string_view queue, std::string_view tag,
             bool no_ack);
void ack(std::string& out, std::uint16_t channel, std::uint64_t delivery_tag, bool multiple);

/// How one message is published.
struct publish_form {
  std::uint16_t channel = 1;
  std::string_view exchange;
  std::string_view key;
  bool mandatory = false;
  bool persistent = false;
};
/// A whole message: method, header and as many body frames as `frame_max` asks for. Returns where
/// in `out` the first byte of the body is (out.size() when the body is empty).
std::size_t publish(std::string& out, const publish_form& form, std::size_t body_size,
                    std::size_t frame_max);

/// The code and text of a connection.close or channel.close, as "404 NOT_FOUND - ...".
std::string close_text(byte_view payload);

}  // namespace baton::perf::wire
