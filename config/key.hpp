#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/document.hpp"
#include "config/field_value.hpp"
#include "config/nearest.hpp"
#include "config/units.hpp"

/// How a key is declared: once, as its name, the member that it sets, a sentence, and a rule. From
/// that it is loaded, checked, set with `--set`, and described in the reference. keys.cpp declares.
namespace baton {

/// What may be said about a value beyond its type; `text` completes "expected ...".
template <class T>
struct rule {
  std::string text;
  std::function<bool(const T&)> holds;
};

/// What the reference says about a key.
struct key_description {
  std::string name;
  std::string type;      // "size, 4KiB to 16MiB"
  std::string fallback;  // the default, as it is written in TOML; empty: none
  std::string text;
  bool required = false;
  std::vector<key_description> children;  // of a table, or of each of an array of tables
};

/// Reads values of one document, and collects all that is wrong with them.
class value_reader {
public:
  explicit value_reader(mistakes& found) : found_{found} {}

  // One for each type that a setting can have. What is wrong leaves `into` as it was.
  void read(const document_value& value, bool& into);
  void read(const document_value& value, std::string& into);
  void read(const document_value& value, std::filesystem::path& into);  // relative to the source
  void read(const document_value& value, std::uint16_t& into);
  void read(const document_value& value, std::uint32_t& into);
  void read(const document_value& value, byte_count& into);
  void read(const document_value& value, percent& into);
  void read(const document_value& value, std::chrono::milliseconds& into);
  void read(const document_value& value, std::chrono::seconds& into);
  void read(const document_value& value, std::vector<std::string>& into);
  void read(const document_value& value, field_table& into);
  template <class Enum>
  requires std::is_enum_v<Enum>
  void read(const document_value& value, Enum& into);
  template <class S>
  requires std::is_class_v<S>
  void read(const document_value& value, S& into);  // a table, by keys_of<S>()
  template <class S>
  void read(const document_value& value, std::vector<S>& into);  // an array of tables

  /// Adds "the.key: found this, expected that".
  void expected(const document_value& value, std::string_view what);
  void report(const place& where, std::string_view text);

private:
  template <class S>
  friend class key;

  void read_integer(const document_value& value, std::uint64_t max, std::uint64_t& into);
  field_value read_argument(const document_value& value, int depth);
  field_table read_arguments(const document_table& table, int depth);
  void report_unknown(const document_entry& entry, const std::vector<std::string_view>& known);

  mistakes& found_;
  std::string path_;  // dotted, of what is being read
};

// For the reference: what a type is called, and how a default is written.
std::string type_name(bool);
std::string type_name(const std::string&);
std::string type_name(const std::filesystem::path&);
std::string type_name(std::uint16_t);
std::string type_name(std::uint32_t);
std::string type_name(byte_count);
std::string type_name(percent);
std::string type_name(std::chrono::milliseconds);
std::string type_name(const std::vector<std::string>&);
std::string type_name(const field_table&);
std::string to_toml(bool value);
std::string to_toml(const std::string& value);
std::string to_toml(const std::filesystem::path& value);
std::string to_toml(std::uint16_t value);
std::string to_toml(std::uint32_t value);
std::string to_toml(byte_count value);
std::string to_toml(percent value);
std::string to_toml(std::chrono::milliseconds value);
std::string to_toml(const std::vector<std::string>& value);  // of defaults: empty
std::string to_toml(const field_table& value);               // likewise

/// The names of an enum's values; specialised for each in keys.cpp.
template <class Enum>
const std::vector<std::pair<std::string_view, Enum>>& names_of();

template <class S>
class key;

/// All keys of a struct, in the order of the reference; specialised for each in keys.cpp.
template <class S>
const std::vector<key<S>>& keys_of();

template <class S>
std::vector<key_description> describe_keys();

/// One key of the struct S.
template <class S>
class key {
public:
  template <class T>
  key(std::string_view name, T S::*member, std::string_view text, rule<T> limits = {});

