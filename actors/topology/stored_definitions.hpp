#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "actors/topology/entities.hpp"
#include "actors/topology/permissions.hpp"
#include "config/result.hpp"

/// What is durable in a topology, as bytes: what the journal's define records carry. The bytes are
/// drawn in README.md, "Definitions".
namespace baton {

/// One thing that survives a restart. The key says which, so that a later one with the same key
/// replaces it or takes it back; the value says the rest.
struct definition {
  std::string key;
  std::string value;

  friend bool operator==(const definition&, const definition&) = default;
};

/// Whether a definition of it is kept. The exchanges that every virtual host has are not: they come
/// with it. A binding is when both its ends are durable.
bool is_stored(const exchange_definition& exchange) noexcept;
bool is_stored(const queue_entry& queue) noexcept;
bool is_stored(const binding& of) noexcept;

definition encode_vhost(std::string_view name);
definition encode(std::string_view vhost, const exchange_definition& exchange);
definition encode(const queue_entry& queue);
definition encode(std::string_view vhost, const binding& of);

// The keys alone.
std::string stored_vhost_key(std::string_view name);
std::string stored_key(std::string_view vhost, const exchange_definition& exchange);
std::string stored_key(const queue_entry& queue);
std::string stored_key(std::string_view vhost, const binding& of);

// What a definition says, by names: what they name may be gone.

struct stored_vhost {
  std::string name;
};
struct stored_exchange {
  std::string vhost;
  std::string name;
  exchange_type type = exchange_type::direct;
  bool auto_delete = false;
  bool internal = false;
  field_table arguments;
};
struct stored_queue {
  std::string vhost;
  std::string name;
  queue_id id;
  bool auto_delete = false;
  field_table arguments;
};
struct stored_binding {
  std::string vhost;
  std::string source;
  resource_kind kind = resource_kind::queue;  ///< of the destination
  std::string destination;
  std::string routing_key;
  field_table arguments;
  std::uint64_t number = 0;  ///< in order of declaration
};
using stored_definition = std::variant<stored_vhost, stored_exchange, stored_queue, stored_binding>;

/// Takes a definition apart; trusts nothing. The error says which definition, and what is wrong.
result<stored_definition> decode(const definition& from);

/// What texts call it: `queue 'q' in vhost '/'`. Of a key that says nothing, its first bytes.
std::string describe_key(std::string_view key);

}  // namespace baton
