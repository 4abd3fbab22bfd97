#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace baton {

/// How many letters must be added, removed, replaced or swapped with their neighbour to make one
/// word of the other; words that are longer than 64 letters are cut there.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word that was probably meant: the nearest one, if no more than a third of its letters
/// (and always up to two) are wrong. The first of several.
std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& known);

}  // namespace baton
