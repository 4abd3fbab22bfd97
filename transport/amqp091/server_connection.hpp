#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/field_value.hpp"
#include "transport/amqp091/client_description.hpp"
#include "transport/amqp091/heartbeat.hpp"
#include "transport/amqp091/input_cutter.hpp"
#include "transport/amqp091/server_handler.hpp"

namespace baton::amqp091 {

/// What all connections of a listener share. Must outlive its connections.
struct server_settings {
  field_table properties = {};  ///< server-properties, see `server_properties()`
  std::string mechanisms = "AMQPLAIN PLAIN";
  std::uint16_t channel_max = 2047;      ///< 0: no limit
  std::uint32_t frame_max = 131072;      ///< 0: no limit
  std::uint16_t heartbeat_seconds = 60;  ///< offered; the client decides
  std::uint64_t max_message_size = std::uint64_t{128} << 20;
  /// Bound of a frame before the login is done; generous, because tokens can be long.
  std::uint32_t handshake_frame_max = 65536;
};

/// The server-properties that clients look for, with RabbitMQ's capabilities.
field_table server_properties(std::string_view product, std::string_view version,
                              std::string_view cluster_name);

/// How a connection ends, for the owner of its socket.
enum class ending {
  none,
  awaiting_close_ok,  ///< connection.close was sent: close the socket at its answer, or in 30 s
  lingering,  ///< all input is ignored: write what is there, close when the client does, or in 3 s
  over,       ///< write what is there, then close the socket
};

/// The server's end of one AMQP 0-9-1 connection, without I/O: bytes are fed in and become calls of
/// the handler, in order; what is to be sent is appended to `out`, which the owner writes.
///
/// It knows the rules of the protocol that concern the connection itself (handshake, frames, state
/// of channels, assembly of contents, closing); what commands mean is the handler's business.
/// Diagram and rules: README.md.
class server_connection {
public:
  server_connection(const server_settings& settings, server_handler& handler, output_buffer& out);
  server_connection(const server_connection&) = delete;
  server_connection& operator=(const server_connection&) = delete;

  // ---- input

  /// Takes all of the input; frames that are cut at its end are kept until the rest has come.
  void feed(byte_view input);
  /// False while a login or an open waits for the handler's answer, when reading is pointless.
  bool wants_input() const noexcept {
    return phase_ != phase::authenticating && phase_ != phase::opening;
  }
  /// Bytes that were fed but wait: of cut frames, or for an answer. Without the reserve.
  std::size_t buffered() const noexcept { return input_.held(); }

  // ---- answers to the handler's calls, at once or later

  void authenticated();
  /// 403 for clients that understand it, otherwise silence: see `ending()`.
  void authentication_refused();
  void open_accepted();
  void finish_channel_close(channel_number channel);
  void finish_close();

  // ---- output

  /// Whether the channel is open, so that what is sent on it will be understood.
  bool can_send(channel_number channel) const noexcept;
  /// Appends one method; does nothing when the channel (0: the connection) is not open.
  template <class Method>
  void send(channel_number channel, const Method& method) {
    if (channel == 0 ? phase_ == phase::running : can_send(channel))
      encode_method(out_, channel, method);
  }
  /// Ends the channel or the connection, whichever the code says. The handler is not told, but for
  /// `close_requested` where the client's connection.close has only waited for this channel.
  void raise(channel_number channel, const protocol_error& error);
  void close_channel(channel_number channel, const protocol_error& error);
  void close_connection(const protocol_error& error);
  /// The owner has failed: 541 for a client that has logged in. Nothing is to be fed afterwards.
  void fail_internally();

  // ---- back-pressure

  /// While publishes are held, each channel stops at its next publish: that and what follows it on
  /// the same channel is kept, unparsed, in the reserve. Everything else goes on: other methods of
  /// channels that have not published, and, even behind a held publish, ack, nack and reject
  /// (unless the channel is transactional), because they free memory. A content whose begin was
  /// taken goes on to its end. Releasing handles what was kept, in order within each channel,
  /// before it returns (at the end of `feed` when called inside); the handler may hold again
  /// meanwhile. Holding does not stop what stands in front of a close, or of any method that its
  /// client may wait for, while `server_handler::gives_back` says so; to hold anew is to ask anew.
  void hold_publishes(bool hold);
  bool publishes_held() const noexcept { return holding_; }

  /// The handler waits for an answer from elsewhere before the channel may go on: all that the
  /// client sends on it meanwhile waits in the reserve, but for settlements as above; other
  /// channels go on. A channel that closes meanwhile is no longer held.
  void hold_channel(channel_number channel);
  /// Handles what has waited, before it returns (at the end of `feed` when called inside), as far
  /// as publishes are not held.
  void release_channel(channel_number channel);
  /// Bytes in the reserve: at a limit of its own the owner stops reading.
  std::size_t reserve_used() const noexcept { return reserve_used_; }

  // ---- state

  enum ending ending() const noexcept;
  bool is_running() const noexcept { return phase_ == phase::running; }
  std::size_t channel_count() const noexcept { return channels_.size(); }
  /// Counts what is fed; `sent` is to be called by whoever writes.
  heartbeat_monitor& heartbeat() noexcept { return heartbeat_; }

