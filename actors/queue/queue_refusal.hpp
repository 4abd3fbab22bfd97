#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "actors/topology/refusal.hpp"

namespace baton {

/// Why a queue does not do what it was asked.
enum class queue_refusal : std::uint8_t {
  in_exclusive_use,  ///< 403: a consumer is exclusive, or wants to be while others consume
  in_use,            ///< 406: if-unused, and it has consumers
  not_empty,         ///< 406: if-empty, and it has ready messages
  closed,            ///< 404: it is being deleted
};

/// The sentence that clients know, without the code's name in front:
/// `queue 'q2' in vhost '/' in exclusive use`.
std::string to_string(queue_refusal why, std::string_view queue, std::string_view vhost);

/// The same with its code, for whoever asked.
refusal refusal_of(queue_refusal why, std::string_view queue, std::string_view vhost);

}  // namespace baton
