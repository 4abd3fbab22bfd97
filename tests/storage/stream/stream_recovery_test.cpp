#include "storage/stream/stream_recovery.hpp"

#include <cerrno>
#include <string>
#include <vector>

#include "storage/journal/numbers.hpp"
#include "storage/journal/segment.hpp"
#include "tests/catch.hpp"
#include "tests/storage/stream/stream_on_disk.hpp"

using namespace baton;
using namespace baton::stream_log;
using namespace baton::stream_log::test;

namespace {

std::vector<read_message> read_all(stream_on_disk& s, std::vector<std::string>& damage) {
  chunk_reader reader{s.disk, streams};
  cursor c{s.table, reader};
  c.run();
  CHECK(!c.retired);
  CHECK(c.offset == s.table.next_offset());
  damage = c.damage;
  return c.got;
}

void check_whole(stream_on_disk& s) {
  std::vector<std::string> damage;
  CHECK(s.damage == std::vector<std::string>{});
  CHECK(read_all(s, damage) == s.sent_from(s.table.first_offset()));
  CHECK(damage == std::vector<std::string>{});
  CHECK(s.table.next_offset() == s.next);
}

std::string refusal(stream_on_disk& s, std::uint64_t of = queue) {
  auto found = recover_stream(s.disk, s.folder, of);
  return found ? "" : found.reason().text;
}

}  // namespace

TEST_CASE("a stream goes on where it ended, whether it was closed or not") {
  stream_on_disk s;
  for (int life = 0; life < 6; ++life) {
    CHECK(s.next == s.sent.size());
    check_whole(s);
    s.fill_segments(1 + s.dice.below(3));
    if (life % 2 == 0) REQUIRE(s.log->close());
    s.open();
    if (life % 3 == 0) s.open();  // nothing was written
  }
}

TEST_CASE("of a long stream only the end is read at a start") {
  stream_on_disk s{64 << 10};
  const auto read_at_start = [&] {
    const auto before = s.disk.calls(file_operation::read);
    s.open();
    return s.disk.calls(file_operation::read) - before;
  };
  s.fill_segments(10, 4000);
  const auto few = read_at_start();
  s.fill_segments(40, 4000);
  const auto many = read_at_start();
  CHECK(many - few <= 40 * 3);  // header, group, chunk
  check_whole(s);
}

TEST_CASE("what a start did not read is retired as it is needed, segment by segment") {
  stream_on_disk s;
  s.fill_segments(8);
  s.open();
  const auto before = s.table.segments();
  REQUIRE(before >= 8);
  const auto middle = s.table.bytes() / 2;
  s.retire(middle);
  CHECK(s.table.bytes() <= middle);
  CHECK(s.table.segments() < before);
  CHECK(s.log->figures().segments == s.table.segments());
  check_whole(s);
  s.fill_segments(3);
  s.retire(0);
  CHECK(s.table.segments() == 1);
  CHECK(s.log->figures().segments == 1);
  CHECK(s.log->figures().live_bytes == s.table.bytes());
  CHECK(s.files().size() <= 2);  // it, and a spare one
  check_whole(s);
  s.open();
  check_whole(s);
}

TEST_CASE("what a start did not read is retired by the time of its last chunk, or a chunk later") {
  stream_on_disk s;
  s.fill_segments(5);
  s.open();
  const auto times = [&](std::uint64_t offset) { return s.sent[offset].time_ms; };
  for (int n = 0; n < 3; ++n) {
    const auto second = s.table.find(s.table.first_offset())->next;
    s.retire(UINT64_MAX, times(second - 1));
    CHECK(s.table.first_offset() < second);
    s.retire(UINT64_MAX, times(second) + 1);
    CHECK(s.table.first_offset() == second);
  }
}

TEST_CASE("a stream that was never written has a log to go on with") {
  stream_on_disk s;
  CHECK(s.table.empty());
  CHECK(s.next == 0);
  REQUIRE(s.log->close());
  s.open();
  CHECK(s.next == 0);
  s.add({10}, 1);
  s.make_safe();
  s.open();
  check_whole(s);
}

