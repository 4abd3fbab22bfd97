#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "config/simulation_random.hpp"
#include "tests/simulation/model.hpp"
#include "transport/amqp091/client_connection.hpp"
#include "transport/net/reactor.hpp"

namespace baton::simulation {

/// What the clients of one run share.
struct surroundings {
  simulation_random& dice;
  reactor* sockets;  // of the node's present life
  model& queues;
  /// Clients may end in ways that lose what was delivered without acknowledgements.
  bool may_lose = false;
  /// Clients may delete, purge and unbind queues, and declare and bind them anew.
  bool may_remove = false;
  /// Clients have exchanges of their own, which they bind to the fanout exchange, and to others.
  bool may_bind_exchanges = false;
  /// What queues are declared with.
  struct queue_rules {
    bool durable = true;
    std::uint32_t max_length = 0;  // 0: none
    bool refuses = false;          // what is too much, instead of dropping the oldest
    sync_policy sync = sync_policy::always;

    field_table arguments() const;
  };
  std::vector<queue_rules> rules;
  bool some_refuse = false;
  std::uint32_t largest_body = 6'000;
  std::uint32_t next_name = 0;
  std::uint64_t times_blocked = 0;
  /// The node has been told to stop: it closes connections.
  bool node_stops = false;

  /// An invariant does not hold.
  std::function<void(std::string)> broken;
  /// Something has happened; empty while nobody wants to know.
  std::function<void(std::string)> note;
};

/// An AMQP client that does what the dice say and holds the node to the model. It opens AMQP
/// channels, publishes, consumes, gets, settles, cancels, declares, deletes, purges, closes, stops
/// reading and breaks its connection, until it is told to settle down; then it settles whatever it
/// gets.
///
/// client.cpp: its socket and what it does next; client_asks.cpp: how it asks for it;
/// client_answers.cpp: what it is told; client_books.cpp: what it holds, and proves.
class client final : private stream_handler, private amqp091::client_handler {
public:
  explicit client(surroundings& where, std::string name);
  ~client() override;

  /// One random action, as the state of things allows.
  void act();
  /// From now on: reads, settles all that it has and gets, ends its transactions; begins nothing.
  void settle_down();
  /// The node is gone, and with it whatever was under way.
  void lose_node();
  /// While nothing is under way in the node: tells the model what it must have read.
  void tell_what_was_read();
  /// A client without whims: declares and consumes from every queue, and accepts at once.
  void drain_all();
  /// connection.close.
  void close();

  /// Whether this is its connection's name.
  bool is_called(const std::string& connection) const { return connection == connection_name(); }
  /// Whether what it has done on its connection may let publishes through beyond their credit.
  bool may_overdraw() const noexcept { return may_overdraw_; }
  /// Not connected (any more).
  bool is_gone() const noexcept { return stream_ == nullptr; }
  /// Nothing is left to send, and nothing that was asked for is unanswered. `why` is told what is.
  bool is_at_rest(std::string* why = nullptr) const;
  /// Whether the node may have closed this AMQP channel of its, though it has not heard so.
  bool may_have_failed(model::channel_id channel) const;
  /// Asks for the number of messages in each queue; broken if one is not empty.
  void expect_empty_queues();

private:
  struct held_copy {
    std::uint64_t tag = 0;
    model::message_id message = 0;
    std::size_t queue = 0;
    std::uint32_t consumer = 0;  // 0: it was fetched
    model::moment since{};       // its consumer, or the get, was asked for
  };
  struct settled_copy {
    model::message_id message;
    std::size_t queue;
  };
  struct settlement {  // that waits for its commit
    held_copy of;
    bool requeue;
  };
  struct consumer {
    std::uint32_t name = 0;
    std::size_t queue = 0;
    model::moment since{};
    bool no_ack = false;
    bool started = false;
    bool cancelling = false;
    std::uint32_t window = 0;  // 0: none
    std::uint32_t held = 0;
    /// The youngest first delivery of each publisher.
    std::vector<std::pair<model::channel_id, model::message_id>> last;
    std::uint32_t last_life = 0;  // the node's, in which the youngest of all was published
  };
  /// What is asked on an AMQP channel is answered there, in the same order.
  enum class request : std::uint8_t {
    qos,
    consume,
    cancel,
    get,
    recover,
    confirms,
    transactions,
    commit,
    rollback,
    look,  // a passive declare
    declare,
    bind,
    unbind,
    purge,
    remove,
    declare_exchange,
    bind_exchange,
    unbind_exchange,
    remove_exchange,
  };
  struct question {
    request what;
    std::size_t queue = 0;
    model::moment since{};
    std::optional<std::uint32_t> shared_window{};  // that a qos makes; of all consumers together
    bool no_ack = false;                           // of a get
    std::vector<model::message_id> committed{};    // by a commit
    std::optional<model::asked_change> change{};   // of the queue
  };
  enum class channel_kind : std::uint8_t { plain, confirm, transactional };
  struct channel {
    std::uint16_t number = 0;
    model::channel_id id = 0;
    channel_kind kind = channel_kind::plain;
    bool open = false;
    bool closing = false;
    std::deque<question> asked;
    std::uint32_t window = 0;         // of each consumer that is started now
    std::uint32_t shared_window = 0;  // of all consumers together; 0: none
    std::uint64_t last_tag = 0;
    std::vector<model::message_id> published;  // since the channel began
    std::vector<bool> confirmed;               // of each of them, on a confirming channel
    std::size_t unconfirmed = 0;
    std::vector<model::message_id> in_transaction;
    std::vector<settlement> aside;  // in the transaction
    std::vector<held_copy> held;
    std::vector<settled_copy> settled;  // for as long as the node may not have read it
    std::vector<consumer> consumers;
    consumer fetched;  // what basic.get gives
    /// Only this channel knows of it, so what it routes to is known whatever others do; 0: none.
    std::uint32_t exchange = 0;
    bool leads_on = false;  // it is bound to the fanout exchange
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
  void returned(std::uint16_t number, std::uint16_t code, std::string_view text,
                const amqp091::message_view& content) override;
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
  void on(std::uint16_t number, const amqp091::methods::queue_bind_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::queue_unbind_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::queue_purge_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::queue_delete_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::exchange_declare_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::exchange_bind_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::exchange_unbind_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::exchange_delete_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::confirm_select_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::tx_select_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::tx_commit_ok&) override;
  void on(std::uint16_t number, const amqp091::methods::tx_rollback_ok&) override;

