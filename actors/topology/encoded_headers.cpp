#include "actors/topology/encoded_headers.hpp"

#include <string>
#include <utility>

#include "transport/amqp091/field_table.hpp"

namespace baton {

const field_table& encoded_headers::headers() {
  if (!decoded_) {
    auto table = amqp091::decode_table(entries_);
    decoded_ = table ? *std::move(table) : field_table{};
  }
  return *decoded_;
}

result<void, refusal> collect_more_keys(byte_view entries, std::vector<std::string_view>& keys) {
  for (const char* name : {"CC", "BCC"}) {
    const auto value = amqp091::find_in_table(entries, name);
    if (!value) continue;
    if (value->type != 'A') {
      const auto decoded = amqp091::decode_value(*value);
      const auto type = decoded ? amqp091::type_name(*decoded) : std::string_view{"void"};
      return failure{refusal{refusal::precondition_failed,
                             std::string{"invalid message: {unacceptable_type_in_header,\""}
                                 .append(name)
                                 .append("\",")
                                 .append(type)
                                 .append("}")}};
    }
    amqp091::for_each_element(value->bytes, [&keys](const amqp091::encoded_value& each) {
      if (const auto key = each.text()) keys.push_back(*key);
    });
  }
  return {};
}

}  // namespace baton
