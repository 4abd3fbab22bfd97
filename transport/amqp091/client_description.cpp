#include "transport/amqp091/client_description.hpp"

#include "transport/amqp091/field_table.hpp"

namespace baton::amqp091 {

client_description::client_description(byte_view client_properties)
    : encoded_{as_text(client_properties)} {
  const auto table = find_in_table(client_properties, "capabilities");
  if (!table || table->type != 'F') return;
  const auto has = [&](std::string_view name) {
    const auto value = find_in_table(table->bytes, name);
    return value && value->boolean().value_or(false);
  };
  capabilities_ = {.consumer_cancel_notify = has("consumer_cancel_notify"),
                   .connection_blocked = has("connection.blocked"),
                   .authentication_failure_close = has("authentication_failure_close"),
                   .basic_nack = has("basic.nack"),
                   .publisher_confirms = has("publisher_confirms")};
}

std::string client_description::connection_name() const {
  const auto name = find_in_table(as_bytes(encoded_), "connection_name");
  return std::string{name ? name->text().value_or("") : std::string_view{}};
}

field_table client_description::properties() const {
  auto table = decode_table(as_bytes(encoded_));
  return table ? std::move(*table) : field_table{};
}

}  // namespace baton::amqp091
