#pragma once

#include <cstdint>
#include <string_view>

#include "storage/byte_view.hpp"
#include "transport/amqp091/methods.hpp"

namespace baton::amqp091 {

/// A message as the server sent it, with its whole body; everything borrows, for this call only.
struct message_view {
  std::string_view exchange;
  std::string_view routing_key;
  byte_view properties;  ///< checked; in their encoding, see properties.hpp
  byte_view body;
};

/// What a client_connection tells its owner. The owner may send and close in any call; it must not
/// feed or destroy the machine. Calls that an owner has no use for do nothing unless overridden.
class client_handler {
public:
  virtual ~client_handler() = default;

  // ---- the connection

  /// The handshake is done: channels may be opened.
  virtual void opened() = 0;
  /// The connection has ended: closed by the server (its code and text), by us (200), or because
  /// the server broke the protocol (the code that it would have deserved). Write what is in the
  /// output, then close the socket. Nothing is called after this.
  virtual void closed(std::uint16_t code, std::string_view text) = 0;
  /// The server reads no publishes for now.
  virtual void blocked(std::string_view /*reason*/) {}
  virtual void unblocked() {}

  // ---- AMQP channels

  virtual void channel_opened(std::uint16_t channel) = 0;
  /// By the server (its code and text), or by us (200). The number is free again.
  virtual void channel_closed(std::uint16_t channel, std::uint16_t code, std::string_view text) = 0;

  // ---- messages

  virtual void delivered(std::uint16_t /*channel*/, std::string_view /*consumer_tag*/,
                         std::uint64_t /*delivery_tag*/, bool /*redelivered*/,
                         const message_view& /*message*/) {}
  /// A publish that was mandatory came back.
  virtual void returned(std::uint16_t /*channel*/, std::uint16_t /*code*/,
                        std::string_view /*text*/, const message_view& /*message*/) {}
  /// The answer to basic.get.
  virtual void got(std::uint16_t /*channel*/, std::uint64_t /*delivery_tag*/, bool /*redelivered*/,
                   std::uint32_t /*messages_left*/, const message_view& /*message*/) {}

  // ---- confirms, and the server's other words

  virtual void on(std::uint16_t /*channel*/, const methods::basic_ack&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::basic_nack&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::basic_get_empty&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::basic_qos_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::basic_consume_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::basic_cancel&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::basic_cancel_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::basic_recover_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::exchange_declare_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::exchange_delete_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::exchange_bind_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::exchange_unbind_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::queue_declare_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::queue_bind_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::queue_unbind_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::queue_purge_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::queue_delete_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::confirm_select_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::tx_select_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::tx_commit_ok&) {}
  virtual void on(std::uint16_t /*channel*/, const methods::tx_rollback_ok&) {}
};

}  // namespace baton::amqp091
