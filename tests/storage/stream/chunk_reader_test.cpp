#include "storage/stream/chunk_reader.hpp"

#include <cerrno>
#include <string>
#include <vector>

#include "storage/memory_account.hpp"
#include "tests/catch.hpp"
#include "tests/storage/stream/stream_on_disk.hpp"

using namespace baton;
using namespace baton::stream_log;
using namespace baton::stream_log::test;

namespace {

/// Chunks of one to five messages, taken at 100, 102, 104, ...
void fill(stream_on_disk& s, int chunks, std::size_t least = 10, std::size_t spread = 200) {
  for (int n = 0; n < chunks; ++n) {
    std::vector<std::size_t> bodies(1 + s.dice.below(5));
    for (auto& size : bodies) size = least + s.dice.below(spread);
    s.add(bodies, 100 + 2 * static_cast<std::uint64_t>(n));
    if (s.dice.once_in(3)) s.make_safe();
  }
  s.make_safe();
}

std::string check_of(cursor& c, const std::vector<read_message>& expected) {
  c.run();
  CHECK(c.damage == std::vector<std::string>{});
  CHECK(!c.retired);
  return c.got == expected ? "" : "something else";
}

}  // namespace

TEST_CASE("a stream is read from every offset as it was written, in windows of any size") {
  stream_on_disk s;
  fill(s, 60);
  REQUIRE(s.table.segments() > 4);
  chunk_reader reader{s.disk, streams};
  for (std::size_t max_bytes : {0, 5000, 256 << 10})
    for (std::uint64_t offset = 0; offset <= s.next; ++offset) {
      cursor c{s.table, reader};
      c.offset = offset;
      c.max_bytes = max_bytes;
      INFO("offset " << offset);
      CHECK(check_of(c, s.sent_from(offset)) == "");
      CHECK(c.offset == s.next);
    }
}

TEST_CASE("a stream is read from every time on") {
  stream_on_disk s;
  fill(s, 60);
  chunk_reader reader{s.disk, streams};
  for (std::uint64_t ms = 98; ms < 225; ++ms) {
    cursor c{s.table, reader};
    c.since_ms = ms;
    std::vector<read_message> expected;
    for (const auto& m : s.sent)
      if (m.time_ms >= ms) expected.push_back(m);
    INFO("time " << ms);
    CHECK(check_of(c, expected) == "");
  }
}

TEST_CASE("what is not committed is not read, until it is") {
  stream_on_disk s;
  fill(s, 30);
  chunk_reader reader{s.disk, streams};
  for (std::uint64_t before = 0; before <= s.next; ++before) {
    cursor c{s.table, reader};
    c.before = before;
    c.run();
    CHECK((c.got.empty() ? 0 : c.got.back().offset + 1) >= before);
    c.before = UINT64_MAX;
    CHECK(check_of(c, s.sent_from(0)) == "");
  }
}

TEST_CASE("a reader at the end goes on with what is written behind it, without reading it again") {
  stream_on_disk s{1 << 20};
  chunk_reader reader{s.disk, streams};
  std::uint64_t offset = 0;
  journal::place stopped;
  s.add({100}, 1);
  s.make_safe();
  for (int n = 0; n < 50; ++n) {
    const auto where = s.table.find(offset, stopped);
    REQUIRE(where);
    const auto got = reader.read({queue, *where, offset});
    REQUIRE(got.chunks.size() == 1);
    CHECK(got.chunks[0].first == static_cast<std::uint64_t>(n));
    offset = got.offset;
    stopped = got.stopped;
    CHECK(!s.table.find(offset, stopped));
    s.add({100}, 1);
    s.make_safe();
    CHECK(s.table.find(offset, stopped)->from == stopped);
  }
}

