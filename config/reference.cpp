#include "config/reference.hpp"

#include <string_view>

#include "config/keys.hpp"

namespace baton {
namespace {

constexpr std::size_t width = 100;

constexpr std::string_view introduction =
    R"(# Every key of a node's configuration, with its default. Made by `baton reference`.
#
# Sizes are "64KiB", "10MB" or a number of bytes; durations "100ms", "10s", "5min", "2h" or "1d".
# Paths are relative to the file that they are in. An unknown key is an error. A folder of *.toml
# files is read in name order, as if it were one file; each key may be said once.
)";

/// `text` as comment lines.
void add_comment(std::string& to, std::string_view text) {
  to += '#';
  std::size_t column = 1;
  while (!text.empty()) {
    const auto space = text.find(' ');
    const auto word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (column + 1 + word.size() > width) {
      to += "\n#";
      column = 1;
    }
    (to += ' ') += word;
    column += 1 + word.size();
  }
  to += '\n';
}

void add_section(std::string& to, const key_description& section, const std::string& parent) {
  const auto path = parent + section.name;
  const bool repeated = section.type == "tables";
  to += '\n';
  add_comment(to, section.text);
  to += repeated ? "#[[" + path + "]]\n" : "[" + path + "]\n";
  for (const auto& key : section.children) {
    if (!key.children.empty()) {
      add_section(to, key, path + ".");
      continue;
    }
    to += '\n';
    add_comment(to, key.text + " (" + key.type + (key.required ? "; required)" : ")"));
    to += '#' + key.name + " =" + (key.fallback.empty() ? "" : " " + key.fallback) + '\n';
  }
}

}  // namespace

std::string reference() {
  std::string made{introduction};
  for (const auto& section : describe_keys<settings>()) add_section(made, section, "");
  return made;
}

}  // namespace baton
