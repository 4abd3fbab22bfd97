#include "storage/files/io_error.hpp"

#include <system_error>

namespace baton {

std::string_view to_string(file_operation operation) noexcept {
  switch (operation) {
    case file_operation::open:
      return "open";
    case file_operation::preallocate:
      return "preallocate";
    case file_operation::write:
      return "write";
    case file_operation::read:
      return "read";
    case file_operation::sync:
      return "sync";
    case file_operation::truncate:
      return "truncate";
    case file_operation::size:
      return "size of";
    case file_operation::drop_pages:
      return "drop pages of";
    case file_operation::list:
      return "list";
    case file_operation::rename:
      return "rename";
    case file_operation::remove:
      return "remove";
    case file_operation::create_folder:
      return "create folder";
    case file_operation::sync_folder:
      return "sync folder";
    case file_operation::lock:
      return "lock";
    case file_operation::free_space:
      return "free space at";
  }
  return "use";
}

std::string io_error::text() const {
  std::string said{to_string(operation)};
  said += " " + path + ": ";
  said += detail.empty() ? std::generic_category().message(code) : detail;
  return said;
}

}  // namespace baton
