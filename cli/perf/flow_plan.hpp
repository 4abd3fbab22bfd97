#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton::perf {

/// A flow of messages, as asked for on the command line.
struct flow_options {
  std::uint32_t producers = 1;
  std::uint32_t consumers = 1;
  std::uint32_t queues = 1;
  std::string queue_pattern = "%p-%i";  // %p: prefix of this run, %i: number from 0
  std::string exchange;                 // empty: the default exchange, by queue name
  std::string exchange_type = "direct";
  std::string key_pattern = "%q";          // of publishes; %q: queue's name, %i: its number
  std::string binding_pattern;             // of bindings; empty: as key_pattern
  std::uint32_t fanout = 0;                // N: N queues on a fanout exchange of its own
  std::uint32_t producer_connections = 0;  // 0: one each
  std::uint32_t consumer_connections = 0;
  bool shared_connections = false;  // producer i and consumer i on one connection
  std::uint64_t size = 16;
  std::uint16_t prefetch = 0;
  std::uint32_t ack_every = 0;  // 0: automatic
  std::uint32_t confirm = 0;    // window; 0: no confirms
  bool mandatory = false;
  bool persistent = false;
  bool durable = false;
  std::string queue_type;   // of declares; empty: the broker's choice
  double rate = 0;          // messages/s of all producers; 0: as fast as it goes
  std::uint64_t count = 0;  // messages of all producers; 0: until the time is over
};

struct producer_plan {
  std::string exchange;
  std::vector<std::string> keys;  // published to in turns
  std::uint32_t index = 0;        // among all producers of the flow
};
struct consumer_plan {
  std::vector<std::string> queues;
};
struct connection_plan {
  std::vector<producer_plan> producers;  // one AMQP channel each
  std::vector<consumer_plan> consumers;  // likewise
};

/// What a flow needs on the broker, and who does what over which connection.
struct flow_plan {
  std::string exchange;  // to declare; empty: none
  std::string exchange_type;
  std::vector<std::string> queues;
  std::vector<std::pair<std::string, std::string>> bindings;  // queue, key
  std::vector<connection_plan> connections;
  std::uint32_t deliveries_per_publish = 1;  // 0: nobody consumes
};

/// Producers and consumers share the queues evenly: with fewer clients than queues, client c serves
/// queues c, c + clients, ...; with more, client c serves queue c modulo queues.
flow_plan make_plan(const flow_options& options, std::string_view prefix);

/// Replaces %p, %q and %i in a pattern.
std::string fill_pattern(std::string_view pattern, std::string_view prefix, std::string_view queue,
                         std::size_t index);

}  // namespace baton::perf