  /// It must be there.
  key&& required() && {
    description_.required = true;
    description_.fallback.clear();
    return std::move(*this);
  }

  const std::string& name() const { return description_.name; }
  const key_description& description() const { return description_; }
  void read(const document_value& value, S& into, value_reader& reader) const {
    read_(value, into, reader);
  }

private:
  key_description description_;
  std::function<void(const document_value&, S&, value_reader&)> read_;
};

// ---- how it works

namespace detail {

template <class T>
inline constexpr bool is_tables = false;
template <class S>
inline constexpr bool is_tables<std::vector<S>> =
    std::is_class_v<S> && !std::is_same_v<S, std::string> && !std::is_same_v<S, field_value>;
template <>
inline constexpr bool is_tables<field_table> = false;

template <class T>
concept has_text = requires(const T& value) {
  type_name(value);
};

}  // namespace detail

template <class S>
template <class T>
key<S>::key(std::string_view name, T S::*member, std::string_view text, rule<T> limits) {
  description_.name = name;
  description_.text = text;
  const T fallback = S{}.*member;
  if constexpr (std::is_enum_v<T>) {
    for (const auto& [word, value] : names_of<T>()) {
      description_.type += (description_.type.empty() ? "" : ", ") + toml_string(word);
      if (value == fallback) description_.fallback = toml_string(word);
    }
  } else if constexpr (detail::has_text<T>) {
    description_.type = type_name(fallback);
    if (!limits.text.empty()) description_.type += ", " + limits.text;
    description_.fallback = to_toml(fallback);
  } else if constexpr (detail::is_tables<T>) {
    description_.type = "tables";
    description_.children = describe_keys<typename T::value_type>();
  } else {
    description_.type = "table";
    description_.children = describe_keys<T>();
  }
  read_ = [member, limits = std::move(limits)](const document_value& value, S& into,
                                               value_reader& reader) {
    const auto found_before = reader.found_.size();
    T read = into.*member;
    reader.read(value, read);
    if (reader.found_.size() == found_before && limits.holds && !limits.holds(read))
      reader.expected(value, limits.text);
    else
      into.*member = std::move(read);
  };
}

template <class S>
std::vector<key_description> describe_keys() {
  std::vector<key_description> described;
  for (const auto& each : keys_of<S>()) described.push_back(each.description());
  return described;
}

template <class Enum>
requires std::is_enum_v<Enum>
void value_reader::read(const document_value& value, Enum& into) {
  std::string words;
  for (const auto& [word, meant] : names_of<Enum>()) {
    const auto* text = value.get<std::string>();
    const auto* bare = value.get<unquoted>();
    if ((text && *text == word) || (bare && bare->text == word)) {
      into = meant;
      return;
    }
    words += (words.empty() ? "" : " or ") + toml_string(word);
  }
  expected(value, words);
}

template <class S>
requires std::is_class_v<S>
void value_reader::read(const document_value& value, S& into) {
  const auto* table = value.get<document_table>();
  if (!table) return expected(value, "a table, written [" + path_ + "]");
  if constexpr (requires { into.where; }) into.where = value.where;

  const auto path = path_;
  const auto prefix = path.empty() ? "" : path + ".";
  std::vector<std::string_view> known;
  for (const auto& each : keys_of<S>()) {
    known.push_back(each.name());
    const auto* entry = find_entry(*table, each.name());
    path_ = prefix + each.name();
    if (entry)
      each.read(entry->value, into, *this);
    else if (each.description().required)
      report(value.where, "missing, expected a " + each.description().type);
  }
  path_ = path;
  for (const auto& entry : *table)
    if (std::find(known.begin(), known.end(), entry.key) == known.end())
      report_unknown(entry, known);
}

template <class S>
void value_reader::read(const document_value& value, std::vector<S>& into) {
  const auto* array = value.get<document_array>();
  if (!array) return expected(value, "tables, each written [[" + path_ + "]]");
  into.clear();
  into.reserve(array->size());
  for (const auto& element : *array) read(element, into.emplace_back());
}

}  // namespace baton
