#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/files/simulated_file_system.hpp"
#include "storage/journal/log_writer.hpp"
#include "storage/journal/node_recovery.hpp"
#include "storage/journal/record_writer.hpp"
#include "tests/catch.hpp"

namespace baton::journal {

inline const std::string log_folder = "/log";

/// A log on a simulated disk, and what a recovery makes of it.
class node_log {
public:
  explicit node_log(std::uint64_t seed = 1) : dice{seed}, disk{dice} {
    REQUIRE(disk.create_folder(log_folder));
    log_state nothing;
    nothing.closed = true;
    reopen(nothing);
  }

  /// As the next process does it.
  void reopen(const log_state& found) {
    log.emplace(disk, log_options{log_folder, segment_kind::journal, 0, 4096, !found.closed},
                found.end, found.last_number, [this] { return ++generations_; });
  }

  message make(const std::string& body) {
    message_parts parts;
    parts.exchange = "x";
    parts.routing_key = "some.key";
    parts.persistent = true;
    return slabs_.add(parts, as_bytes(body));
  }

  /// Where they begin; of a tx, where its first part does.
  std::vector<record_place> write(record_writer& w) {
    auto records = w.take();
    encoded_records* const group[] = {&records};
    std::vector<record_place> where;
    CHECK(log->write(group, 0, where));
    return where;
  }

  recovered_node recover() {
    auto node = recover_node(disk, log_folder);
    if (!node) FAIL(node.reason().text);
    CHECK(node->log.damage == std::vector<std::string>{});
    return *std::move(node);
  }

  simulation_random dice;
  simulated_file_system disk;
  std::optional<log_writer> log;

private:
  slab_writer slabs_;
  std::uint64_t generations_ = 0;
};

template <class Entry>
std::vector<Entry> all(std::initializer_list<Entry> those) {
  return those;
}

}  // namespace baton::journal
