#pragma once

#include <filesystem>
#include <string>

#include "actors/management/json.hpp"
#include "config/result.hpp"

namespace baton {

/// Asks a running node through the control socket in its data folder; waits for the whole answer.
/// The answer is JSON text. It is empty when the node ended instead, which is how it answers
/// "stop".
result<std::string> ask_node(const std::filesystem::path& data_folder,
                             const json::control_request& asked);

}  // namespace baton
