#pragma once

#include <functional>
#include <string>

#include "actors/node_services.hpp"
#include "actors/runtime/simulated_runtime.hpp"

namespace baton::simulation {

/// What the node says of the credit that it has given, when nothing is under way in it.
class credit_books {
public:
  /// Asks all connections and queues, and lets the node answer.
  credit_books(simulated_runtime& world, node_services& node);

  /// Whether what a connection has in flight exceeds `publish_credit` by no more than one read may,
  /// and what a consumer was handed beyond what its socket took exceeds `delivery_credit` by no
  /// more than one message; and that no credit of a consumer is lost, or there twice. Otherwise
  /// tells why not. `largest`: bytes of a message. `may_overdraw`: whether the connection of this
  /// name has done what need not wait for credit.
  std::string why_wrong(std::uint64_t largest,
                        const std::function<bool(const std::string&)>& may_overdraw) const;
  /// Which publisher's credit has not come back; empty: all has.
  std::string who_lacks() const;

private:
  const limit_settings& limits_;
  std::vector<connection_report> connections_;
  std::vector<queue_report> queues_;
};

}  // namespace baton::simulation
