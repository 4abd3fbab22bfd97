#pragma once

#include <string>

namespace baton {

/// Every key with its type, range, default and meaning, as a TOML file in which each is commented
/// out: to read, and to copy from. Made from the declarations in keys.cpp.
std::string reference();

}  // namespace baton
