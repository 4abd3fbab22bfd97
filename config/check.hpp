#pragma once

#include <stdexcept>
#include <string>

namespace baton {

/// One of our own invariants does not hold. Caught at the actor's boundary: that actor ends, the
/// node lives. Never thrown for what a peer, a client or a disk does.
class broken_invariant : public std::logic_error {
public:
  using std::logic_error::logic_error;
};

/// Throws `broken_invariant` with the place and the sentence that turned out false.
[[noreturn]] inline void fail_check(const char* file, int line, const char* sentence) {
  throw broken_invariant{std::string{file} + ":" + std::to_string(line) + ": " + sentence};
}

}  // namespace baton

/// States an invariant; costs one predictable branch, in every build.
#define BATON_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::baton::fail_check(__FILE__, __LINE__, #condition))
