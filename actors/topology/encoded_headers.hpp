#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "actors/topology/refusal.hpp"
#include "actors/topology/router.hpp"
#include "config/result.hpp"
#include "storage/byte_view.hpp"

namespace baton {

/// The headers of a message that arrived as AMQP 0-9-1: decoded when a headers exchange asks.
class encoded_headers : public header_source {
public:
  /// `entries`: the table without its length, well formed; must outlive this.
  explicit encoded_headers(byte_view entries) : entries_{entries} {}
  const field_table& headers() override;

private:
  byte_view entries_;
  std::optional<field_table> decoded_;
};

/// Appends the routing keys in the headers CC and BCC, borrowed from `entries`; elements that are
/// no strings are skipped. 406 if one of the two is no array: `invalid message:
/// {unacceptable_type_in_header,"CC",longstr}`.
result<void, refusal> collect_more_keys(byte_view entries, std::vector<std::string_view>& keys);

}  // namespace baton
