#pragma once

// The two pipes of a simulated connection, and its ends; for simulated_network.cpp only.

#include <array>
#include <deque>

#include "transport/net/simulated_network.hpp"

namespace baton {

/// One direction: bytes that are under way, then bytes that have arrived and are not read yet.
struct simulated_pipe {
  std::deque<std::uint8_t> under_way;
  std::deque<std::uint8_t> arrived;
  bool is_finished = false;  // the writer has said that no more follow
  bool end_arrived = false;  // and the reader can see it
  bool reader_is_gone = false;

  std::size_t held() const noexcept { return under_way.size() + arrived.size(); }
  bool can_progress() const noexcept { return !under_way.empty() || (is_finished && !end_arrived); }
};

/// Shared by its two ends; end 0 has connected, end 1 has accepted.
class simulated_connection {
public:
  simulated_connection(simulated_network& network, endpoint client, endpoint server);
  ~simulated_connection();

  bool can_progress() const noexcept;
  void progress();
  void reset(std::string why);

  simulated_network& network;
  std::array<endpoint, 2> addresses;
  std::array<simulated_pipe, 2> pipes;              // pipes[i] is written by end i
  std::array<simulated_stream*, 2> ends{};          // null: not attached, or closed
  std::shared_ptr<simulated_connection> in_accept;  // itself, while nobody has accepted it
  bool is_established = false;
  std::string failure;  // not empty: broken
};

class simulated_stream final : public stream, private simulated_reactor::socket {
public:
  simulated_stream(simulated_reactor& home, std::shared_ptr<simulated_connection> connection,
                   std::size_t end);
  ~simulated_stream() override;

  void set_handler(stream_handler* handler) override;
  io_result read(std::span<std::uint8_t> into) override;
  io_result write(std::span<const byte_view> pieces) override;
  void notify_writable() override;
  void pause_reading() override;
  void resume_reading() override;
  void shutdown_write() override;
  void abort() override;
  void set_no_delay(bool) override {}
  endpoint local() const override { return connection_->addresses[end_]; }
  endpoint peer() const override { return connection_->addresses[1 - end_]; }
  std::string failure() const override { return connection_->failure; }

  /// Something has changed: is there something to say?
  void update();

private:
  void take_turn() override;
  simulated_pipe& incoming() const noexcept { return connection_->pipes[1 - end_]; }
  simulated_pipe& outgoing() const noexcept { return connection_->pipes[end_]; }
  bool is_broken() const noexcept { return !connection_->failure.empty(); }
  bool may_tell_of_room() const noexcept;
  bool may_tell_of_bytes() const noexcept;

  std::shared_ptr<simulated_connection> connection_;
  const std::size_t end_;
  stream_handler* handler_ = nullptr;
  bool is_paused_ = false;
  bool wants_writable_ = false;
  bool end_was_read_ = false;
  bool failure_was_told_ = false;
};

class simulated_listener final : public listener, private simulated_reactor::socket {
public:
  simulated_listener(simulated_reactor& home, endpoint where, listener_handler& handler);
  ~simulated_listener() override;

  endpoint local() const override { return where_; }
  void pause() override { is_paused_ = true; }
  void resume() override;

  void arrive(std::shared_ptr<simulated_connection> connection);

private:
  void take_turn() override;

  const endpoint where_;
  listener_handler& handler_;
  std::deque<std::shared_ptr<simulated_connection>> waiting_;
  bool is_paused_ = false;
};

}  // namespace baton
