#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// A column of a table for people: which member of each JSON object it shows, and above what.
struct column {
  std::string_view member;
  std::string_view title;
  bool is_size = false;  // a number of bytes, shown as "1 GiB", "23.5 KiB"
};

/// Prints a JSON array of objects as aligned columns, or one object as lines of name and value.
/// Numbers stand right, text left; what is missing stays empty. Texts of a list are parted by
/// commas.
void print_table(std::ostream& out, std::string_view json, const std::vector<column>& columns);

}  // namespace baton
