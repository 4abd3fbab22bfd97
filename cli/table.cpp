#include "cli/table.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <iomanip>
#include <ostream>

namespace baton {

namespace {

namespace bj = boost::json;

struct cell {
  std::string text;
  bool is_number = false;
};

cell cell_of(const bj::object& row, std::string_view member) {
  const auto* value = row.if_contains(bj::string_view{member.data(), member.size()});
  if (value == nullptr || value->is_null()) return {};
  if (value->is_string()) return {std::string{value->as_string()}, false};
  if (value->is_bool()) return {value->as_bool() ? "yes" : "no", false};
  if (value->is_object() && value->as_object().empty()) return {};
  return {bj::serialize(*value), value->is_number()};
}

std::string printable(std::string text) {
  // Names come from clients: none of them may move a terminal's cursor.
  for (auto& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

}  // namespace

void print_table(std::ostream& out, std::string_view json, const std::vector<column>& columns) {
  auto parsed = bj::parse(bj::string_view{json.data(), json.size()});
  if (parsed.is_object()) {
    std::size_t width = 0;
    for (const auto& c : columns) width = std::max(width, c.title.size());
    for (const auto& c : columns)
      out << std::left << std::setw(static_cast<int>(width) + 2) << c.title
          << printable(cell_of(parsed.as_object(), c.member).text) << '\n';
    return;
  }

  std::vector<std::vector<cell>> rows;
  std::vector<std::size_t> widths;
  for (const auto& c : columns) widths.push_back(c.title.size());
  for (const auto& row : parsed.as_array()) {
    auto& cells = rows.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      auto made = cell_of(row.as_object(), columns[i].member);
      made.text = printable(std::move(made.text));
      widths[i] = std::max(widths[i], made.text.size());
      cells.push_back(std::move(made));
    }
  }
  auto print = [&](std::size_t i, const cell& c) {
    if (i > 0) out << "  ";
    // The last column is not padded: no line ends in blanks.
    auto last = i + 1 == columns.size() && !c.is_number;
    out << (c.is_number ? std::right : std::left)
        << std::setw(last ? 0 : static_cast<int>(widths[i])) << c.text;
  };
  for (std::size_t i = 0; i < columns.size(); ++i) print(i, {std::string{columns[i].title}, false});
  out << '\n';
  for (const auto& cells : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) print(i, cells[i]);
    out << '\n';
  }
}

}  // namespace baton
