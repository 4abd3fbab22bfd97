#pragma once

#include <string>
#include <string_view>

namespace baton {

/// `prefix` and 22 characters of URL-safe base64: 16 random bytes, which nobody guesses.
std::string generated_name(std::string_view prefix);

}  // namespace baton
