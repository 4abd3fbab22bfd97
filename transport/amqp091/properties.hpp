#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "config/field_value.hpp"
#include "storage/byte_view.hpp"
#include "transport/amqp091/field_table.hpp"
#include "transport/amqp091/wire.hpp"

/// Basic properties. They stay in the encoding they arrived in, which is the content header's
/// payload from offset 12:
///
///   offset  size  meaning
///   0       2     flags, one for each property that is there; bit 0 would announce more flags,
///   which
///                 nobody uses and we refuse
///   2       -     the properties that are there, highest bit first
namespace baton::amqp091 {

/// The value is the bit in the flags.
enum class property : std::uint8_t {
  content_type = 15,
  content_encoding = 14,
  headers = 13,
  delivery_mode = 12,
  priority = 11,
  correlation_id = 10,
  reply_to = 9,
  expiration = 8,
  message_id = 7,
  timestamp = 6,
  type = 5,
  user_id = 4,
  app_id = 3,
  cluster_id = 2,
};

/// No properties at all, encoded.
inline constexpr std::uint8_t no_properties[2] = {0, 0};

/// Properties taken apart, in one pass; all views borrow. Absent ones are empty or 0. The flags are
/// those of the wire, so encoding an unchanged one gives the same bytes again.
struct basic_properties {
  std::uint16_t flags = 0;
  std::uint8_t delivery_mode = 0;
  std::uint8_t priority = 0;
  std::uint64_t timestamp = 0;
  table_view headers = {};
  std::string_view content_type = {};
  std::string_view content_encoding = {};
  std::string_view correlation_id = {};
  std::string_view reply_to = {};
  std::string_view expiration = {};
  std::string_view message_id = {};
  std::string_view type = {};
  std::string_view user_id = {};
  std::string_view app_id = {};
  std::string_view cluster_id = {};

  bool has(property which) const noexcept { return (flags >> static_cast<int>(which) & 1) != 0; }
  void mark(property which) noexcept {
    flags = static_cast<std::uint16_t>(flags | 1u << static_cast<int>(which));
  }
  /// Takes one out.
  void remove(property which) noexcept {
    flags = static_cast<std::uint16_t>(flags & ~(1u << static_cast<int>(which)));
  }
  /// The header of that name, still encoded.
  std::optional<encoded_value> header(std::string_view name) const noexcept {
    return has(property::headers) ? find_in_table(headers.entries, name) : std::nullopt;
  }
};

/// Nothing when they are malformed: cut short, with bytes left over, continued flags, or headers
/// that are not a valid table.
std::optional<basic_properties> decode_properties(byte_view encoded) noexcept;
/// The same for properties that were checked before, as those that the machines hand over: does not
/// look into the headers again.
basic_properties decode_checked_properties(byte_view encoded) noexcept;

/// Appends flags and properties.
void encode_properties(output_buffer& out, const basic_properties& properties);

/// Whether `decode_properties` would take them; nearly free for messages that have none.
bool are_valid_properties(byte_view encoded) noexcept;

/// Changes single properties and headers of a message; the bytes and the order of all others stay.
class properties_editor {
public:
  /// Borrows the encoding (which must be valid) until `finish`.
  explicit properties_editor(byte_view encoded);

  /// To set a property, assign it and `mark` it; headers are changed below only.
  basic_properties& fields() noexcept { return fields_; }
  void set_reply_to(std::string_view text) noexcept {
    fields_.reply_to = text;
    fields_.mark(property::reply_to);
  }
  void remove_expiration() noexcept { fields_.remove(property::expiration); }

  /// Replaces the header where it stands, or adds it at the end.
  void set_header(std::string_view name, const field_value& value);
  /// Adds headers at the end, whatever is there.
  void add_headers(const field_table& headers);
  /// Takes out every header of that name; headers that become empty stay, as an empty table.
  void remove_header(std::string_view name);

  /// Appends the encoding of what it has become.
  void finish(output_buffer& out) const { encode_properties(out, fields_); }

private:
  byte_view entries() const noexcept { return fields_.headers.entries; }
  void replace_entries(output_buffer&& entries) noexcept;

  basic_properties fields_;
  output_buffer entries_;  // of the headers, once they were changed
};

}  // namespace baton::amqp091
