#pragma once

#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace baton::log {

/// Opens the log as configured: standard error or a file. Until then, and after `close()`, lines go
/// to standard error from level warning on. Throws std::runtime_error if the file cannot be opened.
void open(const logging_settings& settings);

/// Writes out what waits.
void close();

/// Writes one line, if its level is wanted and lines of its kind do not repeat too often. `kind`
/// names the place in the code ("login refused"), not the event. Never blocks its caller: a thread
/// of the log's own writes, and when lines come faster than it can, the oldest are lost.
void write(log_level level, std::string_view kind, std::string_view text);

/// Whether a line of that level would be written: ask before building an expensive one.
bool wants(log_level level) noexcept;

inline void info(std::string_view kind, std::string_view text) {
  write(log_level::info, kind, text);
}
inline void warning(std::string_view kind, std::string_view text) {
  write(log_level::warning, kind, text);
}
inline void error(std::string_view kind, std::string_view text) {
  write(log_level::error, kind, text);
}

}  // namespace baton::log
