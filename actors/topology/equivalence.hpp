#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "actors/topology/entities.hpp"
#include "actors/topology/refusal.hpp"

namespace baton {

/// What exchange.declare asks for.
struct exchange_declaration {
  vhost_id vhost;
  std::string name;
  std::string type = "direct";
  bool passive = false;
  bool durable = false;
  bool auto_delete = false;
  bool internal = false;
  field_table arguments = {};
};

/// What queue.declare asks for.
struct queue_declaration {
  vhost_id vhost;
  std::string name;  ///< "": the node finds one
  bool passive = false;
  bool durable = false;
  bool exclusive = false;
  bool auto_delete = false;
  field_table arguments = {};
};

/// Nothing, or 405: the queue belongs to another connection.
std::optional<refusal> check_exclusive_access(const queue_entry& queue,
                                              std::optional<connection_id> asking);

/// Whether declaring it once more means the same queue; else the first difference, in this order:
/// owner (405), durable, auto_delete, then the known arguments (406). Integers are equal by value
/// whatever their width, and no x-queue-type is the same as "classic"; x-queue-mode is not
/// compared, and durable is not where both are exclusive. `owner`: the asking connection, if it
/// asks for an exclusive queue.
std::optional<refusal> check_equivalence(const queue_entry& present, const queue_declaration& asked,
                                         std::optional<connection_id> owner);

/// The same for exchanges: type, durable, auto_delete, internal, alternate-exchange (406).
std::optional<refusal> check_equivalence(const exchange_definition& present,
                                         const exchange_declaration& asked, std::string_view vhost);

}  // namespace baton
