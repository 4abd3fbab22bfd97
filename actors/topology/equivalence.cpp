#include "actors/topology/equivalence.hpp"

#include "actors/topology/arguments.hpp"
#include "transport/amqp091/field_table.hpp"

namespace baton {

namespace {

refusal inequivalent(std::string_view argument, std::string_view resource,
                     std::string_view received, std::string_view current) {
  return {refusal::precondition_failed, std::string{"inequivalent arg '"}
                                            .append(argument)
                                            .append("' for ")
                                            .append(resource)
                                            .append(": received ")
                                            .append(received)
                                            .append(" but current is ")
                                            .append(current)};
}

std::string in_quotes(std::string_view text) { return std::string{"'"}.append(text).append("'"); }

std::string in_quotes(bool flag) { return flag ? "'true'" : "'false'"; }

/// An argument that only one side has.
std::string with_type(const field_value* value) {
  return value == nullptr ? "none" : amqp091::describe(*value);
}

std::optional<refusal> compare_argument(const field_table& present, const field_table& asked,
                                        std::string_view name, std::string_view resource) {
  const field_value* current = find_field(present, name);
  const field_value* received = find_field(asked, name);
  if (current == nullptr && received == nullptr) return std::nullopt;
  if (current == nullptr || received == nullptr)
    return inequivalent(name, resource, with_type(received), with_type(current));
  if (*current == *received) return std::nullopt;
  return inequivalent(name, resource, in_quotes(amqp091::value_text(*received)),
                      in_quotes(amqp091::value_text(*current)));
}

refusal locked(const queue_entry& queue) {
  return {refusal::resource_locked,
          "cannot obtain exclusive access to locked " + queue_text(queue.name, queue.vhost_name) +
              ". It could be originally declared on another connection or the exclusive property "
              "value does not match that of the original declaration."};
}

bool is_classic(const field_table& arguments) {
  const field_value* type = find_field(arguments, "x-queue-type");
  if (type == nullptr) return true;
  const auto* name = type->get<std::string>();
  return name != nullptr && *name == "classic";
}

}  // namespace

std::optional<refusal> check_exclusive_access(const queue_entry& queue,
                                              std::optional<connection_id> asking) {
  if (!queue.owner || queue.owner == asking) return std::nullopt;
  return locked(queue);
}

std::optional<refusal> check_equivalence(const queue_entry& present, const queue_declaration& asked,
                                         std::optional<connection_id> owner) {
  if (present.owner != owner) return locked(present);  // also a shared one that is wanted alone
  const std::string resource = queue_text(present.name, present.vhost_name);
  if (!owner && present.durable != asked.durable)
    return inequivalent("durable", resource, in_quotes(asked.durable), in_quotes(present.durable));
  if (present.auto_delete != asked.auto_delete)
    return inequivalent("auto_delete", resource, in_quotes(asked.auto_delete),
                        in_quotes(present.auto_delete));
  for (std::string_view name : known_queue_arguments()) {
    if (name == "x-queue-type" && is_classic(present.declared) && is_classic(asked.arguments))
      continue;
    if (name == "x-queue-mode") continue;  // says nothing: every queue goes to disk when it is deep
    if (auto different = compare_argument(present.declared, asked.arguments, name, resource))
      return different;
  }
  return std::nullopt;
}

std::optional<refusal> check_equivalence(const exchange_definition& present,
                                         const exchange_declaration& asked,
                                         std::string_view vhost) {
  const std::string resource = exchange_text(present.name, vhost);
  if (to_string(present.type) != asked.type)
    return inequivalent("type", resource, in_quotes(std::string_view{asked.type}),
                        in_quotes(to_string(present.type)));
  if (present.durable != asked.durable)
    return inequivalent("durable", resource, in_quotes(asked.durable), in_quotes(present.durable));
  if (present.auto_delete != asked.auto_delete)
    return inequivalent("auto_delete", resource, in_quotes(asked.auto_delete),
                        in_quotes(present.auto_delete));
  if (present.internal != asked.internal)
    return inequivalent("internal", resource, in_quotes(asked.internal),
                        in_quotes(present.internal));
  for (std::string_view name : known_exchange_arguments())
    if (auto different = compare_argument(present.declared, asked.arguments, name, resource))
      return different;
  return std::nullopt;
}

}  // namespace baton
