#pragma once

#include <cstdint>

#include "cli/perf/histogram.hpp"

namespace baton::perf {

/// What a flow of messages has done in some span of time.
struct tally {
  std::uint64_t published = 0;
  std::uint64_t delivered = 0;
  std::uint64_t delivered_bytes = 0;  // of bodies
  std::uint64_t confirmed = 0;
  std::uint64_t nacked = 0;
  std::uint64_t returned = 0;
  std::uint64_t blocked = 0;  // times that the broker said connection.blocked
  histogram latency;          // publish (with a rate: due) to receipt, ns
  histogram confirm_latency;  // publish to confirm, ns
  histogram send_lag;         // due to written, ns: the generator's own share of the latency

  void merge(const tally& other) noexcept {
    published += other.published;
    delivered += other.delivered;
    delivered_bytes += other.delivered_bytes;
    confirmed += other.confirmed;
    nacked += other.nacked;
    returned += other.returned;
    blocked += other.blocked;
    latency.merge(other.latency);
    confirm_latency.merge(other.confirm_latency);
    send_lag.merge(other.send_lag);
  }
};

}  // namespace baton::perf
