#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/topology/entities.hpp"

namespace baton {

/// The state of an exchange that a route was computed from; revision 0: there was none.
struct route_dependency {
  std::string exchange;
  std::uint64_t revision = 0;
};

/// One route that was computed before: the queues that a routing key leads to from an exchange.
class cached_route {
public:
  std::span<const queue_entry* const> queues() const noexcept {
    return {many_ ? many_.get() : few_.data(), count_};
  }
  /// All exchanges that had a part in it.
  std::span<const route_dependency> dependencies() const noexcept { return dependencies_; }

  /// The version of the topology at which the route was last known to hold.
  std::uint64_t checked_at = 0;

private:
  friend class route_cache;

  bool is_for(vhost_id vhost, std::string_view exchange, std::string_view key) const noexcept {
    return vhost_ == vhost && exchange_bytes_ == exchange.size() &&
           names_.size() == exchange.size() + key.size() && names_.starts_with(exchange) &&
           names_.ends_with(key);
  }

  vhost_id vhost_;
  std::uint32_t exchange_bytes_ = 0;
  std::uint32_t count_ = 0;
  std::array<const queue_entry*, 3> few_{};
  std::unique_ptr<const queue_entry*[]> many_;
  std::string names_;  // the exchange's, then the key
  std::vector<route_dependency> dependencies_;
};

/// The routes that one loop has computed, by virtual host, exchange and routing key. Bounded in
/// routes and in the queues that they name together. Whether a route found here still holds is for
/// the caller to check: a change of the topology does not touch the cache.
///
/// A key is only remembered when it is met for the second time, so that a stream of keys that never
/// repeat costs no memory and drives nothing out.
class route_cache {
public:
  static constexpr std::size_t max_routes = 4096;
  static constexpr std::size_t max_queues_of_a_route = 4096;
  static constexpr std::size_t max_queues = 65536;

  static std::uint64_t hash(vhost_id vhost, std::string_view exchange,
                            std::string_view key) noexcept {
    return hash_name(key, hash_name(exchange, vhost.value)) | 1;  // 0 is an empty place
  }

  /// Valid until the next call of store.
  cached_route* find(std::uint64_t hash, vhost_id vhost, std::string_view exchange,
                     std::string_view key) noexcept {
    if (hashes_.empty()) return nullptr;
    const std::size_t set = set_of(hash);
    for (std::size_t way = 0; way < ways; ++way)
      if (hashes_[set + way] == hash && routes_[set + way].is_for(vhost, exchange, key))
        return &routes_[set + way];
    return nullptr;
  }

  /// Whether a route that was not found, or no longer holds, is worth storing.
  bool wanted(std::uint64_t hash, std::size_t queues) noexcept;
  /// In place of the one for the same key, else of one that was not used for longest.
  void store(std::uint64_t hash, vhost_id vhost, std::string_view exchange, std::string_view key,
             std::span<const queue_entry* const> queues, std::vector<route_dependency> dependencies,
             std::uint64_t version);

private:
  static constexpr std::size_t ways = 4;

  std::size_t set_of(std::uint64_t hash) const noexcept {
    return (hash >> 20 & (hashes_.size() / ways - 1)) * ways;
  }
  void grow();
  void forget(std::size_t place) noexcept;
  std::size_t place_for(std::uint64_t hash, vhost_id vhost, std::string_view exchange,
                        std::string_view key);

  std::vector<std::uint64_t> hashes_;  // sets of `ways`, beside their routes
  std::vector<cached_route> routes_;
  std::vector<std::uint32_t> met_;  // what is left of hashes that were met once
  std::size_t queues_ = 0;          // that all routes name together
  std::size_t next_victim_ = 0;
};

}  // namespace baton
