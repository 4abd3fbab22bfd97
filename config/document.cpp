#include "config/document.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace baton {
namespace {

bool holds_tables(const document_array& array) {
  return std::all_of(array.begin(), array.end(), [](const document_value& element) {
    return element.get<document_table>() != nullptr;
  });
}

void merge_tables(document_table& into, document_table more, bool top, const std::string& path,
                  mistakes& found) {
  for (auto& entry : more) {
    auto* present = find_entry(into, entry.key);
    if (!present) {
      into.push_back(std::move(entry));
      continue;
    }
    const auto name = path + entry.key;
    auto* table = present->value.get<document_table>();
    auto* more_table = entry.value.get<document_table>();
    if (table && more_table) {
      merge_tables(*table, std::move(*more_table), false, name + ".", found);
      continue;
    }
    auto* array = present->value.get<document_array>();
    auto* more_array = entry.value.get<document_array>();
    if (top && array && more_array && holds_tables(*array) && holds_tables(*more_array)) {
      std::move(more_array->begin(), more_array->end(), std::back_inserter(*array));
      continue;
    }
    found.push_back({entry.where, name + ": set twice, first at " + to_string(present->where) +
                                      "; expected it in one of the files"});
  }
}

/// Takes the text up to the next dot off the front of `key`.
std::string_view take_step(std::string_view& key) {
  const auto dot = key.find('.');
  const auto step = key.substr(0, dot);
  key.remove_prefix(dot == std::string_view::npos ? key.size() : dot + 1);
  return step;
}

/// The element that `step` names, which may be the one after the last; else nullptr.
document_value* step_into(document_array& array, std::string_view step, const place& where) {
  std::size_t index = 0;
  const auto [end, failed] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (failed != std::errc{} || end != step.data() + step.size() || index > array.size())
    return nullptr;
  if (index == array.size()) array.push_back({where, document_table{}});
  return &array[index];
}

/// A step of digits makes what it steps into an array.
bool is_index(std::string_view step) {
  return !step.empty() &&
         std::all_of(step.begin(), step.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

document_entry* find_entry(document_table& table, std::string_view key) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const document_entry& entry) { return entry.key == key; });
  return found == table.end() ? nullptr : &*found;
}

const document_entry* find_entry(const document_table& table, std::string_view key) {
  return find_entry(const_cast<document_table&>(table), key);
}

document_value interpret(const unquoted& text, const place& where) {
  auto parsed = parse_toml("value = " + text.text, where.source);
  if (!parsed || parsed->size() != 1) return {where, text.text};
  return {where, std::move(parsed->front().value.held)};
}

std::string toml_string(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (made += '\\') += c;
    } else if (c == '\n') {
      made += "\\n";
    } else if (const auto byte = static_cast<unsigned char>(c); byte < 0x20 || byte == 0x7f) {
      ((made += "\\u00") += hex[byte >> 4]) += hex[byte & 15];
    } else {
      made += c;
    }
  }
  return made += '"';
}

std::string describe(const document_value& value) {
  constexpr std::size_t enough = 60;  // of a long string, so that the mistake stays one line
  struct {
    std::string operator()(const std::string& text) const {
      return text.size() <= enough ? toml_string(text)
                                   : toml_string(text.substr(0, enough)) + "...";
    }
    std::string operator()(const unquoted& text) const { return operator()(text.text); }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const {
      std::array<char, 32> digits;  // enough for the shortest writing of any double
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
      return {digits.data(), end};
    }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(timestamp_value) const { return "a date"; }
    std::string operator()(unusable value) const { return std::string{value.what}; }
    std::string operator()(const document_array&) const { return "an array"; }
    std::string operator()(const document_table&) const { return "a table"; }
  } words;
  return std::visit(words, value.held);
}

void merge(document_table& into, document_table more, mistakes& found) {
  merge_tables(into, std::move(more), true, "", found);
}

void set_key(document_table& document, std::string_view assignment, mistakes& found) {
  const auto equals = assignment.find('=');
  auto rest = assignment.substr(0, equals);
  const place where{"--set " + std::string{rest}, 0, 0};
  if (equals == std::string_view::npos || rest.empty() || rest.back() == '.') {
    found.push_back({where, "expected KEY=VALUE, such as node.name=north"});
    return;
  }
  if (std::count(rest.begin(), rest.end(), '.') > max_key_dots) {
    found.push_back(
        {{"--set", 0, 0}, "expected a KEY of at most " + std::to_string(max_key_dots) + " dots"});
    return;
  }
  // The document's own table is the first thing to step into.
  document_value* at = nullptr;
  std::string walked;
  while (!rest.empty()) {
    const auto step = take_step(rest);
    if (auto* array = at ? at->get<document_array>() : nullptr) {
      at = step_into(*array, step, where);
      if (!at) {
        found.push_back({where, walked + ": found " + toml_string(step) +
                                    ", expected a number from 0 to " +
                                    std::to_string(array->size())});
        return;
      }
    } else if (auto* table = at ? at->get<document_table>() : &document) {
      auto* entry = find_entry(*table, step);
      if (!entry) {
        document_value fresh{where, {}};
        if (is_index(rest.substr(0, rest.find('.'))))
          fresh.held = document_array{};
        else
          fresh.held = document_table{};
        table->push_back({std::string{step}, where, std::move(fresh)});
        entry = &table->back();
      }
      at = &entry->value;
      if (rest.empty()) entry->where = where;
    } else {
      found.push_back(
          {where, walked + " is " + describe(*at) + ", which has no " + toml_string(step)});
      return;
    }
    (walked += walked.empty() ? "" : ".") += step;
  }
  *at = {where, unquoted{std::string{assignment.substr(equals + 1)}}};
}

}  // namespace baton
