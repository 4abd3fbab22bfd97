#include "cli/perf/flow_plan.hpp"

#include <algorithm>

namespace baton::perf {
namespace {

std::vector<std::size_t> share_of(std::size_t client, std::size_t clients, std::size_t queues) {
  if (clients >= queues) return {client % queues};
  std::vector<std::size_t> share;
  for (std::size_t q = client; q < queues; q += clients) share.push_back(q);
  return share;
}

/// How many connections `clients` clients use; at least one where there are clients.
std::size_t connections_for(std::uint32_t asked, std::uint32_t clients) {
  return asked == 0 ? clients : std::min(asked, clients);
}

}  // namespace

std::string fill_pattern(std::string_view pattern, std::string_view prefix, std::string_view queue,
                         std::size_t index) {
  std::string filled;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char letter = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (letter == 'p') {
      filled += prefix;
    } else if (letter == 'q') {
      filled += queue;
    } else if (letter == 'i') {
      filled += std::to_string(index);
    } else {
      filled += pattern[i];
      continue;
    }
    ++i;
  }
  return filled;
}

flow_plan make_plan(const flow_options& options, std::string_view prefix) {
  flow_plan plan;
  const bool fanout = options.fanout > 0;
  const std::size_t queues = std::max<std::uint32_t>(fanout ? options.fanout : options.queues, 1);
  for (std::size_t i = 0; i < queues; ++i)
    plan.queues.push_back(fill_pattern(options.queue_pattern, prefix, "", i));

  if (fanout) {
    plan.exchange = options.exchange.empty() ? std::string{prefix} + "-fanout" : options.exchange;
    plan.exchange_type = "fanout";
  } else {
    plan.exchange = options.exchange;
    plan.exchange_type = options.exchange_type;
  }
  const auto& binding_pattern =
      options.binding_pattern.empty() ? options.key_pattern : options.binding_pattern;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < queues; ++i) {
    const auto& queue = plan.queues[i];
    const bool by_name = fanout || plan.exchange.empty();
    keys.push_back(by_name ? queue : fill_pattern(options.key_pattern, prefix, queue, i));
    if (!plan.exchange.empty())
      plan.bindings.emplace_back(queue,
                                 fanout ? "" : fill_pattern(binding_pattern, prefix, queue, i));
  }
  if (fanout) keys = {""};

  const std::size_t producing = connections_for(options.producer_connections, options.producers);
  const std::size_t consuming = connections_for(options.consumer_connections, options.consumers);
  const std::size_t first_consuming = options.shared_connections ? 0 : producing;
  plan.connections.resize(std::max(producing, first_consuming + consuming));
  for (std::uint32_t p = 0; p < options.producers; ++p) {
    producer_plan one{plan.exchange, {}, p};
    for (const auto k : share_of(p, options.producers, keys.size())) one.keys.push_back(keys[k]);
    plan.connections[p % producing].producers.push_back(std::move(one));
  }
  for (std::uint32_t c = 0; c < options.consumers; ++c) {
    consumer_plan one;
    for (const auto q : share_of(c, options.consumers, queues))
      one.queues.push_back(plan.queues[q]);
    plan.connections[first_consuming + c % consuming].consumers.push_back(std::move(one));
  }
  if (options.consumers == 0) {
    plan.deliveries_per_publish = 0;
  } else if (fanout) {
    plan.deliveries_per_publish = options.fanout;
  } else if (options.queue_type == "stream") {  // each reader gets all
    plan.deliveries_per_publish =
        std::max<std::uint32_t>(1, options.consumers / static_cast<std::uint32_t>(queues));
  }
  return plan;
}

}  // namespace baton::perf
