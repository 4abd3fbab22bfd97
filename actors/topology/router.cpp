#include "actors/topology/router.hpp"

namespace baton {

loop_view::loop_view(const topology_publication& publication)
    : publication_{publication}, snapshot_{publication.latest()} {}

void loop_view::take_latest() {
  snapshot_ = publication_.latest();
  vhost_ = nullptr;
  last_by_name_.known = false;
}

route_result loop_view::route(const route_request& asked) {
  if (asked.exchange.empty() && asked.more_keys.empty()) return route_by_name(asked);
  std::uint64_t hash = 0;
  cached_route* known = nullptr;
  const bool by_one_key = asked.more_keys.empty() && !asked.exchange.empty();
  if (by_one_key) {
    hash = route_cache::hash(asked.vhost, asked.exchange, asked.key);
    known = cache_.find(hash, asked.vhost, asked.exchange, asked.key);
    if (known != nullptr && known->checked_at == snapshot_->version)
      return {route_status::found, known->queues()};
  }

  const vhost* here = find_vhost(asked.vhost);
  if (here == nullptr) return {route_status::no_exchange, {}};
  if (known != nullptr && still_holds(*known, *here)) return {route_status::found, known->queues()};

  queues_.clear();
  seen_.clear();
  if (asked.exchange.empty()) {
    if (const queue_entry* queue = here->find_queue(asked.key)) add_queue(queue);
    for (std::string_view key : asked.more_keys)
      if (const queue_entry* queue = here->find_queue(key)) add_queue(queue);
    return {route_status::found, queues_};
  }

  const exchange* first = here->find_exchange(asked.exchange);
  if (first == nullptr) return {route_status::no_exchange, {}};
  if (first->definition().internal) return {route_status::internal, {}};
  dependencies_.clear();
  work_out(*here, *first, asked);
  if (cacheable_ && by_one_key && (known != nullptr || cache_.wanted(hash, queues_.size())))
    cache_.store(hash, asked.vhost, asked.exchange, asked.key, queues_, dependencies_,
                 snapshot_->version);
  return {route_status::found, queues_};
}

route_result loop_view::route_by_name(const route_request& asked) {
  auto& last = last_by_name_;
  if (!last.known || last.vhost != asked.vhost || last.key != asked.key) {
    const vhost* here = find_vhost(asked.vhost);
    if (here == nullptr) return {route_status::no_exchange, {}};
    last.known = true;
    last.vhost = asked.vhost;
    last.key.assign(asked.key);
    last.queue = here->find_queue(asked.key);
  }
  return {route_status::found, last.queues()};
}

bool loop_view::still_holds(cached_route& route, const vhost& here) const noexcept {
  for (const route_dependency& on : route.dependencies()) {
    const exchange* now = here.find_exchange(on.exchange);
    if ((now == nullptr ? 0 : now->revision()) != on.revision) return false;
  }
  route.checked_at = snapshot_->version;
  return true;
}

/// From exchange to exchange, each visited once, each with all keys. One that leads nowhere sends
/// the message to its alternate exchange; a destination that is an exchange counts as somewhere.
void loop_view::work_out(const vhost& here, const exchange& first, const route_request& asked) {
  cacheable_ = true;
  default_visited_ = false;
  to_visit_.clear();
  seen_.insert(destination_key(first.definition().id));
  to_visit_.push_back(&first);
  while (!to_visit_.empty()) {
    const exchange& at = *to_visit_.back();
    to_visit_.pop_back();
    dependencies_.push_back({at.definition().name, at.revision()});
    matches_.clear();
    if (at.routes_by_key()) {
      at.match_key(asked.key, matches_);
      for (std::string_view key : asked.more_keys) at.match_key(key, matches_);
    } else {
      static const field_table none;
      cacheable_ = false;
      at.match_headers(asked.headers == nullptr ? none : asked.headers->headers(), matches_);
    }
    for (const destination_set* set : matches_.sets)
      set->for_each([&](const destination& to) { follow(here, to); });
    for (const destination* to : matches_.singles) follow(here, *to);

    const auto& alternate = at.definition().alternate;
    if (!matches_.empty() || !alternate) continue;
    if (!alternate->empty()) {
      visit(here, *alternate);
    } else if (!default_visited_) {
      default_visited_ = true;
      cacheable_ = false;  // depends on which queues exist
      if (const queue_entry* queue = here.find_queue(asked.key)) add_queue(queue);
      for (std::string_view key : asked.more_keys)
        if (const queue_entry* queue = here.find_queue(key)) add_queue(queue);
    }
  }
}

void loop_view::follow(const vhost& here, const destination& to) {
  if (to.queue)
    add_queue(to.queue.get());
  else
    visit(here, to.exchange->name);
}

void loop_view::visit(const vhost& here, std::string_view name) {
  const exchange* next = here.find_exchange(name);
  if (next == nullptr)
    dependencies_.push_back({std::string{name}, 0});
  else if (seen_.insert(destination_key(next->definition().id)))
    to_visit_.push_back(next);
}

void loop_view::add_queue(const queue_entry* queue) {
  if (seen_.insert(destination_key(queue->id))) queues_.push_back(queue);
}

}  // namespace baton
