#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/topology/entities.hpp"
#include "actors/topology/permissions.hpp"

namespace baton {

// What exists, as plain values: for `baton status` and its like.

struct vhost_listing {
  std::string name;
  std::size_t exchanges = 0;
  std::size_t queues = 0;
  std::size_t bindings = 0;  ///< without those to the default exchange
};

struct exchange_listing {
  std::string vhost;
  std::string name;  ///< "" is the default exchange
  exchange_type type = exchange_type::direct;
  bool durable = true;
  bool auto_delete = false;
  bool internal = false;
  field_table arguments;
};

struct queue_listing {
  std::string vhost;
  shared<queue_entry> queue;
};

struct binding_listing {
  std::string vhost;
  std::string source;
  resource_kind kind = resource_kind::queue;  ///< of the destination
  std::string destination;
  std::string key;
  field_table arguments;
};

}  // namespace baton
