#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/result.hpp"
#include "config/settings.hpp"

namespace baton {

class local_end;
class local_handle;

/// A router node, in this process: what `baton run` runs, and what a C++ program embeds.
///
///     baton::node node{baton::default_settings()};
///     if (auto started = node.start(); !started) ...
///     node.attach(0, std::make_unique<my_end>());
///
/// May be used from any thread, but for `start`, `join` and the destructor, which belong to one.
class node {
public:
  /// Only remembers; nothing runs before `start`.
  explicit node(settings configured);
  node(const node&) = delete;
  node& operator=(const node&) = delete;
  /// Stops at once if it still runs.
  ~node();

  /// Starts the loops, declares what is configured, listens. An error names what failed and where;
  /// then nothing runs.
  result<void> start();

  const std::string& name() const noexcept;
  /// Where it listens, e.g. "amqp 127.0.0.1:5672", with the ports that were chosen for 0.
  std::vector<std::string> listeners() const;
  std::size_t loops() const noexcept;

  /// Attaches an in-process end (local/end.hpp) to a loop: it publishes and consumes by move,
  /// without a socket. The node owns it until it detaches itself or the node stops. Whoever has
  /// something to tell it from another thread keeps the handle.
  std::unique_ptr<local_handle> attach(std::size_t loop, std::unique_ptr<local_end> end);

  /// Stops accepting, closes connections with 320, waits for them at most for the configured drain
  /// timeout, then ends all actors and calls what `on_stopped` was given. Returns at once.
  void request_stop();

  /// Called once, on one of the node's threads, when all is drained; `join` returns soon after.
  void on_stopped(std::function<void()> call);

  /// Waits until it has stopped.
  void join();

private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace baton
