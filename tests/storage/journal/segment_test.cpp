#include "storage/journal/segment.hpp"

#include <algorithm>
#include <cerrno>
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

/// A file that is only read, and counts how often.
class file_of_bytes final : public file {
public:
  explicit file_of_bytes(std::vector<std::uint8_t> bytes) : bytes_{std::move(bytes)} {}

  const std::string& path() const noexcept override { return path_; }
  file_result<std::size_t> read(std::uint64_t offset, std::span<std::uint8_t> into) override {
    ++reads;
    const auto from = std::min<std::size_t>(offset, bytes_.size());
    const auto n = std::min(into.size(), bytes_.size() - from);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(from), n, into.begin());
    return n;
  }
  file_result<std::uint64_t> size() override { return std::uint64_t{bytes_.size()}; }

  file_result<void> preallocate(std::uint64_t, std::uint64_t) override { return refused(); }
  file_result<void> write(std::uint64_t, std::span<const byte_view>) override { return refused(); }
  file_result<void> sync() override { return refused(); }
  file_result<void> truncate(std::uint64_t) override { return refused(); }
  file_result<void> drop_pages(std::uint64_t, std::uint64_t) override { return refused(); }

  int reads = 0;

private:
  file_result<void> refused() { return io_failure(EROFS, file_operation::write, path_); }

  std::vector<std::uint8_t> bytes_;
  std::string path_ = "bytes";
};

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
    file_of_bytes file{segment_of(40, size)};
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
    CHECK(scan.offset() <= *file.size());
    CHECK(file.reads == 1);
  }
}

TEST_CASE("a scan gives each record whole, wherever in a block it lies and however large it is") {
  const auto bytes = segment_of(500, 0);  // from 40 bytes to 12 kB: 3 MB in all
  std::vector<std::uint32_t> offsets;
  {
    file_of_bytes file{bytes};
    segment_scan scan{file, some_header};
    std::size_t runs = 0;
    while (auto r = scan.next()) {
      CHECK(runs_of(r->frame) == ++runs);
      offsets.push_back(r->offset);
    }
    CHECK(runs == 500);
    CHECK(file.reads < 20);
  }
  SECTION("from anywhere") {
    file_of_bytes file{bytes};
    segment_scan scan{file, some_header, offsets[400]};
    CHECK(runs_of(scan.next()->frame) == 401);
  }
  SECTION("up to anywhere") {
    for (auto end : {offsets[400], offsets[400] + 8, offsets[401] - 8}) {
      file_of_bytes file{bytes};
      segment_scan scan{file, some_header, segment_header_size, end};
      std::size_t count = 0;
      while (scan.next()) ++count;
      CHECK(count == 400);
      CHECK(scan.offset() == offsets[400]);
    }
  }
  SECTION("larger than a block") {
    record_writer w;
    w.add_settle(std::vector<queue_run>(40'000, {1, 1, 1}));
    w.add_settle(std::vector<queue_run>(1, {1, 1, 1}));
    auto made = w.take();
    made.seal(0, 2, seal_of(some_header.generation));
    auto more = segment_of(3, 0);
    made.for_each_piece(0, 2, [&](byte_view p) { more.insert(more.end(), p.begin(), p.end()); });
    file_of_bytes file{more};
    segment_scan scan{file, some_header};
    std::vector<std::size_t> seen;
    while (auto r = scan.next()) seen.push_back(runs_of(r->frame));
    CHECK(seen == std::vector<std::size_t>{1, 2, 3, 40'000, 1});
  }
}

TEST_CASE("what a recycled file held before ends the scan") {
  auto bytes = segment_of(40, 0, 99);
  const auto now = segment_of(3, 0);
  std::copy(now.begin(), now.end(), bytes.begin());
  file_of_bytes file{bytes};
  segment_scan scan{file, some_header};
  for (int i = 0; i < 3; ++i) CHECK(scan.next());
  CHECK(!scan.next());
  CHECK(scan.problem() == frame_problem::broken);
  CHECK(!scan.skip_damage());
}

TEST_CASE("damage in the middle costs the records that it lies in, and no other") {
  const auto whole = segment_of(10, 4096);
  std::vector<std::uint32_t> offsets;
  file_of_bytes sound_file{whole};
  segment_scan sound{sound_file, some_header};
  while (auto r = sound.next()) offsets.push_back(r->offset);
  const auto end = sound.offset();
  for (std::uint32_t at = segment_header_size; at < end; ++at) {
    auto bytes = whole;
    bytes[at] ^= 0x40;
    file_of_bytes file{bytes};
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
