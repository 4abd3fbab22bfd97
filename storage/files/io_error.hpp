#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/result.hpp"

namespace baton {

/// What can be asked of a file system, one for each system call: the words in which errors are
/// told, calls are counted and faults are ordered.
enum class file_operation : std::uint8_t {
  open,
  preallocate,
  write,
  read,
  sync,
  truncate,
  size,
  drop_pages,
  list,
  rename,
  remove,
  create_folder,
  sync_folder,
  lock,
  free_space,
};
inline constexpr std::size_t file_operations = 15;

/// For a person: `write`, `sync folder`.
std::string_view to_string(file_operation operation) noexcept;

/// Why a file system did not do what it was asked.
struct io_error {
  int code = 0;  // errno's value: ENOSPC, EIO, ENOENT, EWOULDBLOCK from `lock_folder`, ...
  file_operation operation = file_operation::open;
  std::string path;
  std::string detail;  // said in place of the code's own text, unless empty

  /// `write /var/lib/baton/journal/0007.segment: No space left on device`
  std::string text() const;
};

/// For `return`.
inline failure<io_error> io_failure(int code, file_operation operation, const std::string& path,
                                    const char* detail = "") {
  return {io_error{code, operation, path, detail}};
}

/// The detail of EWOULDBLOCK from `lock_folder`.
inline constexpr const char* folder_in_use = "the folder is in use already, by another process?";

template <class T>
using file_result = result<T, io_error>;

}  // namespace baton
