#include "cli/perf/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace baton::perf {
namespace {

std::string printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string three_digits(double value) {
  const double size = std::abs(value);
  return printed(size >= 100              ? "%.0f"
                 : size >= 10             ? "%.1f"
                 : size >= 1 || size == 0 ? "%.2f"
                                          : "%.3f",
                 value);
}

std::string grouped(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace

std::string number_text(double value) {
  return std::abs(value) < 999.5 ? three_digits(value) : grouped(printed("%.0f", value));
}

std::string duration_text(std::uint64_t ns) {
  const auto value = static_cast<double>(ns);
  if (value < 1e3) return std::to_string(ns) + " ns";
  if (value < 1e6) return three_digits(value / 1e3) + " us";
  if (value < 1e9) return three_digits(value / 1e6) + " ms";
  return three_digits(value / 1e9) + " s";
}

std::string json_string(std::string_view text) {
  std::string out{'"'};
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out += '"';
}

void report::add(std::string_view name, double value) {
  const std::string json = std::isfinite(value) ? printed("%.6g", value) : "null";
  const bool large = std::isfinite(value) && std::abs(value) >= 1e5;  // no exponents
  entries_.push_back(
      {std::string{name}, number_text(value), large ? printed("%.0f", value) : json});
}

void report::add(std::string_view name, std::uint64_t value) {
  entries_.push_back({std::string{name}, grouped(std::to_string(value)), std::to_string(value)});
}

void report::add(std::string_view name, std::string_view value) {
  entries_.push_back({std::string{name}, std::string{value}, json_string(value)});
}

void report::add_flag(std::string_view name, bool value) {
  const char* word = value ? "true" : "false";
  entries_.push_back({std::string{name}, word, word});
}

std::string report::as_table() const {
  std::size_t width = 0;
  for (const auto& each : entries_) width = std::max(width, each.name.size());
  std::string table;
  for (const auto& each : entries_) {
    std::string label = each.name;
    std::replace(label.begin(), label.end(), '_', ' ');
    table += label + std::string(width + 2 - label.size(), ' ') + each.shown + "\n";
  }
  return table;
}

std::string report::as_json() const {
  std::string object{'{'};
  for (const auto& each : entries_)
    object += (object.size() > 1 ? ", " : "") + json_string(each.name) + ": " + each.json;
  return object += "}\n";
}

}  // namespace baton::perf
