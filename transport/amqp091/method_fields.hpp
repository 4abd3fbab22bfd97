#pragma once

#include <cstdint>
#include <string_view>

#include "storage/byte_view.hpp"
#include "transport/amqp091/field_table.hpp"

/// What the method structs are made of. A method names its members once, in `fields`, in the order
/// of the wire; encoding and decoding are both derived from that (methods.hpp):
///
///   member               on the wire
///   unsigned integers    big-endian
///   bool                 a bit; neighbouring ones share octets, lowest bit first
///   std::string_view     short string, must be UTF-8; inside any_bytes() it need not be
///   byte_view            long string
///   table_view           table
///
/// Views borrow from the bytes that were decoded.
namespace baton::amqp091::methods {

/// Class and method as one number, as they stand on the wire.
template <class Method>
inline constexpr std::uint32_t id_of = std::uint32_t{Method::class_id} << 16 | Method::method_id;

/// Marks a short string that may hold any bytes: routing keys, and names that only we wrote.
template <class Text>
struct any_bytes {
  Text& text;
  explicit any_bytes(Text& of) : text{of} {}
};

}  // namespace baton::amqp091::methods
