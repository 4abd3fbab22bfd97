#include "config/key.hpp"

#include <limits>

#include "config/keys.hpp"
#include "config/settings.hpp"

namespace baton {
namespace {

/// What `parse` makes of a string, or of a plain number where that is allowed.
template <class T>
void read_text(value_reader& reader, const document_value& value, bool plain_number, T& into,
               result<T> (*parse)(std::string_view)) {
  if (const auto* bare = value.get<unquoted>())
    return read_text(reader, interpret(*bare, value.where), plain_number, into, parse);
  std::string text;
  if (const auto* held = value.get<std::string>()) text = *held;
  if (const auto* number = value.get<std::int64_t>(); number && (plain_number || *number == 0))
    text = std::to_string(*number);
  auto parsed = parse(text);
  if (parsed)
    into = *parsed;
  else
    reader.report(value.where, "found " + describe(value) + ", " + parsed.reason().text);
}

}  // namespace

void value_reader::report(const place& where, std::string_view text) {
  // A place in a text does not say which key is there; `--set KEY` does.
  const bool named = where.line == 0 || path_.empty();
  found_.push_back({where, (named ? "" : path_ + ": ") + std::string{text}});
}

void value_reader::expected(const document_value& value, std::string_view what) {
  report(value.where, "found " + describe(value) + ", expected " + std::string{what});
}

void value_reader::report_unknown(const document_entry& entry,
                                  const std::vector<std::string_view>& known) {
  const auto prefix = path_.empty() ? "" : path_ + ".";
  std::string text = "unknown key " + prefix + entry.key;
  if (const auto meant = nearest(entry.key, known)) {
    text += "; did you mean " + prefix + std::string{*meant} + "?";
  } else if (const auto elsewhere = find_elsewhere(entry.key); !elsewhere.empty()) {
    text += "; did you mean " + elsewhere + "?";
  } else {
    text += "; expected one of";
    for (const auto& name : known) (text += name == known.front() ? " " : ", ") += name;
  }
  found_.push_back({entry.where, std::move(text)});
}

void value_reader::read(const document_value& value, bool& into) {
  if (const auto* bare = value.get<unquoted>()) return read(interpret(*bare, value.where), into);
  if (const auto* held = value.get<bool>())
    into = *held;
  else
    expected(value, "true or false");
}

void value_reader::read(const document_value& value, std::string& into) {
  if (const auto* bare = value.get<unquoted>()) {
    // A string needs no quotes here, and what looks like another type is a string all the same.
    const auto meant = interpret(*bare, value.where);
    const auto* text = meant.get<std::string>();
    into = text ? *text : bare->text;
  } else if (const auto* held = value.get<std::string>()) {
    into = *held;
  } else {
    expected(value, "a string");
  }
}

void value_reader::read(const document_value& value, std::filesystem::path& into) {
  std::string text;
  const auto found_before = found_.size();
  read(value, text);
  if (found_.size() != found_before) return;
  if (text.find('\0') != std::string::npos) return expected(value, "a path");
  into = text;
  const bool in_file = value.where.line != 0;  // what `--set` says is relative to where we are
  if (in_file && !text.empty() && into.is_relative())
    into = std::filesystem::path{value.where.source}.parent_path() / into;
}

void value_reader::read_integer(const document_value& value, std::uint64_t max,
                                std::uint64_t& into) {
  if (const auto* bare = value.get<unquoted>())
    return read_integer(interpret(*bare, value.where), max, into);
  const auto* held = value.get<std::int64_t>();
  if (held && *held >= 0 && static_cast<std::uint64_t>(*held) <= max)
    into = static_cast<std::uint64_t>(*held);
  else
    expected(value, "an integer from 0 to " + std::to_string(max));
}

void value_reader::read(const document_value& value, std::uint16_t& into) {
  std::uint64_t number = into;
  read_integer(value, std::numeric_limits<std::uint16_t>::max(), number);
  into = static_cast<std::uint16_t>(number);
}

void value_reader::read(const document_value& value, std::uint32_t& into) {
  std::uint64_t number = into;
  read_integer(value, std::numeric_limits<std::uint32_t>::max(), number);
  into = static_cast<std::uint32_t>(number);
}

void value_reader::read(const document_value& value, byte_count& into) {
  read_text(*this, value, true, into, parse_byte_count);
}

void value_reader::read(const document_value& value, percent& into) {
  read_text(*this, value, false, into, parse_percent);
}

void value_reader::read(const document_value& value, std::chrono::milliseconds& into) {
  read_text(*this, value, false, into, parse_duration);
}

void value_reader::read(const document_value& value, std::chrono::seconds& into) {
  std::chrono::milliseconds duration = into;
  read(value, duration);
  if (duration % std::chrono::seconds{1} != std::chrono::milliseconds{0})
    return expected(value, "whole seconds");
  into = std::chrono::duration_cast<std::chrono::seconds>(duration);
}

void value_reader::read(const document_value& value, std::vector<std::string>& into) {
  if (const auto* bare = value.get<unquoted>()) return read(interpret(*bare, value.where), into);
  const auto* array = value.get<document_array>();
  if (!array) return expected(value, "an array of strings");
  into.assign(array->size(), {});
  for (std::size_t i = 0; i < array->size(); ++i) read((*array)[i], into[i]);
}

void value_reader::read(const document_value& value, field_table& into) {
  if (const auto* bare = value.get<unquoted>()) return read(interpret(*bare, value.where), into);
  const auto* table = value.get<document_table>();
  if (!table) return expected(value, "a table, such as { x-max-length = 1000 }");
  into = read_arguments(*table, 1);
}

field_table value_reader::read_arguments(const document_table& table, int depth) {
  field_table made;
  made.reserve(table.size());
  for (const auto& entry : table) {
    if (entry.key.size() > max_name_bytes) {
      report(entry.where, "found a name of " + std::to_string(entry.key.size()) +
                              " bytes, expected at most " + std::to_string(max_name_bytes));
      continue;
    }
    made.emplace_back(entry.key, read_argument(entry.value, depth));
  }
  return made;
}

field_value value_reader::read_argument(const document_value& value, int depth) {
  if (depth > max_table_depth) {
    expected(value, "at most " + std::to_string(max_table_depth) + " tables within each other");
    return {};
  }
  if (const auto* bare = value.get<unquoted>())
    return read_argument(interpret(*bare, value.where), depth);
  if (const auto* number = value.get<std::int64_t>())
    return {integer_value{*number, integer_width::i64}};
  if (const auto* array = value.get<document_array>()) {
    field_array made;
    made.reserve(array->size());
    for (const auto& element : *array) made.push_back(read_argument(element, depth + 1));
    return {std::move(made)};
  }
  if (const auto* table = value.get<document_table>()) return {read_arguments(*table, depth + 1)};
  if (const auto* text = value.get<std::string>()) return {*text};
  if (const auto* number = value.get<double>()) return {*number};
  if (const auto* truth = value.get<bool>()) return {*truth};
  if (const auto* date = value.get<timestamp_value>()) return {*date};
  expected(value, "a date from 1970 on");
  return {};
}

std::string type_name(bool) { return "boolean"; }
std::string type_name(const std::string&) { return "string"; }
std::string type_name(const std::filesystem::path&) { return "path"; }
std::string type_name(std::uint16_t) { return "integer"; }
std::string type_name(std::uint32_t) { return "integer"; }
std::string type_name(byte_count) { return "size"; }
std::string type_name(percent) { return "percentage"; }
std::string type_name(std::chrono::milliseconds) { return "duration"; }
std::string type_name(const std::vector<std::string>&) { return "array of strings"; }
std::string type_name(const field_table&) { return "table of any values"; }

std::string to_toml(bool value) { return value ? "true" : "false"; }
std::string to_toml(const std::string& value) { return toml_string(value); }
std::string to_toml(const std::filesystem::path& value) { return toml_string(value.string()); }
std::string to_toml(std::uint16_t value) { return std::to_string(value); }
std::string to_toml(std::uint32_t value) { return std::to_string(value); }
std::string to_toml(byte_count value) { return toml_string(to_string(value)); }
std::string to_toml(percent value) { return toml_string(to_string(value)); }
std::string to_toml(std::chrono::milliseconds value) { return toml_string(to_string(value)); }
std::string to_toml(const std::vector<std::string>&) { return "[]"; }
std::string to_toml(const field_table&) { return "{}"; }

}  // namespace baton
