#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/connection/output.hpp"
#include "actors/consumer_actor.hpp"
#include "actors/node_services.hpp"
#include "transport/amqp091/server_connection.hpp"

namespace baton {

class amqp_channel;

/// What the AMQP channels of one connection share: whom they speak for, and with whom.
struct connection_context {
  connection_context(node_services& node_, loop& home_, connection_id id_, connection_ref self_,
                     std::shared_ptr<receipt_owner> publisher_, connection_output& output_,
                     amqp091::server_connection& machine_, delivery_sink& sink_)
      : node{node_},
        local{node_.of(home_)},
        home{home_},
        id{id_},
        self{std::move(self_)},
        publisher{std::move(publisher_)},
        output{output_},
        machine{machine_},
        sink{sink_} {}

  node_services& node;
  loop_services& local;
  loop& home;
  const connection_id id;
  connection_ref self;
  std::shared_ptr<receipt_owner> publisher;
  connection_output& output;
  amqp091::server_connection& machine;
  delivery_sink& sink;

  // Set when the connection is opened.
  std::string user;
  vhost_id vhost;
  std::string vhost_name;

  /// Footprint of what was published and is not taken over by its queues yet.
  std::uint64_t in_flight = 0;
  std::uint64_t incomplete = 0;  // announced sizes of the bodies that are still arriving
  std::uint64_t published = 0;   // messages, since the connection was opened
  std::uint64_t delivered = 0;
  /// Of all AMQP channels, with the one that each is on.
  std::unordered_map<consumer_id, amqp_channel*> consumers;
  /// A message was published since the last look at memory.
  bool publishes = false;
  /// It may have queues that end with it.
  bool has_exclusive_queues = false;

  permission_cache may_write{permission::write, resource_kind::exchange};

  /// The channel has gathered something that `amqp_channel::flush` has to send before the turn
  /// ends.
  void mark_for_flush(amqp_channel& channel) {
    if (to_flush.empty() || to_flush.back() != &channel) to_flush.push_back(&channel);
  }
  std::vector<amqp_channel*> to_flush;
  /// Channels whose deliveries the socket has not taken yet, each once.
  std::vector<amqp_channel*> unwritten;

  const limit_settings& limits() const noexcept { return node.configured().limits; }
  requester who() const { return {user, id}; }

  /// The user as this loop's snapshot has it; nullptr: deleted.
  const baton::user* user_now() noexcept {
    if (local.view.snapshot().version != user_version_) [[unlikely]]
      look_up_user();
    return user_;
  }

  /// Whether the body of a message of this size may begin to arrive; bounded for the connection and
  /// for the node, which a single message may always overdraw. As much as its reserve may hold
  /// costs a connection no more than waiting would, so that need not wait for others' bodies, which
  /// may never be complete.
  bool admits_incomplete(std::uint64_t size) const noexcept {
    const bool small = incomplete + size <= limits().publish_reserve.value;
    const auto fits = [&](std::uint64_t held, byte_count limit) {
      return held == 0 || held + size <= limit.value;
    };
    return small || (fits(incomplete, limits().max_incomplete_per_connection) &&
                     fits(node.incomplete_bytes.load(std::memory_order_relaxed),
                          limits().max_incomplete_per_node));
  }
  void begin_incomplete(std::uint64_t size) noexcept {
    incomplete += size;
    node.incomplete_bytes.fetch_add(size, std::memory_order_relaxed);
  }
  void release_incomplete(std::uint64_t size) noexcept {
    incomplete -= size;
    node.incomplete_bytes.fetch_sub(size, std::memory_order_relaxed);
  }

private:
  // Not inline: with this in it, `user_now` would not be inlined either.
  [[gnu::noinline]] void look_up_user() noexcept {
    user_version_ = local.view.snapshot().version;
    user_ = local.view.snapshot().find_user(user);
  }

  std::uint64_t user_version_ = ~std::uint64_t{0};
  const baton::user* user_ = nullptr;
};

}  // namespace baton
