#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "actors/topology/refusal.hpp"

namespace baton {

/// What a client consumes, and puts into reply-to, to get replies without a queue.
inline constexpr std::string_view direct_reply_queue = "amq.rabbitmq.reply-to";
/// Such replies are published to names that begin so.
inline constexpr std::string_view direct_reply_prefix = "amq.rabbitmq.reply-to.";

/// Names as declares and bindings take them: without carriage returns and line feeds.
std::string stripped(std::string name);

/// Nothing, or 403 for a name that begins with `amq.`: those are the node's to give; or 406 for one
/// that is longer than AMQP 0-9-1 can say. `kind`: "queue" or "exchange".
std::optional<refusal> check_new_name(std::string_view kind, std::string_view name);

/// `amq.gen-` and 22 characters of URL-safe base64.
std::string generated_queue_name(const std::array<std::uint8_t, 16>& random);

/// 403 for whatever would change the default exchange.
refusal default_exchange_refusal();

}  // namespace baton
