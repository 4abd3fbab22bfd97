#include "cli/table.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <iterator>
#include <ostream>

namespace baton {

namespace {

namespace bj = boost::json;

struct cell {
  std::string text;
  bool is_number = false;
};

/// "17 bytes", "1 GiB", "23.5 KiB": three digits are enough to read, --json has them all.
std::string size_text(double bytes) {
  const char* units[]{"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof text,
                unit == 0     ? "%.0f %s"
                : bytes < 100 ? "%.1f %s"
                              : "%.0f %s",
                bytes, units[unit]);
  return text;
}

cell cell_of(const bj::object& row, const column& shown) {
  const auto* value = row.if_contains(bj::string_view{shown.member.data(), shown.member.size()});
  if (value == nullptr || value->is_null()) return {};
  if (value->is_string()) return {std::string{value->as_string()}, false};
  if (value->is_bool()) return {value->as_bool() ? "yes" : "no", false};
  if (value->is_object() && value->as_object().empty()) return {};
  if (value->is_number() && shown.is_size) return {size_text(value->to_number<double>()), true};
  if (value->is_array()) {
    std::string all;
    for (const auto& each : value->as_array())
      all += (all.empty() ? "" : ", ") +
             (each.is_string() ? std::string{each.as_string()} : bj::serialize(each));
    return {all, false};
  }
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
    for (const auto& c : columns) {
      const auto text = printable(cell_of(parsed.as_object(), c).text);
      out << c.title;
      if (!text.empty()) out << std::string(width + 2 - c.title.size(), ' ') << text;
      out << '\n';
    }
    return;
  }

  std::vector<std::vector<cell>> lines(1);
  std::vector<std::size_t> widths;
  for (const auto& c : columns) {
    lines[0].push_back({std::string{c.title}});
    widths.push_back(c.title.size());
  }
  for (const auto& row : parsed.as_array()) {
    auto& cells = lines.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      auto made = cell_of(row.as_object(), columns[i]);
      made.text = printable(std::move(made.text));
      widths[i] = std::max(widths[i], made.text.size());
      lines[0][i].is_number |= made.is_number;  // a title stands as what is below it
      cells.push_back(std::move(made));
    }
  }
  for (const auto& cells : lines) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - cells[i].text.size(), ' ');
      if (i > 0) line += "  ";
      line += cells[i].is_number ? padding + cells[i].text : cells[i].text + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

}  // namespace baton
