#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/field_value.hpp"
#include "config/result.hpp"
#include "storage/byte_view.hpp"
#include "transport/amqp091/wire.hpp"

/// Field tables (AMQP 0-9-1 §4.2.5.5) with RabbitMQ's types, one letter each:
///
///   letter  value                        letter  value
///   t       bool, 1 octet                f d     float, double
///   b B     8 bits, signed, unsigned     D       decimal: scale (1), value (4)
///   s u     16 bits, likewise            T       timestamp: seconds (8)
///   I i     32 bits, likewise            S x     text, bytes: length (4), octets
///   l L     64 bits, both signed         A F     array, table: length (4), values or entries
///                                        V       void, nothing
///
/// An entry is a short string (its name), a letter and the value. "Entries" below are the bytes of
/// a table behind its length.
namespace baton::amqp091 {

/// A table still in its encoding: its entries, without the length in front of them.
struct table_view {
  byte_view entries;
};

/// One value still in its encoding.
struct encoded_value {
  char type = 'V';
  byte_view bytes;  ///< without the letter; of S, x, A and F without the length too

  /// The text of an S, or nothing.
  std::optional<std::string_view> text() const noexcept;
  /// The number of any integer type, or nothing.
  std::optional<std::int64_t> integer() const noexcept;
  /// The value of a t, or nothing.
  std::optional<bool> boolean() const noexcept;
};

/// Takes one value, letter first, off the reader. Looks at the outermost value only; fails the
/// reader when the bytes end early or the letter is unknown.
encoded_value read_value(reader& from) noexcept;

/// Whether the entries are well formed, nested ones too, to that depth.
bool is_valid_table(byte_view entries, int depth = max_table_depth) noexcept;

/// The first value of that name, found without decoding the others; nothing when there is none.
std::optional<encoded_value> find_in_table(byte_view entries, std::string_view name) noexcept;

/// Calls `each(name, encoded_value)` for every entry in order, up to the first malformed one.
template <class Each>
void for_each_entry(byte_view entries, Each&& each) {
  reader from{entries};
  while (from.left() > 0) {
    const auto name = from.short_string();
    const auto value = read_value(from);
    if (!from.ok()) return;
    each(name, value);
  }
}
/// The same for the values of an array.
template <class Each>
void for_each_element(byte_view elements, Each&& each) {
  reader from{elements};
  while (from.left() > 0) {
    const auto value = read_value(from);
    if (!from.ok()) return;
    each(value);
  }
}

result<field_value> decode_value(const encoded_value& value, int depth = max_table_depth);
/// The decoded table; order, repeated names and the width of integers are kept.
result<field_table> decode_table(byte_view entries, int depth = max_table_depth);

/// Appends the letter and the value.
void encode_value(output_buffer& out, const field_value& value);
/// Appends the length and the entries.
void encode_table(output_buffer& out, const field_table& table);

/// RabbitMQ's name of the value's type, as its error texts have it: `signedint`, `longstr`, ...
std::string_view type_name(const field_value& value) noexcept;
/// The bare value as RabbitMQ prints it: `1000`, `true`, `text`, `[{<<"key">>,longstr,<<"v">>}]`.
std::string value_text(const field_value& value);
/// As in RabbitMQ's 406 texts: `the value '1000' of type 'signedint'`.
std::string describe(const field_value& value);

}  // namespace baton::amqp091
