#pragma once

#include <filesystem>

namespace baton {

/// Where a node with this data folder answers `baton status` and its like: one line of JSON,
/// `{"request": "queues"}`, is answered by one line of JSON; what else it may hold is in
/// `json::control_request`. Whoever may open the socket's file may ask; there is no password.
inline std::filesystem::path control_socket_path(const std::filesystem::path& data_folder) {
  return data_folder / "control.sock";
}

/// A request line that is longer is refused.
inline constexpr std::size_t max_control_request_bytes = 4096;

}  // namespace baton
