#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/simulation_random.hpp"
#include "tests/simulation/model.hpp"
#include "transport/amqp091/client_connection.hpp"
#include "transport/net/reactor.hpp"

namespace baton::simulation {

/// What the clients of one run share.
struct surroundings {
  simulation_random& dice;
  reactor& sockets;
  model& queues;
  /// Clients may end in ways that lose what was delivered without acknowledgements.
  bool may_lose = false;
  std::uint32_t next_name = 0;

  /// An invariant does not hold.
  std::function<void(std::string)> broken;
  /// Something has happened; empty while nobody wants to know.
  std::function<void(std::string)> note;
};

/// An AMQP client that does what the dice say and holds the node to the model. It opens AMQP
/// channels, publishes, consumes, gets, settles, cancels, closes, stops reading and breaks its
/// connection, until it is told to settle down; then it settles whatever it gets.
class client final : private stream_handler, private amqp091::client_handler {
public:
  explicit client(surroundings& where, std::string name);
  ~client() override;

  /// One random action, as the state of things allows.
  void act();
  /// From now on: reads, settles all that it has and gets, ends its transactions; begins nothing.
  void settle_down();
  /// A client without whims: consumes from every queue, and accepts at once.
  void drain_all();
  /// connection.close.
  void close();

  /// Not connected (any more).
  bool is_gone() const noexcept { return stream_ == nullptr; }
  /// Nothing is left to send, and nothing that was asked for is unanswered. `why` is told what is.
  bool is_at_rest(std::string* why = nullptr) const;
  /// Asks for the number of messages in each queue; broken if one is not empty.
  void expect_empty_queues();

private:
  struct held_copy {
    std::uint64_t tag;
    model::message_id message;
    std::size_t queue;
    std::uint32_t consumer;  // 0: it was fetched
  };
  struct consumer {
    std::uint32_t name = 0;
    std::size_t queue = 0;
    bool no_ack = false;
    bool started = false;
    bool cancelling = false;
    std::uint32_t window = 0;  // 0: none
    std::uint32_t held = 0;
    /// The youngest first delivery of each publisher.
    std::vector<std::pair<model::publisher_id, model::message_id>> last;
  };
  struct settled_copy {
    model::message_id message;
    std::size_t queue;
  };
  enum class channel_kind : std::uint8_t { plain, confirm, transactional };
  struct channel {
    std::uint16_t number = 0;
    model::publisher_id publisher = 0;
    channel_kind kind = channel_kind::plain;
    bool open = false;
    bool closing = false;
    std::uint32_t answers = 0;  // that are awaited
    std::uint32_t recovers = 0;
    std::uint32_t commits = 0;
    std::uint32_t window = 0;         // of each consumer that is started now
    std::uint32_t shared_window = 0;  // of all consumers together; 0: none
    /// Of each basic.qos that is not answered: what it makes of the shared window, if it is for it.
    std::vector<std::optional<std::uint32_t>> asked_windows;
    std::uint64_t last_tag = 0;
    std::vector<model::message_id> published;  // since the channel began
    std::vector<bool> confirmed;               // of each of them, on a confirming channel
    std::size_t unconfirmed = 0;
    std::vector<model::message_id> in_transaction;
    std::vector<held_copy> held;
    std::vector<settled_copy> settled;  // for as long as the node may not have read it
    std::vector<consumer> consumers;
    consumer fetched;                                // what basic.get gives
    std::vector<std::pair<std::size_t, bool>> gets;  // queue and no_ack of each that is awaited
  };

  // stream_handler
  void on_readable() override;
  void on_writable() override;

  // client_handler
  void opened() override;
  void closed(std::uint16_t code, std::string_view text) override;
  void blocked(std::string_view reason) override;
  void unblocked() override;
  void channel_opened(std::uint16_t number) override;
  void channel_closed(std::uint16_t number, std::uint16_t code, std::string_view text) override;
  void delivered(std::uint16_t number, std::string_view consumer_tag, std::uint64_t tag,
                 bool redelivered, const amqp091::message_view& content) override;
  void returned(std::uint16_t, std::uint16_t, std::string_view,
                const amqp091::message_view&) override;
  void got(std::uint16_t number, std::uint64_t tag, bool redelivered, std::uint32_t left,
           const amqp091::message_view& content) override;
  void on(std::uint16_t number, const amqp091::methods::basic_ack& ack) override;
  void on(std::uint16_t number, const amqp091::methods::basic_nack& nack) override;
  void on(std::uint16_t number, const amqp091::methods::basic_get_empty&) override;
  void on(std::uint16_t number, const amqp091::methods::basic_qos_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::basic_consume_ok& ok) override;
  void on(std::uint16_t number, const amqp091::methods::basic_cancel& cancel) override;
  void on(std::uint16_t number, const amqp091::methods::basic_cancel_ok& ok) override;
  void on(std::uint16_t number, const amqp091::methods::basic_recover_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::queue_declare_ok& ok) override;
  void on(std::uint16_t number, const amqp091::methods::confirm_select_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::tx_select_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::tx_commit_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::tx_rollback_ok&) override;

  // what it does
  void connect();
  void open_channel();
  void act_on(channel& c);
  void publish(channel& c);
  void set_window(channel& c, std::uint32_t messages, bool shared);
  void consume(channel& c, std::size_t queue, bool no_ack);
  void cancel(channel& c);
  void get(channel& c);
  void settle_some(channel& c);
  void recover(channel& c);
  void end_transaction(channel& c, bool commit);
  void declare(channel& c, std::size_t queue, bool passive);
  void close_channel(channel& c);
  void break_connection();
  void accept_all(channel& c);

  // books
  void give_up_deliveries(channel& c);
  void lose(channel& c);
  void prove(channel& c);
  bool has_unacknowledged(const channel& c) const;
  std::optional<model::message_id> read_body(const amqp091::message_view& content);
  bool take(channel& c, consumer& by, std::uint64_t tag, bool redelivered, bool no_ack,
            const amqp091::message_view& content);
  void done_with(channel& c, std::size_t held, bool requeue);
  void check_windows(const channel& c, const consumer& by);
  static std::uint32_t widest_window(const channel& c);
  void answered(std::uint16_t number, const char* what);
  channel& find(std::uint16_t number);

  void flush();
  void broken(const std::string& what) { where_.broken(name_ + ": " + what); }
  template <class... Parts>
  void note(const Parts&... parts);

  surroundings& where_;
  simulation_random& dice_;
  model& model_;
  const std::string name_;
  std::unique_ptr<stream> stream_;
  std::unique_ptr<amqp091::client_connection> machine_;
  amqp091::output_buffer out_;
  std::vector<std::unique_ptr<channel>> channels_;
  std::uint32_t connections_ = 0;
  bool paused_ = false;
  bool wants_room_ = false;
  bool closing_ = false;
  bool settling_ = false;
  bool drains_ = false;
};

}  // namespace baton::simulation
