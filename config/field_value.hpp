#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace baton {

/// Tables and arrays within each other, in headers and arguments. Fixed, so that what one node has
/// taken every other one can pass on.
inline constexpr int max_table_depth = 32;

struct field_value;

/// Named values in the order in which they were given; names may repeat, the first one counts.
/// Declarations, bindings and message headers all carry these.
using field_table = std::vector<std::pair<std::string, field_value>>;
using field_array = std::vector<field_value>;

/// Integers keep the width and sign that they came with; the letters are AMQP 0-9-1's as RabbitMQ
/// writes them.
enum class integer_width : char {
  i8 = 'b',
  u8 = 'B',
  i16 = 's',
  u16 = 'u',
  i32 = 'I',
  u32 = 'i',
  i64 = 'l',
};
struct integer_value {
  std::int64_t value = 0;
  integer_width width = integer_width::i64;

  /// By value, whatever the width.
  friend bool operator==(integer_value a, integer_value b) { return a.value == b.value; }
};
struct decimal_value {  // value / 10^scale
  std::uint8_t scale = 0;
  std::int32_t value = 0;

  friend bool operator==(decimal_value, decimal_value) = default;
};
struct timestamp_value {  // seconds since 1970
  std::uint64_t seconds = 0;

  friend bool operator==(timestamp_value, timestamp_value) = default;
};
struct binary_value {
  std::string bytes;

  friend bool operator==(const binary_value&, const binary_value&) = default;
};
struct void_value {
  friend bool operator==(void_value, void_value) { return true; }
};

/// One argument or header: a decoded value of AMQP 0-9-1's field types. It compares by value
/// (integers of any width are equal when their numbers are); a string is never equal to a number.
struct field_value {
  using variant =
      std::variant<void_value, bool, integer_value, float, double, decimal_value, timestamp_value,
                   std::string, binary_value, field_array, field_table>;
  variant held;

  field_value() noexcept;
  field_value(variant value);
  field_value(const field_value&);
  field_value(field_value&&) noexcept;
  field_value& operator=(const field_value&);
  field_value& operator=(field_value&&) noexcept;
  ~field_value();

  /// The value if it is a T, or nullptr.
  template <class T>
  const T* get() const noexcept;
  friend bool operator==(const field_value& a, const field_value& b);
};

// Defined here, where the tables within a value are complete types: clang 14 insists on it.
inline field_value::field_value() noexcept = default;
inline field_value::field_value(variant value) : held{std::move(value)} {}
inline field_value::field_value(const field_value&) = default;
inline field_value::field_value(field_value&&) noexcept = default;
inline field_value& field_value::operator=(const field_value&) = default;
inline field_value& field_value::operator=(field_value&&) noexcept = default;
inline field_value::~field_value() = default;

template <class T>
const T* field_value::get() const noexcept {
  return std::get_if<T>(&held);
}
inline bool operator==(const field_value& a, const field_value& b) { return a.held == b.held; }

/// The first value of that name, or nullptr.
inline const field_value* find_field(const field_table& table, std::string_view name) {
  for (const auto& [key, value] : table)
    if (key == name) return &value;
  return nullptr;
}

}  // namespace baton
