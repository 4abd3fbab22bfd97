#include "tests/simulation/credit_books.hpp"

#include "actors/runtime/actor_of.hpp"

namespace baton::simulation {

namespace {

using auditor_ref = actor_ref<answer<supervisor_report>, answer<connection_report>,
                              answer<topology_report>, answer<queue_report>>;

}  // namespace

credit_books::credit_books(simulated_runtime& world, node_services& node)
    : limits_{node.configured().limits} {
  auditor_ref auditor;
  auditor = spawn_handlers<auditor_ref>(
      world.at(0),
      [&](answer<supervisor_report>& got) {
        if (!got.value) return;
        for (const auto& one : got.value->connections)
          one.send(ask_connection_report{{auditor, 0}});
      },
      [&](answer<connection_report>& got) {
        if (got.value) connections_.push_back(std::move(*got.value));
      },
      [&](answer<topology_report>& got) {
        if (!got.value) return;
        for (const auto& one : got.value->queues) one.send(ask_queue_report{{auditor, 0}});
      },
      [&](answer<queue_report>& got) {
        if (got.value) queues_.push_back(std::move(*got.value));
      });
  node.supervisor.send(ask_node_report{{auditor, 0}});
  node.topology.send(ask_topology_report{{auditor, 0}});
  world.run_until_idle();
}

std::string credit_books::why_wrong(
    std::uint64_t largest, const std::function<bool(const std::string&)>& may_overdraw) const {
  const auto granted = static_cast<std::int64_t>(limits_.delivery_credit.value);
  for (const auto& connection : connections_) {
    // A read is stopped where it has used up the credit once more.
    if (connection.in_flight >= 2 * limits_.publish_credit.value + largest &&
        !may_overdraw(connection.name))
      return connection.name + " has " + std::to_string(connection.in_flight) +
             " bytes in flight, with a credit of " + std::to_string(limits_.publish_credit.value);
    for (const auto& consumer : connection.consumers)
      for (const auto& queue : queues_)
        for (const auto& credit : queue.credit) {
          if (credit.consumer != consumer.id) continue;
          const auto title = connection.name + ", " + consumer.tag + " at " + queue.name;
          if (credit.bytes + static_cast<std::int64_t>(largest) <= 0)
            return title + " was handed " + std::to_string(granted - credit.bytes) +
                   " bytes with a credit of " + std::to_string(granted);
          if (credit.bytes + static_cast<std::int64_t>(consumer.owed) != granted)
            return title + " may be handed " + std::to_string(credit.bytes) +
                   " bytes more and owes " + std::to_string(consumer.owed) + ", of a credit of " +
                   std::to_string(granted);
        }
  }
  return {};
}

std::string credit_books::who_lacks() const {
  for (const auto& connection : connections_)
    if (connection.in_flight != 0)
      return connection.name + ": credit of " + std::to_string(connection.in_flight) +
             " bytes has not come back";
  return {};
}

}  // namespace baton::simulation
