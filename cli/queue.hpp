#pragma once

#include <filesystem>
#include <iosfwd>

#include "actors/management/json.hpp"

namespace baton {

/// `baton queue purge|delete|peek`: asks the node whose data folder this is, and prints what it did
/// or what it showed: for people, or the JSON as it came. Returns the exit code: 1 where nothing
/// came of it.
int queue_command(const json::control_request& asked, const std::filesystem::path& data_folder,
                  bool as_json, std::ostream& out, std::ostream& err);

}  // namespace baton
