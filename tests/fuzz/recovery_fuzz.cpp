// Any bytes as the files of a node's log. Byte 0 says how the rest is cut into segments and what is
// put right in them: headers with their checksums, and those of the records, so that what lies
// behind the checksums is reached too. A recovery takes what there is, counts what it needs of each
// segment as the journal will, and every message that it names can be asked for.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "storage/files/simulated_file_system.hpp"
#include "storage/journal/crc32c.hpp"
#include "storage/journal/log_writer.hpp"
#include "storage/journal/message_reader.hpp"
#include "storage/journal/node_recovery.hpp"
#include "storage/journal/numbers.hpp"
#include "storage/journal/segment.hpp"

using namespace baton;
using namespace baton::journal;

namespace {

constexpr auto folder = "/log";
constexpr std::uint8_t with_headers = 1;
constexpr std::uint8_t with_checksums = 2;
constexpr std::uint8_t known_ends = 4;  // each segment says where the one before it ended

/// Puts the checksums of records right, as far as their sizes go.
void sum_records(std::vector<std::uint8_t>& segment, std::uint64_t generation) {
  for (std::size_t at = segment_header_size; at + record_header_size <= segment.size();) {
    const auto size = load<std::uint32_t>(&segment[at]);
    if (size < record_header_size || size > segment.size() - at) return;
    const byte_view frame{&segment[at], size};
    store(&segment[at + 4], crc32c(frame.subspan(8), crc32c(frame.first(4))) ^ seal_of(generation));
    at += padded(size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto how = data[0];
  const byte_view bytes{data + 1, size - 1};
  const auto count = 1u + (how >> 4) % 4;
  simulation_random dice{1};
  simulated_file_system disk{dice};
  if (!disk.create_folder(folder)) std::abort();
  place end;
  for (std::uint32_t number = 1; number <= count; ++number) {
    const auto part = bytes.size() / count;
    const auto own = bytes.subspan((number - 1) * part, part);
    std::vector<std::uint8_t> segment;
    if ((how & with_headers) != 0) {
      const segment_header header{segment_kind::journal, number, number, 0,
                                  (how & known_ends) != 0 ? end : place{number - 1, 0}};
      const auto head = encode(header);
      segment.assign(head.begin(), head.end());
    }
    segment.insert(segment.end(), own.begin(), own.end());
    if ((how & with_checksums) != 0) sum_records(segment, number);
    end = {number, static_cast<std::uint32_t>(segment.size())};
    auto made = disk.open(folder + ("/" + segment_name(number)), open_mode::create);
    const byte_view pieces[] = {segment};
    if (!made || !(*made)->write(0, pieces)) std::abort();
  }

  auto node = recover_node(disk, folder);
  if (!node) return 0;
  std::uint64_t messages = 0;
  message_reader reader{disk, folder};
  std::vector<std::uint64_t> ids;
  for (const auto& [id, q] : node->queues) {
    ids.push_back(id);
    messages += q.messages.size();
    const auto next = q.next;
    std::vector<place> places;
    q.messages.for_each([&](sequence number, const stored_entry& e) {
      if (number >= next && number != UINT64_MAX) std::abort();
      places.push_back(e.at);
    });
    std::vector<message_reader::outcome> got;
    reader.read(id, places, got);
    for (const auto& one : got)
      if (!one) {  // it was read a moment ago
        std::fprintf(stderr, "%s\n", one.reason().text().c_str());
        std::abort();
      }
    reader.leave(id);
  }
  if (node->live.references() != messages) std::abort();
  for (auto id : ids) node->forget(id);
  if (node->live.references() != 0 || node->live.live_bytes() != 0) std::abort();
  if (auto settled = settle_log(disk, folder, node->log); !settled) std::abort();
  return 0;
}
