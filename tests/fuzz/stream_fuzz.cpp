// Any bytes as the files of a stream's log. Byte 0 says how the rest is cut into segments and what
// is put right in them: headers with their checksums, and those of the records, so that what lies
// behind the checksums is reached too. A recovery takes what there is; every offset that its table
// has is read or told as damaged, the log goes on behind it, and all of it can be let go of.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/files/simulated_file_system.hpp"
#include "storage/journal/crc32c.hpp"
#include "storage/journal/journal.hpp"
#include "storage/journal/numbers.hpp"
#include "storage/journal/segment.hpp"
#include "storage/stream/chunk_reader.hpp"
#include "storage/stream/stream_folder.hpp"
#include "storage/stream/stream_recovery.hpp"

using namespace baton;
using namespace baton::journal;
using namespace baton::stream_log;

namespace {

constexpr std::uint64_t queue = 7;
const std::string streams = "/streams";
constexpr std::uint8_t with_headers = 1;
constexpr std::uint8_t with_checksums = 2;
constexpr std::uint8_t known_ends = 4;  // each segment says where the one before it ended
constexpr std::uint8_t ends_are_synced =
    8;  // and the first record of each, if a group, says so too

void require(bool holds) {
  if (!holds) std::abort();
}

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

void write_segments(simulated_file_system& disk, const std::string& folder, byte_view data) {
  const auto how = data[0];
  const auto bytes = data.subspan(1);
  const auto count = 1u + (how >> 4) % 4;
  baton::journal::place end;
  for (std::uint32_t number = 1; number <= count; ++number) {
    const auto part = bytes.size() / count;
    const auto own = bytes.subspan((number - 1) * part, part);
    std::vector<std::uint8_t> segment;
    if ((how & with_headers) != 0) {
      const segment_header header{
          segment_kind::stream, number, number, queue,
          (how & known_ends) != 0 ? end : baton::journal::place{number - 1, 0}};
      const auto head = encode(header);
      segment.assign(head.begin(), head.end());
    }
    segment.insert(segment.end(), own.begin(), own.end());
    if ((how & ends_are_synced) != 0 && segment.size() >= segment_header_size + 24) {
      store(&segment[segment_header_size + 16], end.segment);
      store(&segment[segment_header_size + 20], end.offset);
    }
    if ((how & with_checksums) != 0) sum_records(segment, number);
    end = {number, static_cast<std::uint32_t>(segment.size())};
    auto made = disk.open(folder + "/" + segment_name(number), open_mode::create);
    const byte_view pieces[] = {segment};
    require(made && (*made)->write(0, pieces));
  }
}

/// From the oldest message to the end, as storage/stream/README.md says.
void read_all(const segment_table& table, chunk_reader& reader) {
  auto offset = table.first_offset();
  baton::journal::place stopped;
  while (const auto where = table.find(offset, stopped)) {
    const auto got = reader.read({queue, *where, offset});
    require(!got.retired);
    require(got.offset > offset || got.stopped > stopped);
    auto from = offset;
    for (const auto& c : got.chunks) {
      require(!c.messages.empty() && c.first + c.messages.size() > from);
      from = c.first + c.messages.size();
      for (const auto& m : c.messages) require(m.footprint() > 0);
    }
    offset = got.offset;
    stopped = got.stopped;
  }
  require(offset == table.next_offset());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  simulation_random dice{1};
  simulated_file_system disk{dice};
  const auto folder = stream_folder(streams, queue);
  require(bool{disk.create_folder(streams)} && disk.create_folder(folder));
  write_segments(disk, folder, {data, size});

  auto found = recover_stream(disk, folder, queue);
  if (!found) return 0;
  chunk_reader reader{disk, streams};
  read_all(found->table, reader);
  require(bool{settle_log(disk, folder, found->log)});
  require(bool{recover_stream(disk, folder, queue)});

  // The log goes on, and what there was is let go of.
  auto& table = found->table;
  const auto next = table.next_offset();
  if (next > UINT64_MAX - 10) return 0;
  struct owner final : record_owner {
    owner(segment_table& to, std::uint64_t which) : into{to}, offset{which} {}
    void written(std::span<const record_place> where) noexcept override {
      std::vector<reference_drop> none;
      into.note(where[0], offset, 1, into.last_time_ms(), none);
    }
    void safe() noexcept override { into.synced(offset + 1); }
    segment_table& into;
    std::uint64_t offset;
  };
  journal_settings settings;
  settings.segment_size = {4096};
  settings.reserved_segments = 0;
  std::uint64_t generation = 1000;
  baton::journal::journal log{
      disk, folder, settings, found->log, std::move(found->live), [&] { return ++generation; },
      queue};
  slab_writer slabs;
  std::vector<message> messages;
  messages.push_back(slabs.add({}, as_bytes("behind")));
  record_writer w;
  w.add_chunk(queue, next, table.last_time_ms(), messages);
  log.add({w.take(), sync_policy::always, {}, std::make_unique<owner>(table, next)});
  require(bool{log.commit()} && log.sync());
  read_all(table, reader);
  log.drop(table.retire(0, UINT64_MAX));
  require(bool{log.commit()} && log.sync() && log.collect());
  require(table.segments() == 1 && log.figures().segments == 1);
  require(table.first_offset() == next && log.figures().live_bytes == table.bytes());
  return 0;
}
