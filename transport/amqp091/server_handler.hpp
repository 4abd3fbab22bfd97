#pragma once

#include <cstdint>
#include <string_view>

#include "storage/byte_view.hpp"
#include "transport/amqp091/methods.hpp"
#include "transport/amqp091/publish_view.hpp"
#include "transport/amqp091/reply_code.hpp"

namespace baton::amqp091 {

/// The number of an AMQP channel on its connection, 1 to 65535.
using channel_number = std::uint16_t;

/// The answer to `content_begin`.
enum class admission {
  take,  ///< the pieces of the body follow, to the end
  wait,  ///< ask again when publishes may go on; implies `hold_publishes(true)`
};

/// What a server_connection asks of its owner: the commands that a client sent, decoded, in order
/// within each AMQP channel. All views borrow from the input for the length of the call.
///
/// In any call the handler may send, close and hold through the machine; it must not feed or
/// destroy it. After close_channel or close_connection no more calls come for what was closed.
class server_handler {
public:
  virtual ~server_handler() = default;

  // ---- the connection

  /// Check this login, later answer with `server_connection::authenticated` or
  /// `authentication_refused`. The machine takes no further input before that.
  virtual void authenticate(std::string_view mechanism, std::string_view user,
                            std::string_view password) = 0;
  /// The client asks for a virtual host: answer with `open_accepted` or `close_connection` (530).
  /// The machine takes no further input before that.
  virtual void open_requested(std::string_view virtual_host) = 0;
  /// A new password or token for the user that is logged in; update-secret-ok is sent afterwards.
  virtual void secret_updated(byte_view secret, std::string_view reason) = 0;
  /// The client closes the connection: end what belongs to it, then call `finish_close`.
  virtual void close_requested(std::uint16_t reply_code, std::string_view reply_text) = 0;
  /// The machine itself has found a fault of the client. It has sent connection.close (or, before
  /// the login is done, nothing: see `ending()`). Log it, end what belongs to the connection.
  virtual void connection_failed(const protocol_error& error) = 0;

  // ---- AMQP channels

  virtual void channel_opened(channel_number channel) = 0;
  /// The client closes the channel: end its consumers, take back what is unsettled, forget its
  /// confirms, then call `finish_channel_close`.
  virtual void channel_close_requested(channel_number channel) = 0;
  /// The machine itself has found a fault on the channel and has sent channel.close. End what
  /// belongs to it, as above; nothing is to be called.
  virtual void channel_failed(channel_number channel, const protocol_error& error) = 0;

  // ---- contents

  /// A publish whose body was whole in the input.
  virtual void publish(channel_number channel, const publish_view& publish) = 0;
  /// A publish whose body is still coming; `body_size` bytes, which is at most the size limit.
  /// Between begin and end of one channel, contents of other channels may come. `may_wait`: false
  /// when the answer has to be `take`, as the handler has answered `gives_back` with yes.
  virtual admission content_begin(channel_number channel, const publish_view& publish,
                                  std::uint64_t body_size, bool may_wait) = 0;
  virtual void content_piece(channel_number channel, byte_view bytes) = 0;
  /// The content is whole. Not called for one whose channel or connection has ended before.
  virtual void content_end(channel_number channel) = 0;

  /// Publishes are held, and behind them waits a method whose answer the client of this AMQP
  /// channel may wait for, or (0) connection.close. Whether the client has, on the channel or on
  /// any, what they may wait for, and what it gives back only once it is answered. Yes lets those
  /// in front of the method through; they are in the reserve already, so no more than it holds.
  /// Asked for each publish, and again with each `hold_publishes`.
  virtual bool gives_back(channel_number channel) = 0;

  // ---- everything else that a client may say, checked for form only

  virtual void on(channel_number channel, const methods::basic_ack& ack) = 0;
  virtual void on(channel_number channel, const methods::basic_nack& nack) = 0;
  virtual void on(channel_number channel, const methods::basic_reject& reject) = 0;
  virtual void on(channel_number channel, const methods::basic_get& get) = 0;
  virtual void on(channel_number channel, const methods::basic_qos& qos) = 0;
  virtual void on(channel_number channel, const methods::basic_consume& consume) = 0;
  virtual void on(channel_number channel, const methods::basic_cancel& cancel) = 0;
  virtual void on(channel_number channel, const methods::basic_recover& recover) = 0;
  virtual void on(channel_number channel, const methods::basic_recover_async& recover) = 0;
  virtual void on(channel_number channel, const methods::exchange_declare& declare) = 0;
  virtual void on(channel_number channel, const methods::exchange_delete& remove) = 0;
  virtual void on(channel_number channel, const methods::exchange_bind& bind) = 0;
  virtual void on(channel_number channel, const methods::exchange_unbind& unbind) = 0;
  virtual void on(channel_number channel, const methods::queue_declare& declare) = 0;
  virtual void on(channel_number channel, const methods::queue_bind& bind) = 0;
  virtual void on(channel_number channel, const methods::queue_unbind& unbind) = 0;
  virtual void on(channel_number channel, const methods::queue_purge& purge) = 0;
  virtual void on(channel_number channel, const methods::queue_delete& remove) = 0;
  virtual void on(channel_number channel, const methods::confirm_select& select) = 0;
  virtual void on(channel_number channel, const methods::tx_select& select) = 0;
  virtual void on(channel_number channel, const methods::tx_commit& commit) = 0;
  virtual void on(channel_number channel, const methods::tx_rollback& rollback) = 0;
};

}  // namespace baton::amqp091
