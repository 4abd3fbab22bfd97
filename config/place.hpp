#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace baton {

/// Where something was configured. For a person: `north.toml:12:3`, or `--set node.name`.
struct place {
  std::string source;        ///< path of the file as it was given, or `--set KEY`
  std::uint32_t line = 0;    ///< from 1; 0: the source as a whole
  std::uint32_t column = 0;  ///< from 1, in characters

  friend bool operator==(const place&, const place&) = default;
};

inline std::string to_string(const place& where) {
  if (where.line == 0) return where.source;
  return where.source + ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
}

/// One thing that is wrong with a configuration: where, what was found and what was expected.
struct mistake {
  place where;
  std::string text;

  friend bool operator==(const mistake&, const mistake&) = default;
};

inline std::string to_string(const mistake& wrong) {
  return to_string(wrong.where) + ": " + wrong.text;
}

/// Everything that is wrong, in the order of the sources and of the lines in them.
using mistakes = std::vector<mistake>;

}  // namespace baton
