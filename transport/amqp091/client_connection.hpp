#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "config/field_value.hpp"
#include "transport/amqp091/client_handler.hpp"
#include "transport/amqp091/encode.hpp"
#include "transport/amqp091/heartbeat.hpp"
#include "transport/amqp091/input_cutter.hpp"
#include "transport/amqp091/reply_code.hpp"

namespace baton::amqp091 {

struct client_settings {
  std::string user = "guest";
  std::string password = "guest";
  std::string virtual_host = "/";
  /// Shown by the server's tools; the capabilities are added by the machine.
  field_table properties = {};
  std::string connection_name = {};
  /// Our own limits; the smaller of the server's and ours counts. 0: no limit of ours.
  std::uint16_t channel_max = 2047;
  std::uint32_t frame_max = 131072;
  /// Wanted; 0: none. A server that offers 0 leaves the choice to us.
  std::uint16_t heartbeat_seconds = 60;
  /// A message that is larger ends the connection.
  std::uint64_t max_message_size = std::uint64_t{512} << 20;
};

/// The client's end of one AMQP 0-9-1 connection, without I/O: bytes are fed in and become calls of
/// the handler; what is to be sent is appended to `out`, which the owner writes.
///
/// Login is by PLAIN. Messages are handed over whole: straight from the input where they are whole
/// in it, collected otherwise.
class client_connection {
public:
  client_connection(client_settings settings, client_handler& handler, output_buffer& out);
  client_connection(const client_connection&) = delete;
  client_connection& operator=(const client_connection&) = delete;

  /// Appends the protocol header; the handshake goes on by itself up to `opened`.
  void start();
  /// Takes all of the input; what is cut at its end is kept until the rest has come.
  void feed(byte_view input);

  /// The handler is told with `channel_opened`; sending on it may begin at once.
  void open_channel(std::uint16_t channel);
  void close_channel(std::uint16_t channel);
  /// The handler is told with `closed`.
  void close();

  /// Appends one method; does nothing when the channel is not open.
  template <class Method>
  void send(std::uint16_t channel, const Method& method) {
    if (can_send(channel)) encode_method(out_, channel, method);
  }
  void publish(std::uint16_t channel, const methods::basic_publish& publish, byte_view properties,
               byte_view body) {
    if (can_send(channel)) encode_publish(out_, channel, publish, properties, body, frame_max_);
  }
  bool can_send(std::uint16_t channel) const noexcept;

  bool is_open() const noexcept { return phase_ == phase::running; }
  /// Nothing more will be sent or handled: `closed` was called.
  bool is_over() const noexcept { return phase_ == phase::over; }
  /// Counts what is fed; `sent` is to be called by whoever writes. When its tick says so, send
  /// `encode_heartbeat` or give the connection up.
  heartbeat_monitor& heartbeat() noexcept { return heartbeat_; }
  /// As negotiated; 0: no limit.
  std::uint32_t frame_max() const noexcept { return frame_max_; }
  std::uint16_t channel_max() const noexcept { return channel_max_; }
  /// The server's properties, encoded entries of a table; empty before start.
  byte_view server_properties() const noexcept { return as_bytes(server_properties_); }

private:
  enum class phase : std::uint8_t {
    idle,
    expecting_start,
    expecting_tune,
    expecting_open_ok,
    running,
    closing,  // we have closed; all but close and close-ok is ignored
    over,
  };
  enum class content_phase : std::uint8_t { none, expecting_header, expecting_body };
  struct channel_state {
    bool closing = false;  // we have closed; all but close and close-ok is ignored
    content_phase content = content_phase::none;
    std::uint64_t body_left = 0;
    output_buffer method;  // the payload of the method whose content is collected
    output_buffer properties;
    output_buffer body;
    std::uint16_t close_code = 200;  // the server's, when its close crossed ours
    std::string close_text = "closed";
  };
  struct channel_methods;

  progress step(byte_view input);
  progress step_deliver(byte_view input);
  progress step_frame(byte_view input);
  void handle_frame(const frame& found);
  void handle_connection_method(byte_view payload);
  void handle_closing(std::uint16_t number, channel_state& channel, byte_view payload);
  void handle_channel_frame(std::uint16_t number, channel_state& channel, const frame& found);
  void handle_method(std::uint16_t number, channel_state& channel, byte_view payload);
  void handle_header(std::uint16_t number, channel_state& channel, byte_view payload);
  void handle_body(std::uint16_t number, channel_state& channel, byte_view payload);
  void finish_content(std::uint16_t number, channel_state& channel);
  channel_state* find(std::uint16_t channel) noexcept;
  void forget(std::uint16_t channel, std::uint16_t code, std::string_view text);
  /// The server broke the protocol.
  void fail(const protocol_error& error);
  void end(std::uint16_t code, std::string_view text);

  void start_received(const methods::connection_start& start);
  void tune_received(const methods::connection_tune& tune);

  client_settings settings_;
  client_handler& handler_;
  output_buffer& out_;
  phase phase_ = phase::idle;
  std::uint16_t channel_max_ = 0;
  std::uint32_t frame_max_ = 0;
  std::uint32_t frame_limit_ = unlimited_frame_size;

  std::uint16_t last_number_ = 0;  // the channel found last
  channel_state* last_channel_ = nullptr;
  std::unordered_map<std::uint16_t, channel_state> channels_;

  input_cutter input_;
  heartbeat_monitor heartbeat_;
  std::string server_properties_;
};

}  // namespace baton::amqp091
