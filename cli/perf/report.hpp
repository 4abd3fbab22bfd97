#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton::perf {

/// The summary of a run: named figures in order, printed for people or for programs.
class report {
public:
  /// `name` is the JSON key: snake_case, with the unit at its end.
  void add(std::string_view name, double value);
  void add(std::string_view name, std::uint64_t value);
  void add(std::string_view name, std::string_view value);
  void add_flag(std::string_view name, bool value);

  /// One line a figure, aligned; numbers with thousands separators.
  std::string as_table() const;
  /// One object on one line.
  std::string as_json() const;

private:
  struct entry {
    std::string name;
    std::string shown;
    std::string json;
  };
  std::vector<entry> entries_;
};

/// 1234567.8 as "1,234,568"; below 1000 with three significant digits.
std::string number_text(double value);
/// Nanoseconds as "850 ns", "12.3 us", "4.56 ms" or "1.23 s".
std::string duration_text(std::uint64_t ns);
/// A JSON string literal.
std::string json_string(std::string_view text);

}  // namespace baton::perf
