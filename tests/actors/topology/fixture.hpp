#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/topology/router.hpp"
#include "actors/topology/topology_core.hpp"
#include "tests/catch.hpp"

namespace baton::topology_test {

struct test_target : queue_target {
  explicit test_target(queue_id of) : queue{of} {}
  queue_id queue;
};

inline field_value text(std::string value) { return {std::move(value)}; }
inline field_value number(std::int64_t value, integer_width width = integer_width::i32) {
  return {integer_value{value, width}};
}

/// A topology with the virtual host "/", and short words for what tests do with it.
struct fixture {
  explicit fixture(bool strict = false, topology_limits limits = {})
      : core{publication, limits, strict, [this] { return random(); }} {
    vhost = core.add_vhost("/").value();
    core.publish();
  }

  std::array<std::uint8_t, 16> random() {
    std::array<std::uint8_t, 16> bytes{};
    for (auto& byte : bytes) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      byte = static_cast<std::uint8_t>(state >> 33);
    }
    return bytes;
  }
  static topology_core::make_target targets() {
    return [](const queue_entry& queue) { return std::make_shared<test_target>(queue.id); };
  }

  result<exchange_outcome, refusal> try_exchange(std::string name, std::string type,
                                                 field_table arguments = {}) {
    return core.declare_exchange(who, {vhost, std::move(name), std::move(type), false, true, false,
                                       false, std::move(arguments)});
  }
  void exchange(std::string name, std::string type, field_table arguments = {}) {
    REQUIRE(try_exchange(std::move(name), std::move(type), std::move(arguments)));
  }
  void auto_delete_exchange(std::string name) {
    REQUIRE(core.declare_exchange(
        who, {vhost, std::move(name), "fanout", false, true, true, false, {}}));
  }
  result<queue_outcome, refusal> try_queue(queue_declaration asked) {
    asked.vhost = vhost;
    return core.declare_queue(who, std::move(asked), targets());
  }
  result<queue_outcome, refusal> try_queue(std::string name, field_table arguments = {}) {
    return try_queue({vhost, std::move(name), false, true, false, false, std::move(arguments)});
  }
  shared<queue_entry> queue(std::string name, field_table arguments = {}) {
    auto made = try_queue(std::move(name), std::move(arguments));
    REQUIRE(made);
    return made->queue;
  }
  binding_request binding_of(std::string source, std::string destination, std::string key,
                             field_table arguments = {},
                             resource_kind kind = resource_kind::queue) {
    return {vhost,          std::move(source),   kind, std::move(destination),
            std::move(key), std::move(arguments)};
  }
  void bind(std::string source, std::string queue, std::string key = "",
            field_table arguments = {}) {
    REQUIRE(core.bind(who, binding_of(std::move(source), std::move(queue), std::move(key),
                                      std::move(arguments))));
  }
  void bind_exchange(std::string source, std::string to, std::string key = "") {
    REQUIRE(core.bind(who, binding_of(std::move(source), std::move(to), std::move(key), {},
                                      resource_kind::exchange)));
  }
  void unbind(std::string source, std::string queue, std::string key = "",
              field_table arguments = {}) {
    REQUIRE(core.unbind(who, binding_of(std::move(source), std::move(queue), std::move(key),
                                        std::move(arguments))));
  }
  bool has_exchange(std::string_view name) const {
    return core.state().find_vhost(vhost)->find_exchange(name) != nullptr;
  }
  bool has_queue(std::string_view name) const {
    return core.state().find_vhost(vhost)->find_queue(name) != nullptr;
  }

  /// The names of the queues that a message goes to, sorted; publishes what is pending before.
  std::vector<std::string> routed(std::string_view exchange, std::string_view key,
                                  field_table headers = {},
                                  std::vector<std::string_view> more_keys = {}) {
    struct source : header_source {
      explicit source(field_table given) : table{std::move(given)} {}
      const field_table& headers() override { return table; }
      field_table table;
    } message{std::move(headers)};
    core.publish();
    view.refresh();
    const auto found = view.route({vhost, exchange, key, more_keys, &message});
    REQUIRE(found.status == route_status::found);
    std::vector<std::string> names;
    for (const queue_entry* each : found.queues) names.push_back(each->name);
    std::sort(names.begin(), names.end());
    return names;
  }

  topology_publication publication;
  topology_core core;
  loop_view view{publication};
  requester who;
  vhost_id vhost;
  std::uint64_t state = 1;
};

using names = std::vector<std::string>;

/// What a refused operation said.
template <class Result>
refusal refused(const Result& got) {
  REQUIRE_FALSE(got);
  return got.reason();
}

}  // namespace baton::topology_test