  // what it does
  void connect();
  std::string connection_name() const { return name_ + ", " + std::to_string(connections_); }
  void act_on(channel& c);
  void open_channel();
  void close_channel(channel& c);
  void break_connection();
  void flush();

  // what it asks for
  question& ask(channel& c, request what, std::size_t queue = 0);
  void publish(channel& c);
  void set_window(channel& c, std::uint32_t window, bool shared);
  void consume(channel& c, std::size_t queue, bool no_ack);
  void cancel(channel& c);
  void get(channel& c);
  void settle_some(channel& c);
  void accept_all(channel& c);
  void recover(channel& c);
  void end_transaction(channel& c, bool commit);
  void look(channel& c, std::size_t queue);
  void change(channel& c, model::change what, std::size_t queue);
  void change_something(channel& c);
  void restore(channel& c, std::size_t queue);
  void change_exchange(channel& c);
  void drain(channel& c, std::size_t queue);

  // books
  std::optional<question> answered(std::uint16_t number, request what);
  channel& find(std::uint16_t number);
  void confirmed(channel& c, std::uint64_t last, bool multiple, bool taken);
  static bool needs_queue(request what);
  static bool waits_for(const channel& c, request what);
  bool may_fail(const question& asked) const;
  bool may_fail(const channel& c) const;
  bool may_lose(const channel& c) const;
  void lose(channel& c);
  void withdraw(channel& c);
  void give_up_deliveries(channel& c, model::when then = model::when::now);
  void doubt(channel& c);
  void give_up(channel& c);
  void prove(channel& c);
  std::optional<model::message_id> read_body(const amqp091::message_view& content);
  void take(channel& c, consumer& by, std::uint64_t tag, bool redelivered, bool no_ack,
            const amqp091::message_view& content);
  void check_names(model::message_id id, const amqp091::message_view& content);
  void check_order(consumer& by, model::message_id id, bool redelivered);
  void check_windows(const channel& c, const consumer& by);
  static std::uint32_t widest_window(const channel& c);
  void settle(channel& c, const held_copy& copy, bool requeue);
  void done_with(channel& c, const held_copy& copy, bool requeue);

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
  std::uint32_t connections_before_ = 0;  // until this life of the node
  bool paused_ = false;
  bool blocked_ = false;
  bool has_published_ = false;  // on this connection
  bool may_overdraw_ = false;   // on this connection
  bool wants_room_ = false;
  bool closing_ = false;
  bool settling_ = false;
  bool drains_ = false;
};

}  // namespace baton::simulation
