#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace baton {

/// A number above 0 and a unit, as `x-max-age` and offsets of streams have it: "7D" is seven days.
/// The units are Y (365 days), M (30 days), D, h, m and s. Nothing for any other text, and for more
/// than a thousand years.
std::optional<std::chrono::milliseconds> parse_age(std::string_view text);

}  // namespace baton
