#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/field_value.hpp"
#include "config/place.hpp"
#include "config/result.hpp"

namespace baton {

struct document_entry;
struct document_value;

/// What TOML text says before anybody asks what it means, with the place of every key and value.
/// Files are merged, and `--set` is applied, in this form.
using document_table = std::vector<document_entry>;  // in the order of the text; keys are unique
using document_array = std::vector<document_value>;

/// The right side of a `--set`: any TOML value, or a string without its quotes.
struct unquoted {
  std::string text;
};

/// Without a bound, `a.a.a.a...` would be tables as deep as the text is long, which nothing
/// recursive survives. No sensible key has as many dots.
inline constexpr int max_key_dots = 255;

/// A value of TOML that Baton has no use for.
struct unusable {
  std::string_view what;  // "a time of day"
};

struct document_value {
  place where;
  std::variant<std::string, std::int64_t, double, bool, timestamp_value, unusable, unquoted,
               document_array, document_table>
      held;

  template <class T>
  T* get() noexcept {
    return std::get_if<T>(&held);
  }
  template <class T>
  const T* get() const noexcept {
    return std::get_if<T>(&held);
  }
};

struct document_entry {
  std::string key;
  place where;  // of the key
  document_value value;
};

/// Reads TOML 1.0. A syntax error, or a key that is set twice in the text, is the only mistake that
/// is found. `source` names the text in the places.
result<document_table, mistake> parse_toml(std::string_view text, const std::string& source);

/// What an unquoted value stands for: the TOML value that it reads as, else a string.
document_value interpret(const unquoted& text, const place& where);

/// The entry of that key, or nullptr.
document_entry* find_entry(document_table& table, std::string_view key);
const document_entry* find_entry(const document_table& table, std::string_view key);

/// The value for a person: `"a string"`, `5`, `a table`.
std::string describe(const document_value& value);

/// `text` as a TOML string; what cannot be printed is escaped.
std::string toml_string(std::string_view text);

/// Adds the entries of `more` to `into`: arrays of tables at the top are put together, tables are
/// merged, and anything else may be said once: a second time is a mistake that names both places.
void merge(document_table& into, document_table more, mistakes& found);

/// Applies `KEY=VALUE`, as given to `--set`. KEY is dotted; a number steps into an array, the one
/// after its last adds an element. Says nothing about what KEY means.
void set_key(document_table& document, std::string_view assignment, mistakes& found);

}  // namespace baton
