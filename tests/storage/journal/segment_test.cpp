#include "storage/journal/segment.hpp"

#include <string>
#include <vector>

#include "storage/journal/record_writer.hpp"
#include "tests/catch.hpp"

using namespace baton;
using namespace baton::journal;

namespace {

const segment_header some_header{segment_kind::journal, 0x1234567890, 7, 0, {}};

/// A segment of `size` bytes with settle records of 1, 2, 3... runs.
std::vector<std::uint8_t> segment_of(std::size_t records, std::size_t size,
                                     std::uint64_t generation = some_header.generation) {
  auto header = some_header;
  header.generation = generation;
  const auto head = encode(header);
  std::vector<std::uint8_t> file{head.begin(), head.end()};
  record_writer w;
  for (std::size_t i = 1; i <= records; ++i) w.add_settle(std::vector<queue_run>(i, {1, i, 1}));
  auto made = w.take();
  made.seal(0, made.count(), seal_of(generation));
  made.for_each_piece(0, made.count(),
                      [&](byte_view p) { file.insert(file.end(), p.begin(), p.end()); });
  file.resize(std::max(size, file.size()));
  return file;
}

std::size_t runs_of(byte_view frame) { return std::get<settle>(*decode(frame)).runs.size(); }

}  // namespace

TEST_CASE("a segment's header is read as it was written, and any flipped bit is noticed") {
  for (auto kind : {segment_kind::journal, segment_kind::stream, segment_kind::overflow}) {
    const segment_header header{kind, ~std::uint64_t{0}, 4'000'000'000, 17, {5, 1u << 31}};
    auto bytes = encode(header);
    CHECK(*read_segment_header(bytes) == header);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      auto damaged = bytes;
      damaged[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      CHECK(!read_segment_header(damaged));
    }
  }
}

TEST_CASE("a file that is no segment is refused with what it is") {
  CHECK(read_segment_header({}).reason().text == "is no segment of a journal");
  CHECK(read_segment_header(std::vector<std::uint8_t>(64)).reason().text ==
        "is no segment of a journal");
  auto later = encode(some_header);
  later[8] = 2;
  CHECK(read_segment_header(later).reason().text ==
        "has format version 2; this program knows version 1");
  auto damaged = encode(some_header);
  damaged[20] ^= 1;
  CHECK(read_segment_header(damaged).reason().text == "has a damaged header");
}

TEST_CASE("a scan finds every record, and where the written part ends") {
  for (std::size_t size : {0, 100'000}) {  // cut short, or preallocated
    const auto file = segment_of(40, size);
    segment_scan scan{file, some_header};
    std::uint32_t before = 0;
    for (std::size_t i = 1; i <= 40; ++i) {
      const auto r = scan.next();
      REQUIRE(r);
      CHECK(runs_of(r->frame) == i);
      CHECK(r->offset > before);
      CHECK(r->offset % record_alignment == 0);
      before = r->offset;
    }
    CHECK(!scan.next());
    CHECK(scan.problem() == frame_problem::none_here);
    CHECK(scan.offset() <= file.size());
  }
}

TEST_CASE("what a recycled file held before ends the scan") {
  auto file = segment_of(40, 0, 99);
  const auto now = segment_of(3, 0);
  std::copy(now.begin(), now.end(), file.begin());
  segment_scan scan{file, some_header};
  for (int i = 0; i < 3; ++i) CHECK(scan.next());
  CHECK(!scan.next());
  CHECK(scan.problem() == frame_problem::broken);
  CHECK(!scan.skip_damage());
}

TEST_CASE("damage in the middle costs the records that it lies in, and no other") {
  const auto whole = segment_of(10, 4096);
  std::vector<std::uint32_t> offsets;
  segment_scan sound{whole, some_header};
  while (auto r = sound.next()) offsets.push_back(r->offset);
  const auto end = sound.offset();
  for (std::uint32_t at = segment_header_size; at < end; ++at) {
    auto file = whole;
    file[at] ^= 0x40;
    segment_scan scan{file, some_header};
    std::vector<std::uint32_t> seen;
    for (;;) {
      while (auto r = scan.next()) seen.push_back(r->offset);
      if (scan.problem() == frame_problem::none_here && scan.offset() >= end) break;
      if (!scan.skip_damage()) break;
    }
    auto expected = offsets;
    const auto hit = std::upper_bound(offsets.begin(), offsets.end(), at) - offsets.begin() - 1;
    expected.erase(expected.begin() + hit);
    CHECK(seen == expected);
  }
}
