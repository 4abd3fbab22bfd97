#include "actors/topology/route_cache.hpp"

#include <algorithm>
#include <utility>

namespace baton {

namespace {

constexpr std::size_t first_routes = 64;  // a loop without publishers keeps no large table
constexpr std::size_t met_places = 4096;

}  // namespace

bool route_cache::wanted(std::uint64_t hash, std::size_t queues) noexcept {
  if (queues > max_queues_of_a_route) return false;
  if (met_.empty()) met_.resize(met_places);
  const auto rest = static_cast<std::uint32_t>(hash >> 32);
  return std::exchange(met_[hash >> 4 & (met_places - 1)], rest) == rest;
}

void route_cache::store(std::uint64_t hash, vhost_id vhost, std::string_view exchange,
                        std::string_view key, std::span<const queue_entry* const> queues,
                        std::vector<route_dependency> dependencies, std::uint64_t version) {
  const std::size_t place = place_for(hash, vhost, exchange, key);
  forget(place);
  if (queues_ + queues.size() > max_queues)
    for (std::size_t each = 0; each < routes_.size(); ++each) forget(each);

  cached_route& route = routes_[place];
  route.vhost_ = vhost;
  route.exchange_bytes_ = static_cast<std::uint32_t>(exchange.size());
  route.names_.assign(exchange).append(key);
  route.dependencies_ = std::move(dependencies);
  route.checked_at = version;
  route.count_ = static_cast<std::uint32_t>(queues.size());
  if (queues.size() > route.few_.size())
    route.many_ = std::make_unique<const queue_entry*[]>(queues.size());
  std::copy(queues.begin(), queues.end(), route.many_ ? route.many_.get() : route.few_.data());
  hashes_[place] = hash;
  queues_ += queues.size();
}

std::size_t route_cache::place_for(std::uint64_t hash, vhost_id vhost, std::string_view exchange,
                                   std::string_view key) {
  if (hashes_.empty()) grow();
  if (const cached_route* present = find(hash, vhost, exchange, key))
    return static_cast<std::size_t>(present - routes_.data());
  while (true) {
    const auto set = hashes_.begin() + static_cast<std::ptrdiff_t>(set_of(hash));
    const auto place = std::find(set, set + ways, 0);
    if (place != set + ways) return static_cast<std::size_t>(place - hashes_.begin());
    if (hashes_.size() == max_routes) break;
    grow();
  }
  // A route that was not looked at under the latest versions is least likely to be in use.
  const std::size_t set = set_of(hash);
  std::size_t victim = set + next_victim_++ % ways;
  for (std::size_t each = set; each < set + ways; ++each)
    if (routes_[each].checked_at < routes_[victim].checked_at) victim = each;
  return victim;
}

void route_cache::grow() {
  std::vector<std::uint64_t> hashes(hashes_.empty() ? first_routes : hashes_.size() * 2);
  std::vector<cached_route> routes(hashes.size());
  hashes.swap(hashes_);
  routes.swap(routes_);
  // A set splits into two, so each route finds a place.
  for (std::size_t each = 0; each < hashes.size(); ++each) {
    if (hashes[each] == 0) continue;
    std::size_t place = set_of(hashes[each]);
    while (hashes_[place] != 0) ++place;
    hashes_[place] = hashes[each];
    routes_[place] = std::move(routes[each]);
  }
}

void route_cache::forget(std::size_t place) noexcept {
  if (hashes_[place] == 0) return;
  queues_ -= routes_[place].count_;
  hashes_[place] = 0;
  routes_[place] = cached_route{};
}

}  // namespace baton
