#include "actors/topology/exchange.hpp"

#include <utility>

namespace baton {

std::string_view to_string(exchange_type type) {
  switch (type) {
    case exchange_type::direct:
      return "direct";
    case exchange_type::fanout:
      return "fanout";
    case exchange_type::topic:
      return "topic";
    case exchange_type::headers:
      return "headers";
  }
  return "direct";
}

std::optional<exchange_type> parse_exchange_type(std::string_view name) {
  for (auto type :
       {exchange_type::direct, exchange_type::fanout, exchange_type::topic, exchange_type::headers})
    if (name == to_string(type)) return type;
  return std::nullopt;
}

void direct_index::add(const binding& of) {
  destination_set* present = by_key_.edit(of.key);
  if (present == nullptr) {
    by_key_.set(of.key, {});
    present = by_key_.edit(of.key);
  }
  present->add(of.to);
}

void direct_index::remove(const binding& of) {
  destination_set* present = by_key_.edit(of.key);
  if (present == nullptr) return;
  present->remove(of.to);
  if (present->empty()) by_key_.erase(of.key);
}

exchange::exchange(shared<exchange_definition> definition, std::uint64_t revision)
    : definition_{std::move(definition)}, revision_{revision} {
  switch (definition_->type) {
    case exchange_type::direct:
      break;
    case exchange_type::fanout:
      index_.emplace<destination_set>();
      break;
    case exchange_type::topic:
      index_.emplace<topic_index>();
      break;
    case exchange_type::headers:
      index_.emplace<headers_index>();
      break;
  }
}

void exchange::add(const binding& of, std::uint64_t revision) {
  revision_ = revision;
  if (auto* direct = std::get_if<direct_index>(&index_)) direct->add(of);
  if (auto* fanout = std::get_if<destination_set>(&index_)) fanout->add(of.to);
  if (auto* topic = std::get_if<topic_index>(&index_)) topic->add(of.key, of.to);
  if (auto* headers = std::get_if<headers_index>(&index_)) headers->add(of);
}

void exchange::remove(const binding& of, std::uint64_t revision) {
  revision_ = revision;
  if (auto* direct = std::get_if<direct_index>(&index_)) direct->remove(of);
  if (auto* fanout = std::get_if<destination_set>(&index_)) fanout->remove(of.to);
  if (auto* topic = std::get_if<topic_index>(&index_)) topic->remove(of.key, of.to);
  if (auto* headers = std::get_if<headers_index>(&index_)) headers->remove(of);
}

void exchange::match_key(std::string_view key, route_matches& out) const {
  if (const auto* direct = std::get_if<direct_index>(&index_)) direct->match(key, out.sets);
  if (const auto* topic = std::get_if<topic_index>(&index_)) topic->match(key, out.work, out.sets);
  if (const auto* fanout = std::get_if<destination_set>(&index_))
    if (!fanout->empty()) out.sets.push_back(fanout);
}

void exchange::match_headers(const field_table& headers, route_matches& out) const {
  if (const auto* index = std::get_if<headers_index>(&index_)) index->match(headers, out.singles);
}

}  // namespace baton
