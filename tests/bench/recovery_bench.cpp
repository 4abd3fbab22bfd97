// What a start costs: the time to read a node's log, and the memory of what is known afterwards.
//
//     recovery_bench FOLDER [MESSAGES [BYTES [QUEUES]]]
//
// writes a log of so many messages to the folder, unless one is there, and reads it three times.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "storage/files/system_file_system.hpp"
#include "storage/journal/log_writer.hpp"
#include "storage/journal/node_recovery.hpp"
#include "storage/memory_account.hpp"

using namespace baton;
using namespace baton::journal;

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// Memory of this process, in MB, and the most that it ever was.
double resident(const char* which) {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(which)) return std::atof(line.c_str() + line.find(':') + 1) / 1024;
  return 0;
}

bool write_log(system_file_system& files, const std::string& folder, std::uint64_t messages,
               std::size_t size, std::uint64_t queues) {
  std::uint64_t generation = 0;
  log_writer log{files, {folder}, {}, 0, [&] { return ++generation; }};
  const std::vector<std::uint8_t> body(size, 'x');
  const std::string properties("\x10\x00\x02", 3);
  slab_writer slabs;
  std::vector<sequence> next(queues, 1);
  for (std::uint64_t done = 0; done < messages;) {
    record_writer w;
    for (int i = 0; i < 64 && done < messages; ++i, ++done) {
      message_parts parts;
      parts.routing_key = "bench";
      parts.properties = as_bytes(properties);
      parts.persistent = true;
      const auto q = done / 64 % queues;
      const queue_place where[] = {{1 + q, next[q]++}};
      w.add_enqueue(where, slabs.add(parts, body));
    }
    auto records = w.take();
    encoded_records* const group[] = {&records};
    std::vector<record_place> places;
    const auto written = log.write(group, 0, places);
    if (!written) {
      std::fprintf(stderr, "%s\n", written.reason().text().c_str());
      return false;
    }
  }
  return bool{log.close()};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: recovery_bench FOLDER [MESSAGES [BYTES [QUEUES]]]\n");
    return 1;
  }
  const std::string folder = argv[1];
  const auto messages = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000'000;
  const auto size = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 100;
  const auto queues = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1;
  system_file_system files;
  if (!files.create_folder(folder)) return 1;
  if (files.list(folder)->empty() && !write_log(files, folder, messages, size, queues)) return 1;

  for (int run = 0; run < 3; ++run) {
    auto start = clock_type::now();
    const auto read_only = recover_log(files, folder, [](place, byte_view, const record&) {});
    if (!read_only) return 1;
    const auto reading = seconds_since(start);
    start = clock_type::now();
    auto node = recover_node(files, folder);
    const auto all = seconds_since(start);
    if (!node) {
      std::fprintf(stderr, "%s\n", node.reason().text.c_str());
      return 1;
    }
    std::uint64_t found = 0, index_bytes = 0;
    for (const auto& [id, q] : node->queues) {
      found += q.messages.size();
      index_bytes += q.messages.memory_bytes();
    }
    std::printf(
        "%llu messages, %.2f GB of log: %.2f s (%.0f ns a message), of which reading and decoding "
        "%.2f s; indexes %.1f MB (%.1f bytes a message), resident %.0f MB, at most %.0f MB\n",
        static_cast<unsigned long long>(found), static_cast<double>(node->log.bytes) / 1e9, all,
        all * 1e9 / static_cast<double>(found), reading, static_cast<double>(index_bytes) / 1e6,
        static_cast<double>(index_bytes) / static_cast<double>(found), resident("VmRSS"),
        resident("VmHWM"));
  }
}
