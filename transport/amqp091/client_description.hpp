#pragma once

#include <string>

#include "config/field_value.hpp"
#include "config/result.hpp"
#include "storage/byte_view.hpp"

namespace baton::amqp091 {

/// What a client said about itself in start-ok.
class client_description {
public:
  /// Extensions that change what the server sends; false when the client did not name them.
  struct capability_set {
    bool consumer_cancel_notify = false;
    bool connection_blocked = false;
    bool authentication_failure_close = false;
    bool basic_nack = false;
    bool publisher_confirms = false;
  };

  client_description() = default;
  /// From the entries of client-properties, whose form was checked.
  explicit client_description(byte_view client_properties);

  const capability_set& capabilities() const noexcept { return capabilities_; }
  /// `connection_name`, or empty.
  std::string connection_name() const;
  /// All client-properties, decoded for this call: they are kept encoded, in half the memory.
  field_table properties() const;

private:
  std::string encoded_;
  capability_set capabilities_;
};

}  // namespace baton::amqp091
