#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/topology/entities.hpp"
#include "actors/topology/queue_arguments.hpp"
#include "actors/topology/refusal.hpp"
#include "config/field_value.hpp"
#include "config/result.hpp"

namespace baton {

/// What a queue's arguments mean, or 406 with the first thing that is wrong with them, in the texts
/// of RabbitMQ: `invalid arg 'x-expires' for queue 'q' in vhost '/': {value_zero,0}`. Arguments
/// that are known for one type of queue are accepted for all; unknown ones are no matter here.
result<queue_arguments, refusal> parse_queue_arguments(const field_table& arguments,
                                                       std::string_view queue,
                                                       std::string_view vhost);

/// The exchange that an argument names (`x-dead-letter-exchange` of a queue, `alternate-exchange`
/// of an exchange), or 406 if it is no string. `owner` as in texts: `queue 'q' in vhost '/'`.
result<std::optional<std::string>, refusal> exchange_argument(const field_table& arguments,
                                                              std::string_view name,
                                                              std::string_view owner);

/// The arguments that Baton knows about, in the order in which a later declare is compared.
std::span<const std::string_view> known_queue_arguments();
std::span<const std::string_view> known_exchange_arguments();

/// An argument of a declare that Baton does not know.
struct unknown_argument {
  std::string name;
  std::string_view nearest;  ///< the known one that it looks like, or empty
};
std::vector<unknown_argument> unknown_arguments(const field_table& arguments,
                                                std::span<const std::string_view> known);

}  // namespace baton
