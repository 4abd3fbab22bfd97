#pragma once

#include <string>
#include <string_view>

#include "tests/simulation/client.hpp"

/// What a client calls things, and what it notes of its doings for whoever reads a failed run.
namespace baton::simulation {

inline constexpr std::string_view fanout = "amq.fanout";
inline constexpr std::string_view fanout_key = "all";

inline std::string queue_name(std::size_t queue) { return "q" + std::to_string(queue); }

/// Of a channel's own exchange.
inline std::string exchange_name(std::uint32_t number) { return "x" + std::to_string(number); }

inline std::string tag_of(std::uint32_t consumer) { return "c" + std::to_string(consumer); }

/// What fills the body of a message behind its number.
inline std::uint8_t filler(model::message_id id, std::size_t at) {
  return static_cast<std::uint8_t>(id * 31 + at);
}

inline std::string text_of(std::string_view text) { return std::string{text}; }
inline std::string text_of(std::uint64_t number) { return std::to_string(number); }

template <class... Parts>
void client::note(const Parts&... parts) {
  if (where_.note) where_.note(name_ + ": " + (text_of(parts) + ...));
}

}  // namespace baton::simulation