TEST_CASE("offsets go on though the last segments hold no chunk") {
  stream_on_disk s;
  s.fill_segments(3);
  s.open();
  // Segments that were begun for nothing, and one of which the power cut has left the header.
  auto found = recover_stream(s.disk, s.folder, queue);
  REQUIRE(found);
  for (std::uint32_t n = 1; n <= 3; ++n) {
    journal::segment_header header;
    header.kind = journal::segment_kind::stream;
    header.queue = queue;
    header.generation = 1000 + n;
    header.number = found->log.last_number + n;
    header.previous_end =
        n == 1 ? found->log.end : journal::place{header.number - 1, journal::segment_header_size};
    const auto bytes = journal::encode(header);
    const byte_view pieces[] = {bytes};
    auto made = s.disk.open(s.path_of(header.number), open_mode::create);
    REQUIRE(made);
    REQUIRE((*made)->write(0, pieces));
  }
  s.open();
  check_whole(s);
  s.fill_segments(2);
  s.open();
  check_whole(s);
}

TEST_CASE("offsets of messages that were safe and are damaged are not given again") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    stream_on_disk s{4096, seed};
    s.fill_segments(2 + s.dice.below(2));
    for (auto n = s.dice.below(6); n > 0; --n) {
      s.add({50, 20, 1}, 1'000'000);
      s.make_safe();
    }
    REQUIRE(s.log->close());
    const auto last = s.table.find(s.next - 1);
    const auto next = s.next;
    // From somewhere to the end of the last segment, but for the group that closes the log.
    const auto from =
        journal::segment_header_size + s.dice.below(last->end - journal::segment_header_size);
    std::vector<std::uint8_t> noise(last->end - from);
    for (auto& b : noise) b = static_cast<std::uint8_t>(s.dice.next());
    s.disk.overwrite(s.path_of(last->from.segment), from, noise);
    s.open();
    CHECK(!s.damage.empty());
    CHECK(s.table.next_offset() >= next);
    CHECK(s.table.next_offset() < next + 4096 / 28);
    std::vector<std::string> damage;
    const auto there = read_all(s, damage);
    for (const auto& m : there) CHECK(m == s.sent[m.offset]);
    s.sent = there;
    // And they are not after the next start either.
    const auto now = s.next;
    s.add({10}, 2'000'000);
    s.make_safe();
    s.open();
    CHECK(s.table.next_offset() == now + 1);
    CHECK(read_all(s, damage) == s.sent);
  }
}

TEST_CASE("damage in what a start does not read costs what it hits, and a reader is told") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    stream_on_disk s{4096, seed};
    s.fill_segments(8);
    const auto where = *s.table.find(s.sent[s.dice.below(s.table.find(s.next / 2)->next)].offset);
    const auto size = 1 + s.dice.below(300);
    const auto from = journal::segment_header_size +
                      s.dice.below(where.end - journal::segment_header_size - size);
    std::vector<std::uint8_t> noise(size);
    for (auto& b : noise) b = static_cast<std::uint8_t>(s.dice.next());
    s.disk.overwrite(s.path_of(where.from.segment), from, noise);
    s.open();
    CHECK(s.table.next_offset() == s.next);
    std::vector<std::string> damage;
    const auto there = read_all(s, damage);
    CHECK(there.size() < s.sent.size() + (from < 88 ? 1 : 0));
    CHECK(there.size() >= s.sent.size() - 1 - size / 200 - 1);
    CHECK(damage.size() + s.damage.size() >= 1);
    for (const auto& m : there) CHECK(m == s.sent[m.offset]);
    // All of it can still be let go of.
    s.fill_segments(1);
    s.retire(0);
    CHECK(s.log->figures().segments == 1);
  }
}

TEST_CASE("segments of another stream, of another kind or version are refused") {
  stream_on_disk s;
  s.fill_segments(4);
  CHECK(refusal(s) == "");
  CHECK(refusal(s, 8) == "/streams/7/0000000004.log: is no segment of the stream of queue 8");
  const std::uint8_t later[] = {2, 0, 0, 0};
  s.disk.overwrite(s.path_of(2), 8, later);
  CHECK(refusal(s) ==
        "/streams/7/0000000002.log: has format version 2; this program knows version 1");
}

TEST_CASE("a stream's folder is removed with all that is in it, once or twice") {
  stream_on_disk s;
  s.fill_segments(4);
  s.retire(0);
  s.log.reset();
  REQUIRE(remove_stream(s.disk, s.folder));
  CHECK(s.disk.list(streams)->empty());
  CHECK(remove_stream(s.disk, s.folder));
}
