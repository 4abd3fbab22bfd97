#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/key.hpp"
#include "config/settings.hpp"

namespace baton {

/// The whole configuration: its sections, their keys.
template <>
const std::vector<key<settings>>& keys_of<settings>();

/// The dotted name of a key in any section, or "": for one that was written in the wrong place.
std::string find_elsewhere(std::string_view name);

}  // namespace baton
