#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/simulation_random.hpp"
#include "transport/net/reactor.hpp"

namespace baton {

class simulated_connection;
class simulated_listener;
class simulated_reactor;
class simulated_stream;

struct simulated_network_options {
  /// What one direction of a connection holds, on the way and unread; then the writer has to wait.
  std::size_t pipe_capacity = 16 * 1024;
  /// One step of the network in so many breaks the connection that it concerns; 0: none.
  std::uint64_t reset_once_in = 0;
};

/// A network in memory, for one thread: bytes and connections are under way until `progress` is
/// called, which moves one of them a little, chosen by the dice. Reads and writes are short at
/// random, capacity is limited, so back-pressure is real; connections break when told to.
class simulated_network {
public:
  explicit simulated_network(simulation_random& dice, simulated_network_options options = {})
      : dice_{dice}, options_{options} {}
  ~simulated_network();

  /// The sockets of one loop, or of a test. The network outlives it.
  std::unique_ptr<simulated_reactor> make_reactor();

  /// Whether something is under way.
  bool can_progress() const noexcept;

  /// Moves one thing a little.
  void progress();

  /// Breaks every connection, as when a cable is pulled and all notice.
  void reset_all();

  std::size_t connections() const noexcept { return connections_.size(); }

private:
  friend class simulated_connection;
  friend class simulated_listener;
  friend class simulated_reactor;
  friend class simulated_stream;

  simulation_random& dice_;
  const simulated_network_options options_;
  std::vector<simulated_connection*> connections_;  // in the order of their beginning
  std::map<std::string, simulated_listener*> listeners_;
  std::uint16_t next_port_ = 40'000;
};

/// A reactor on a simulated network. Its `wait` never sleeps: who drives the simulation decides
/// when something happens.
class simulated_reactor final : public reactor {
public:
  explicit simulated_reactor(simulated_network& network) : network_{network} {}

  result<std::unique_ptr<listener>> listen(const endpoint& where,
                                           listener_handler& handler) override;
  result<std::unique_ptr<stream>> connect(const endpoint& where) override;
  std::unique_ptr<stream> attach(unattached_stream accepted) override;
  void wait(std::chrono::nanoseconds) override {}
  /// In an order that the dice choose.
  std::size_t dispatch(std::size_t at_most) override;
  void wake() noexcept override {}

  bool has_due() const noexcept { return !due_.empty(); }

  /// What has something to say to its handler.
  class socket {
  public:
    virtual void take_turn() = 0;

  protected:
    explicit socket(simulated_reactor& home) : home_{home} {}
    virtual ~socket() { make_undue(); }
    void make_due();
    void make_undue();
    simulated_reactor& home() const noexcept { return home_; }

  private:
    friend class simulated_reactor;

    simulated_reactor& home_;
    bool is_due_ = false;
  };

  simulated_network& network() noexcept { return network_; }

private:
  simulated_network& network_;
  std::vector<socket*> due_;
};

}  // namespace baton
