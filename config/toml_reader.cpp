#include <algorithm>
#include <chrono>
#include <optional>

// The only file that includes toml++: it takes longer to compile than all others of this folder.
// toml++ 3.3 asserts (and, with NDEBUG, lets clang assume) about some texts what it then checks and
// reports all the same, `[[,a]]` for one. So its assertions mean nothing here, in any build.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_MAX_NESTED_VALUES 64
#define TOML_UNRELEASED_FEATURES 0
#include <toml++/toml.h>

#include "config/document.hpp"

namespace baton {
namespace {

/// The line of the first run of text that could be a key with more than `max_key_dots`.
std::optional<std::uint32_t> find_endless_key(std::string_view text) {
  std::uint32_t line = 1;
  int dots = 0;
  for (const char c : text) {
    if (c == '\n') ++line;
    if (c == '.' && ++dots > max_key_dots) return line;
    if (std::string_view{",={}[]\n"}.find(c) != std::string_view::npos) dots = 0;
  }
  return std::nullopt;
}

/// Copies toml++'s tree into ours.
class tree_copier {
public:
  explicit tree_copier(const std::string& source) : source_{source} {}

  document_table copy(const toml::table& table) {
    document_table entries;
    entries.reserve(table.size());
    for (const auto& [key, node] : table)
      entries.push_back({std::string{key.str()}, place_of(key.source()), copy(node)});
    // toml++ keeps its tables sorted by key; mistakes and arguments keep the order of the text.
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      return std::pair{a.where.line, a.where.column} < std::pair{b.where.line, b.where.column};
    });
    return entries;
  }

private:
  document_value copy(const toml::node& node) {
    document_value made{place_of(node.source()), {}};
    node.visit([&](const auto& value) {
      using type = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<type, toml::table>) {
        made.held = copy(value);
      } else if constexpr (std::is_same_v<type, toml::array>) {
        document_array elements;
        elements.reserve(value.size());
        for (const auto& element : value) elements.push_back(copy(element));
        made.held = std::move(elements);
      } else if constexpr (std::is_same_v<type, toml::value<toml::date_time>>) {
        set_timestamp(made, value->date, value->time, value->offset);
      } else if constexpr (std::is_same_v<type, toml::value<toml::date>>) {
        set_timestamp(made, value.get(), {}, {});
      } else if constexpr (std::is_same_v<type, toml::value<toml::time>>) {
        made.held = unusable{"a time of day"};
      } else {
        made.held = value.get();
      }
    });
    return made;
  }

  /// A date without an offset is taken as UTC.
  static void set_timestamp(document_value& made, const toml::date& date, const toml::time& time,
                            const std::optional<toml::time_offset>& offset) {
    using namespace std::chrono;
    const sys_days day = year{date.year} / month{date.month} / std::chrono::day{date.day};
    auto since_1970 = duration_cast<seconds>(day.time_since_epoch()) + hours{time.hour} +
                      minutes{time.minute} + seconds{time.second};
    if (offset) since_1970 -= minutes{offset->minutes};
    if (since_1970.count() < 0)
      made.held = unusable{"a date before 1970"};
    else
      made.held = timestamp_value{static_cast<std::uint64_t>(since_1970.count())};
  }

  place place_of(const toml::source_region& region) const {
    return {source_, region.begin.line, region.begin.column};
  }

  const std::string& source_;
};

}  // namespace

result<document_table, mistake> parse_toml(std::string_view text, const std::string& source) {
  if (const auto line = find_endless_key(text))
    return failure{mistake{{source, *line, 1},
                           "expected a key of at most " + std::to_string(max_key_dots) + " dots"}};
  const toml::parse_result parsed = toml::parse(text);
  if (parsed) return tree_copier{source}.copy(parsed.table());
  const auto& why = parsed.error();
  const auto at = why.source().begin;
  return failure{mistake{{source, at.line, at.column}, std::string{why.description()}}};
}

}  // namespace baton
