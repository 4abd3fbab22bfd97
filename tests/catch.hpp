#pragma once

// Catch2, whichever of its two series the system has: 2.13 (Debian 12) or 3 (newer ones).
// Tests are written in the words of 3 and include nothing else of Catch2.

#if __has_include(<catch2/catch_test_macros.hpp>)

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

#else

#include <catch2/catch.hpp>

namespace Catch::Matchers {

/// Named as in Catch2 3, where `Contains` is for ranges.
inline auto ContainsSubstring(const std::string& part) { return Contains(part); }

}  // namespace Catch::Matchers

#endif
