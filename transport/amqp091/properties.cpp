#include "transport/amqp091/properties.hpp"

#include <bit>
namespace baton::amqp091 {

namespace {

constexpr std::uint16_t continuation_flag = 1;

/// Calls `use(property)` for each flag that is set, in the order of the wire. Bit 1 means nothing.
template <class Use>
void for_each_present(std::uint16_t flags, Use&& use) {
  for (unsigned left = flags & ~3u; left != 0;) {
    const int bit = std::bit_width(left) - 1;
    left ^= 1u << bit;
    use(static_cast<property>(bit));
  }
}

/// Calls `use(property, member)` for all properties in the order of the wire.
template <class Properties, class Use>
void for_each_property(Properties& properties, Use&& use) {
  use(property::content_type, properties.content_type);
  use(property::content_encoding, properties.content_encoding);
  use(property::headers, properties.headers);
  use(property::delivery_mode, properties.delivery_mode);
  use(property::priority, properties.priority);
  use(property::correlation_id, properties.correlation_id);
  use(property::reply_to, properties.reply_to);
  use(property::expiration, properties.expiration);
  use(property::message_id, properties.message_id);
  use(property::timestamp, properties.timestamp);
  use(property::type, properties.type);
  use(property::user_id, properties.user_id);
  use(property::app_id, properties.app_id);
  use(property::cluster_id, properties.cluster_id);
}

struct property_writer {
  output_buffer& out;

  void put(std::string_view text) { out.append_short_string(text); }
  void put(std::uint8_t number) { out.append_number(number); }
  void put(std::uint64_t number) { out.append_number(number); }
  void put(table_view table) { out.append_long_string(table.entries); }
};

}  // namespace

bool are_valid_properties(byte_view encoded) noexcept {
  if (encoded.size() == 2 && encoded[0] == 0 && encoded[1] == 0) return true;
  reader from{encoded};
  const auto flags = from.u16();
  if ((flags & continuation_flag) != 0) return false;
  for_each_present(flags, [&](property which) {
    switch (which) {
      case property::delivery_mode:
      case property::priority:
        from.u8();
        break;
      case property::timestamp:
        from.u64();
        break;
      case property::headers:
        if (!is_valid_table(from.long_string())) from.fail();
        break;
      default:
        from.short_string();
        break;
    }
  });
  return from.at_end();
}

namespace {

/// Everything but the form of the headers is checked.
basic_properties read_properties(reader& from) noexcept {
  basic_properties properties;
  properties.flags = from.u16();
  if ((properties.flags & continuation_flag) != 0) from.fail();
  for_each_present(properties.flags, [&](property which) {
    switch (which) {
      case property::content_type:
        properties.content_type = from.short_string();
        break;
      case property::content_encoding:
        properties.content_encoding = from.short_string();
        break;
      case property::headers:
        properties.headers.entries = from.long_string();
        break;
      case property::delivery_mode:
        properties.delivery_mode = from.u8();
        break;
      case property::priority:
        properties.priority = from.u8();
        break;
      case property::correlation_id:
        properties.correlation_id = from.short_string();
        break;
      case property::reply_to:
        properties.reply_to = from.short_string();
        break;
      case property::expiration:
        properties.expiration = from.short_string();
        break;
      case property::message_id:
        properties.message_id = from.short_string();
        break;
      case property::timestamp:
        properties.timestamp = from.u64();
        break;
      case property::type:
        properties.type = from.short_string();
        break;
      case property::user_id:
        properties.user_id = from.short_string();
        break;
      case property::app_id:
        properties.app_id = from.short_string();
        break;
      case property::cluster_id:
        properties.cluster_id = from.short_string();
        break;
    }
  });
  return properties;
}

}  // namespace

std::optional<basic_properties> decode_properties(byte_view encoded) noexcept {
  reader from{encoded};
  const auto properties = read_properties(from);
  if (!from.at_end() || !is_valid_table(properties.headers.entries)) return std::nullopt;
  return properties;
}

basic_properties decode_checked_properties(byte_view encoded) noexcept {
  reader from{encoded};
  return read_properties(from);
}

void encode_properties(output_buffer& out, const basic_properties& properties) {
  out.append_number(properties.flags);
  for_each_property(properties, [&](property which, const auto& member) {
    if (properties.has(which)) property_writer{out}.put(member);
  });
}

properties_editor::properties_editor(byte_view encoded)
    : fields_{decode_checked_properties(encoded)} {}

void properties_editor::set_header(std::string_view name, const field_value& value) {
  output_buffer changed;
  bool found = false;
  const auto put = [&] {
    changed.append_short_string(name);
    encode_value(changed, value);
    found = true;
  };
  reader from{entries()};
  while (from.left() > 0) {
    const auto* const start = from.cursor();
    const auto key = from.short_string();
    read_value(from);
    if (key != name)
      changed.append({start, from.cursor()});
    else if (!found)
      put();
  }
  if (!found) put();
  replace_entries(std::move(changed));
}

void properties_editor::add_headers(const field_table& headers) {
  output_buffer changed;
  changed.append(entries());
  for (const auto& [name, value] : headers) {
    changed.append_short_string(name);
    encode_value(changed, value);
  }
  replace_entries(std::move(changed));
}

void properties_editor::remove_header(std::string_view name) {
  if (!fields_.header(name)) return;
  output_buffer changed;
  reader from{entries()};
  while (from.left() > 0) {
    const auto* const start = from.cursor();
    const auto key = from.short_string();
    read_value(from);
    if (key != name) changed.append({start, from.cursor()});
  }
  replace_entries(std::move(changed));
}

void properties_editor::replace_entries(output_buffer&& entries) noexcept {
  entries_ = std::move(entries);
  fields_.headers.entries = entries_.view();
  fields_.mark(property::headers);
}

}  // namespace baton::amqp091