TEST_CASE("a chunk larger than the buffer comes whole, whatever it ends with") {
  stream_on_disk s{16 << 20};
  const std::vector<std::size_t> many(300, 4000);
  auto with_large = many;
  with_large.push_back(3'000'000);
  s.add({10}, 1);
  s.add(many, 2);
  s.add(with_large, 3);
  s.add({1'000'000}, 4);
  s.add({262'144}, 5);
  s.add({10, 20}, 6);
  s.make_safe();
  chunk_reader reader{s.disk, streams};
  for (std::uint64_t offset : {0, 1, 300, 301, 600, 601, 602, 603, 604, 605, 606}) {
    cursor c{s.table, reader};
    c.offset = offset;
    INFO("offset " << offset);
    CHECK(check_of(c, s.sent_from(offset)) == "");
  }
  for (std::uint64_t ms = 1; ms <= 6; ++ms) {
    cursor c{s.table, reader};
    c.since_ms = ms;
    c.run();
    CHECK(c.got.front().time_ms == ms);
  }
  cursor c{s.table, reader};
  c.before = 301;
  c.run();
  CHECK(c.got.back().offset == 300);
}

TEST_CASE("a message with properties larger than the buffer is read all the same") {
  simulation_random dice{1};
  simulated_file_system disk{dice};
  REQUIRE(disk.create_folder(streams));
  REQUIRE(disk.create_folder(stream_folder(streams, queue)));
  journal_settings settings;
  settings.reserved_segments = 0;
  journal::journal log{disk, stream_folder(streams, queue), settings, {}, {}, [] { return 1u; },
                       queue};
  slab_writer slabs;
  for (const std::size_t properties : {262'000, 300'000})
    for (const std::size_t body : {10, 10'000}) {
      const std::string bytes(properties, 'p');
      message_parts parts;
      parts.properties = as_bytes(bytes);
      std::vector<message> messages;
      messages.push_back(slabs.add(parts, as_bytes(std::string(body, 'b'))));
      journal::record_writer w;
      w.add_chunk(queue, 0, 1, messages);
      log.add({w.take(), sync_policy::always, {}, nullptr});
      REQUIRE(log.commit());
    }
  chunk_reader reader{disk, streams};
  std::vector<std::pair<std::size_t, std::uint64_t>> sizes;
  stretch where{{1, journal::segment_header_size}, 1'150'000, 4};
  for (int n = 0; n < 4; ++n) {
    auto got = reader.read({queue, where});
    CHECK(got.damage.empty());
    REQUIRE(got.chunks.size() == 1);
    const auto& m = got.chunks[0].messages.at(0);
    sizes.emplace_back(m.properties().size(), m.body_size());
    CHECK((m.large() != nullptr) == (m.body_size() == 10'000));
    where.from = got.stopped;
  }
  CHECK(sizes == std::vector<std::pair<std::size_t, std::uint64_t>>{
                     {262'000, 10}, {262'000, 10'000}, {300'000, 10}, {300'000, 10'000}});
}

TEST_CASE("what is damaged is told and passed over, and everything else is read") {
  for (const bool large : {false, true}) {
    stream_on_disk s{large ? 4u << 20 : 16u << 10};
    if (large)
      for (int n = 0; n < 6; ++n) s.add({10, 400'000}, 1), s.make_safe();
    else
      fill(s, 60);
    std::vector<std::pair<record_place, std::uint64_t>> chunks;
    chunk_reader all{s.disk, streams};
    for (std::uint64_t offset = 0; offset < s.next;) {
      auto got = all.read({queue, *s.table.find(offset), offset});
      for (const auto& c : got.chunks) chunks.push_back({{c.at, 0}, c.first});
      offset = got.offset;
    }
    for (std::size_t hit = 0; hit < chunks.size(); hit += large ? 1 : 7) {
      const auto at = chunks[hit].first.at;
      const auto byte = at.offset + s.dice.below(44);
      const auto bit = static_cast<unsigned>(s.dice.below(8));
      s.disk.flip_bit(s.path_of(at.segment), byte, bit);
      const auto lost_end = hit + 1 < chunks.size() ? chunks[hit + 1].second : s.next;
      std::vector<read_message> expected;
      for (const auto& m : s.sent)
        if (m.offset < chunks[hit].second || m.offset >= lost_end) expected.push_back(m);
      for (const std::size_t max_bytes : {0, 256 << 10}) {
        chunk_reader reader{s.disk, streams};
        cursor c{s.table, reader};
        c.max_bytes = max_bytes;
        c.run();
        INFO("byte " << byte - at.offset << " bit " << bit);
        CHECK(c.got == expected);
        REQUIRE(!c.damage.empty());
        CHECK(c.damage[0].find(s.path_of(at.segment) + ": bytes " + std::to_string(at.offset) +
                               " to ") == 0);
        CHECK(c.offset == s.next);
      }
      s.disk.flip_bit(s.path_of(at.segment), byte, bit);
    }
  }
}

TEST_CASE("a reader of a segment that is freed, or whose file is used again, is told so") {
  stream_on_disk s;
  const bool keeps_open = GENERATE(false, true);
  s.fill_segments(5);
  chunk_reader reader{s.disk, streams};
  const auto first = *s.table.find(0);
  if (keeps_open) CHECK(reader.read({queue, first}).chunks.size() > 1);
  s.retire(0);
  CHECK(s.table.segments() == 1);
  auto got = reader.read({queue, first});
  CHECK(got.retired == !keeps_open);  // what is still in an open file is as good as ever
  CHECK(got.chunks.empty() == !keeps_open);
  CHECK(got.damage.empty());
  s.fill_segments(6);  // in the files of the first ones, too
  got = reader.read({queue, first});
  CHECK(got.retired);
  CHECK(got.chunks.empty());
  CHECK(got.damage.empty());
  cursor c{s.table, reader};
  CHECK(check_of(c, s.sent_from(s.table.first_offset())) == "");
}

TEST_CASE("a disk that does not give some bytes costs no more than what is there") {
  stream_on_disk s{1 << 20};
  for (int n = 0; n < 200; ++n) s.add({4000}, 1);
  s.make_safe();
  chunk_reader reader{s.disk, streams};
  cursor c{s.table, reader};
  s.disk.faults().fail_call(file_operation::read, 3, EIO);
  s.disk.faults().fail_call(file_operation::read, 4, EIO);
  c.run();
  CHECK(c.damage.size() >= 2);
  CHECK(c.got.size() > 60);
  CHECK(c.got.back().offset == 199);
}

TEST_CASE("readers at the end of a stream share few open files, and pages go once") {
  stream_on_disk s;
  fill(s, 200);
  REQUIRE(s.table.segments() > 20);
  chunk_reader reader{s.disk, streams};
  cursor c{s.table, reader};
  CHECK(check_of(c, s.sent_from(0)) == "");
  const auto opened = s.disk.calls(file_operation::open);
  CHECK(s.disk.calls(file_operation::drop_pages) == 0);
  cursor again{s.table, reader};
  again.offset = s.next - 1;
  CHECK(check_of(again, s.sent_from(s.next - 1)) == "");
  CHECK(s.disk.calls(file_operation::open) == opened);
  reader.left_behind(queue, s.table.find(s.next - 1)->from.segment);
  CHECK(s.disk.calls(file_operation::drop_pages) == 1);
  reader.left_behind(queue, 999);  // it has gone
  CHECK(s.disk.calls(file_operation::drop_pages) == 1);
}

TEST_CASE("streams with the same segments are told apart") {
  stream_on_disk s;
  s.add({10}, 1);
  s.make_safe();
  const auto other = stream_folder(streams, 8);
  REQUIRE(s.disk.create_folder(other));
  journal::journal log{s.disk, other, s.settings, {}, {}, [] { return 77u; }, 8};
  slab_writer slabs;
  std::vector<message> messages;
  message_parts parts;
  parts.routing_key = "other";
  messages.push_back(slabs.add(parts, as_bytes("x")));
  journal::record_writer w;
  w.add_chunk(8, 0, 1, messages);
  log.add({w.take(), sync_policy::always, {}, nullptr});
  REQUIRE(log.commit());
  chunk_reader reader{s.disk, streams};
  const auto where = *s.table.find(0);
  for (int n = 0; n < 2; ++n) {
    CHECK(reader.read({queue, where}).chunks.at(0).messages.at(0).routing_key() == "m0");
    CHECK(reader.read({8, where}).chunks.at(0).messages.at(0).routing_key() == "other");
  }
  reader.close(8);
  CHECK(reader.read({queue, where}).chunks.size() == 1);
}

TEST_CASE("what a reader of streams takes in memory is given back") {
  stream_on_disk s;
  fill(s, 100);
  s.add({300'000}, 1000);
  s.make_safe();
  const auto before = memory_account::total();
  {
    chunk_reader reader{s.disk, streams};
    cursor c{s.table, reader};
    CHECK(check_of(c, s.sent_from(0)) == "");
  }
  CHECK(memory_account::total() == before);
}