  /// As negotiated; 0: no limit.
  std::uint32_t frame_max() const noexcept { return frame_max_; }
  std::uint16_t channel_max() const noexcept { return channel_max_; }
  /// Set by start-ok.
  const client_description& client() const noexcept { return client_; }

private:
  enum class phase : std::uint8_t {
    expecting_header,
    expecting_start_ok,
    authenticating,  // the handler is asked
    expecting_tune_ok,
    expecting_open,
    opening,  // the handler is asked
    running,
    close_deferred,   // the client has closed; publishes before that are still held
    close_requested,  // the client has closed; the handler is asked to finish
    closing,          // we have closed; all but close and close-ok is ignored
    lingering,
    over,
  };
  enum class channel_phase : std::uint8_t {
    open,
    close_requested,  // the client has closed; the handler is asked to finish
    closing,          // we have closed; all but close, close-ok and open is ignored
  };
  enum class content_phase : std::uint8_t {
    none,
    expecting_header,
    awaiting_admission,  // the header is there, content_begin said wait
    expecting_body,
  };
  struct channel_state {
    channel_phase phase = channel_phase::open;
    content_phase content = content_phase::none;
    bool transactional = false;
    bool holds_tx_select = false;      // it is in the reserve
    bool holds_close = false;          // the client's channel.close is
    std::uint32_t questions_held = 0;  // so many methods with an answer are
    bool waiting = false;              // for an answer that the handler waits for
    std::uint64_t body_left = 0;
    output_buffer publish_payload;  // kept while method and header are not in the input together
    output_buffer header_payload;   // kept while awaiting admission
    output_buffer reserve;          // whole frames, from reserve_begin on
    std::size_t reserve_begin = 0;

    bool is_held() const noexcept {
      return waiting || content == content_phase::awaiting_admission || !reserve.empty();
    }
  };
  struct channel_methods;

  // server_connection.cpp: input, frames, methods
  progress step(byte_view input);
  progress step_frame(byte_view input);
  progress step_close(byte_view input);
  void handle_frame(const frame& found, byte_view raw);
  void handle_connection_frame(const frame& found);
  void handle_unopened(const frame& found);
  void handle_channel_frame(channel_number number, channel_state& channel, const frame& found);
  void handle_closing(channel_number number, const frame& found);
  void handle_method(channel_number number, channel_state& channel, byte_view payload);

  // server_closing.cpp
  void client_closes(std::uint16_t code, std::string_view text);
  void finish_deferred_close();
  channel_state* find(channel_number channel) noexcept;
  void forget(channel_number channel);
  void fail_channel(channel_number channel, const protocol_error& error);
  void fail_connection(const protocol_error& error);
  void fail_stream(const protocol_error& error);

  // server_handshake.cpp: from the protocol header to open-ok
  progress step_protocol_header(byte_view input);
  progress step_handshake(byte_view input);
  void handle_handshake(byte_view payload);
  void start_ok(const methods::connection_start_ok& method);
  void tune_ok(const methods::connection_tune_ok& method);
  void refuse_tune(std::string_view field, std::uint32_t value, bool too_high, std::uint32_t bound);
  void unexpected_in_phase(std::uint16_t class_id, std::uint16_t method_id);
  void go_on();

  // server_content.cpp: publishes, headers, bodies
  progress step_publish(byte_view input);
  progress step_body(byte_view input);
  progress step_streamed_body(byte_view input);
  void handle_header(channel_number number, channel_state& channel, const frame& found);
  void handle_body(channel_number number, channel_state& channel, const frame& found);
  void begin_content(channel_number number, channel_state& channel, const publish_view& publish,
                     std::uint64_t body_size, byte_view publish_payload, byte_view header_payload);
  bool is_admitted(channel_number number, channel_state& channel, const publish_view& publish,
                   std::uint64_t body_size);
  bool accept_body(channel_state& channel, std::uint64_t size);
  void take_piece(channel_number number, channel_state& channel, byte_view piece);
  void finish_body_frame(channel_number number);

  // server_hold.cpp: the reserve
  void hold_frame(channel_number number, channel_state& channel, const frame& found, byte_view raw);
  void mark_held(channel_number number);
  void replay();
  bool replay_channel(channel_number number);
  void replay_frames(channel_number number, const output_buffer& frames, std::size_t& at);
  static bool is_settlement(std::uint32_t method) noexcept;
  static bool is_question(std::uint32_t method) noexcept;
  void admit_again(channel_number number, channel_state& channel);
  bool may_pass(channel_number number, const channel_state& channel);
  void drop_reserve(channel_state& channel);

  const server_settings& settings_;
  server_handler& handler_;
  output_buffer& out_;

  phase phase_ = phase::expecting_header;
  bool holding_ = false;
  bool replay_wanted_ = false;  // inside feed, something may have become free to go on
  bool in_feed_ = false;
  std::uint16_t channel_max_ = 0;
  std::uint32_t frame_max_ = 0;
  std::uint32_t frame_limit_ = 0;  // largest payload taken

  channel_number streamed_channel_ = 0;  // whose body frame is being taken piecemeal; 0: skipped
  std::size_t streamed_left_ = 0;        // bytes of it still to come, with the end octet

  channel_number last_number_ = 0;  // the channel found last
  channel_state* last_channel_ = nullptr;
  std::unordered_map<channel_number, channel_state> channels_;

  std::vector<channel_number> held_channels_;
  std::size_t reserve_used_ = 0;
  std::size_t questions_held_ = 0;  // of all channels

  input_cutter input_;
  heartbeat_monitor heartbeat_;
  client_description client_;
  std::string mechanism_;
  std::string deferred_close_text_;
  std::uint16_t deferred_close_code_ = 0;
};

}  // namespace baton::amqp091
