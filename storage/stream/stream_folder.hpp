#pragma once

#include <cstdint>
#include <string>

namespace baton::stream_log {

/// The folder of a stream's log, in that of all streams: `data/streams/17`.
inline std::string stream_folder(const std::string& streams, std::uint64_t queue) {
  return streams + "/" + std::to_string(queue);
}

}  // namespace baton::stream_log
