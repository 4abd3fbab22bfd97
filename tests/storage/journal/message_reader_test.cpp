#include "storage/journal/message_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/files/simulated_file_system.hpp"
#include "storage/journal/log_writer.hpp"
#include "storage/journal/record_writer.hpp"
#include "storage/memory_account.hpp"
#include "tests/catch.hpp"

using namespace baton;
using namespace baton::journal;

namespace {

const std::string folder = "/log";

/// All that a message is made of.
struct content {
  std::string exchange;
  std::string key;
  std::string properties;
  std::string body;
  bool persistent = true;
  std::uint8_t priority = 0;
  std::optional<std::uint64_t> expiration_ms;

  friend bool operator==(const content&, const content&) = default;
};

content content_of(const message& m) {
  content made{std::string{m.exchange()},
               std::string{m.routing_key()},
               std::string{as_text(m.properties())},
               {},
               m.persistent(),
               m.priority(),
               m.expiration_ms()};
  m.for_each_body_piece([&](byte_view piece) { made.body += as_text(piece); });
  return made;
}

std::string bytes_of(std::size_t size, unsigned seed) {
  std::string made(size, '\0');
  for (auto& c : made) c = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  return made;
}

/// A log with messages, and a reader of it.
class stored_messages {
public:
  explicit stored_messages(std::uint32_t segment_size = 64u << 20) {
    REQUIRE(disk.create_folder(folder));
    log_.emplace(disk, log_options{folder, segment_kind::journal, 0, segment_size}, place{}, 0,
                 [this] { return ++generations_; });
    reader.emplace(disk, folder);
  }

  message make(const content& c) {
    message_parts parts;
    parts.exchange = c.exchange;
    parts.routing_key = c.key;
    parts.properties = as_bytes(c.properties);
    parts.persistent = c.persistent;
    parts.priority = c.priority;
    parts.expiration_ms = c.expiration_ms;
    return slabs_.add(parts, as_bytes(c.body));
  }

  std::vector<place> write(record_writer& w) {
    auto records = w.take();
    encoded_records* const group[] = {&records};
    std::vector<record_place> where;
    CHECK(log_->write(group, 0, where));
    std::vector<place> places;
    for (const auto& each : where) places.push_back(each.at);
    return places;
  }
  /// `count` messages with bodies of this size.
  std::vector<place> write(std::size_t count, std::size_t body_size) {
    record_writer w;
    for (std::size_t i = 0; i < count; ++i) {
      content c;
      c.body = bytes_of(body_size, static_cast<unsigned>(i));
      w.add_enqueue(std::vector<queue_place>{{1, i + 1}}, make(c));
    }
    return write(w);
  }

  std::vector<message_reader::outcome> read(std::vector<place> places, std::uint64_t queue = 1) {
    std::vector<message_reader::outcome> got;
    reader->read(queue, places, got);
    CHECK(got.size() == places.size());
    return got;
  }
  std::string path_of(std::uint32_t segment) const { return folder + "/" + segment_name(segment); }
  std::uint64_t reads() const { return disk.calls(file_operation::read); }
  std::uint64_t drops() const { return disk.calls(file_operation::drop_pages); }

  simulation_random dice{1};
  simulated_file_system disk{dice};
  std::optional<message_reader> reader;

private:
  std::optional<log_writer> log_;
  slab_writer slabs_;
  std::uint64_t generations_ = 0;
};

std::string why(const message_reader::outcome& one) { return one ? "" : one.reason().text(); }

}  // namespace

TEST_CASE("a message is read as it was written, whatever record it lies in and whatever it is") {
  std::vector<content> contents{
      {},
      {"orders", "order.eu.paid", std::string("\x10\x00\x02", 3), "hello", true, 9, 5},
      {std::string(255, 'x'), std::string(255, 'k'), bytes_of(2000, 1), "", false, 255, 0},
  };
  for (std::size_t size :
       {1, 7, 8, 4096, 4097, 16'000, 100'000, 262'000, 262'144, 262'200, 900'000})
    contents.push_back({"x", "k", bytes_of(30, 2), bytes_of(size, 3), true, 0, {}});
  const auto before = memory_account::total();
  {
    stored_messages disk{1 << 20};
    std::vector<place> places;
    std::vector<content> expected;
    const std::vector<queue_run> runs{{3, 4, 5}};
    const std::vector<queue_place> one{{1, 1}};
    const std::vector<queue_place> three{{1, 1}, {2, 5, 6, 7}, {3, 1}};
    for (const auto& c : contents) {
      const auto m = disk.make(c);
      record_writer w;
      w.add_enqueue(one, m);
      w.add_enqueue(three, m);
      w.add_move(runs, three, m);
      w.add_relocate(one, m);
      for (auto at : disk.write(w)) {
        places.push_back(at);
        expected.push_back(c);
      }
      w.begin_tx();
      w.add_enqueue(one, m);
      w.end_tx();
      auto part = disk.write(w).front();
      part.offset += record_header_size;
      places.push_back(part);
      expected.push_back(c);
    }
    const auto check = [&](const std::vector<message_reader::outcome>& got) {
      for (std::size_t i = 0; i < got.size(); ++i) {
        INFO(i << ": body of " << expected[i].body.size() << " bytes");
        REQUIRE(why(got[i]) == "");
        CHECK(content_of(*got[i]) == expected[i]);
      }
    };
    check(disk.read(places));
    // Backwards, and one by one.
    std::reverse(places.begin(), places.end());
    std::reverse(expected.begin(), expected.end());
    check(disk.read(places));
    for (std::size_t i = 0; i < places.size(); ++i)
      CHECK(content_of(*disk.read({places[i]})[0]) == expected[i]);
  }
  CHECK(memory_account::total() == before);
}

TEST_CASE("a message that stands in more queues than fit into a buffer is read all the same") {
  stored_messages disk;
  std::vector<queue_place> places;
  for (std::uint64_t q = 1; q <= 20'000; ++q) places.push_back({q, q});
  record_writer w;
  content c;
  c.body = "to all";
  w.add_enqueue(places, disk.make(c));
  CHECK(content_of(*disk.read(disk.write(w))[0]) == c);
}

TEST_CASE("messages that lie close together are read at once") {
  stored_messages disk;
  const auto small = disk.write(64, 100);
  const auto larger = disk.write(64, 3000);
  const auto large = disk.write(4, 100'000);
  disk.read({small[0]});  // opens the file
  const auto cost = [&](const std::vector<place>& places) {
    const auto before = disk.reads();
    for (const auto& one : disk.read(places)) CHECK(why(one) == "");
    return disk.reads() - before;
  };
  CHECK(cost(small) == 1);
  CHECK(cost(larger) == 1);
  CHECK(cost({small[3], small[30], small[60]}) == 1);
  CHECK(cost({small[0], larger[63]}) == 2);
  CHECK(cost(large) <= 12);
}

TEST_CASE("a damaged record is told with its place, and all others are given") {
  stored_messages disk;
  const auto places = disk.write(64, 100);
  for (std::size_t hit : {0, 1, 31, 63}) {
    for (std::uint32_t at : {0u, 2u, 5u, 40u, 150u}) {  // size, checksum, inside
      INFO("byte " << at << " of record " << hit);
      const auto offset = places[hit].offset + at;
      disk.disk.flip_bit(disk.path_of(1), offset, 5);
      const auto got = disk.read(places);
      disk.disk.flip_bit(disk.path_of(1), offset, 5);
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(bool{got[i]} == (i != hit));
      CHECK(got[hit].reason().path == disk.path_of(1));
      CHECK(got[hit].reason().offset == places[hit].offset);
    }
  }
  disk.disk.flip_bit(disk.path_of(1), places[5].offset + 60, 1);
  CHECK(why(disk.read({places[5]})[0]) == disk.path_of(1) + ": offset " +
                                              std::to_string(places[5].offset) +
                                              ": its checksum is wrong");
}

TEST_CASE("a damaged record that is larger than the buffer is told, and its memory is given back") {
  stored_messages disk;
  const auto places = disk.write(2, 1'000'000);
  const auto before = memory_account::total();
  disk.disk.flip_bit(disk.path_of(1), places[0].offset + 700'000, 0);
  {
    const auto got = disk.read(places);
    CHECK(why(got[0]).ends_with("its checksum is wrong"));
    CHECK(why(got[1]) == "");
  }
  CHECK(memory_account::total() == before);
}

TEST_CASE("places where no message lies are told for what they are") {
  stored_messages disk{4096};
  record_writer w;
  w.add_settle(std::vector<queue_run>{{1, 1, 1}});
  const auto settled = disk.write(w).front();
  const auto read_one = [&](place at) { return why(disk.read({at})[0]); };
  CHECK(read_one(settled).ends_with("a record of kind 3 has no message"));
  CHECK(read_one({1, 2048}) == disk.path_of(1) + ": offset 2048: nothing is written here");
  CHECK(read_one({1, 4096}) == disk.path_of(1) + ": offset 4096: the file ends before it");
  CHECK(read_one({1, 1u << 31}).ends_with("the file ends before it"));
  CHECK(read_one({9, 64}).starts_with(disk.path_of(9) + ": offset 64: open "));
  const auto large = disk.write(1, 500'000).front();
  auto file = disk.disk.open(disk.path_of(large.segment), open_mode::read_write);
  REQUIRE((*file)->truncate(400'000));
  CHECK(read_one(large).ends_with("the file ends before it does"));
  REQUIRE((*file)->truncate(30));
  disk.reader.emplace(disk.disk, folder);
  CHECK(read_one(large).ends_with("the file is no segment of a journal"));
}

TEST_CASE("a stretch that a disk does not give is read one by one") {
  stored_messages disk;
  const auto places = disk.write(20, 100);
  disk.read({places[0]});
  auto& faults = disk.disk.faults();
  faults.fail_call(file_operation::read, 1, EIO);  // the stretch
  faults.fail_call(file_operation::read, 4, EIO);  // the second record
  const auto got = disk.read(places);
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(bool{got[i]} == (i != 1));
  CHECK(why(got[1]).starts_with(disk.path_of(1) + ": offset " + std::to_string(places[1].offset) +
                                ": read "));
}

TEST_CASE("a segment gives up its pages once, when all queues that read have left it behind") {
  stored_messages disk{4096};
  const auto places = disk.write(200, 100);
  std::map<std::uint32_t, place> in;  // a place in each segment
  for (auto at : places) in.try_emplace(at.segment, at);
  REQUIRE(in.size() > 6);

  disk.read({in[1]}, 1);
  disk.read({in[1]}, 2);
  disk.read({in[2]}, 1);
  CHECK(disk.drops() == 0);  // queue 2 still stands in segment 1
  disk.read({in[2], in[3]}, 2);
  CHECK(disk.drops() == 1);  // 1; queue 1 stands in 2
  disk.read({in[4]}, 1);
  CHECK(disk.drops() == 2);  // 2
  SECTION("a queue that has caught up drops nothing, and is not waited for") {
    disk.reader->leave(1);
    CHECK(disk.drops() == 2);  // 4 may be where the log is written
    disk.read({in[5]}, 2);
    CHECK(disk.drops() == 4);  // 3 and 4
    disk.reader->leave(2);
    disk.reader->leave(2);
    CHECK(disk.drops() == 4);
    SECTION("until another one passes") {
      disk.read({in[6]}, 3);
      CHECK(disk.drops() == 5);
    }
  }
  SECTION("reading on where one stands drops nothing") {
    for (int i = 0; i < 10; ++i) disk.read({in[4]}, 1);
    CHECK(disk.drops() == 2);
  }
  SECTION("a slow queue keeps what it will read, and what one that is gone kept is dropped") {
    disk.read({in[6]}, 1);
    CHECK(disk.drops() == 2);
    disk.reader->leave(2);
    CHECK(disk.drops() == 4);  // 3 and 4
  }
  SECTION("a segment that was freed is not touched again") {
    disk.reader->close(3);
    disk.reader->close(4);
    disk.read({in[6]}, 1);
    disk.read({in[6]}, 2);
    CHECK(disk.drops() == 2);
  }
}

TEST_CASE("few files are open, however many segments are read") {
  stored_messages disk{4096};
  const auto places = disk.write(1000, 100);
  for (int round = 0; round < 2; ++round) {
    const auto got = disk.read(places);
    for (std::size_t i = 0; i < got.size(); ++i) {
      REQUIRE(why(got[i]) == "");
      CHECK(content_of(*got[i]).body == bytes_of(100, static_cast<unsigned>(i)));
    }
  }
  // Each segment: its header and its messages, twice.
  CHECK(disk.reads() <= 2 * 2 * places.back().segment);
}

TEST_CASE("any choice of places gives what was written there") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    simulation_random dice{seed};
    stored_messages disk{static_cast<std::uint32_t>(dice.once_in(2) ? 32'768 : 1 << 22)};
    std::vector<std::pair<place, std::string>> written;
    for (auto groups = 1 + dice.below(10); groups > 0; --groups) {
      record_writer w;
      std::vector<std::string> bodies;
      for (auto n = 1 + dice.below(60); n > 0; --n) {
        const auto limit = dice.once_in(50) ? 600'000u : dice.once_in(8) ? 20'000u : 300u;
        content c;
        c.body = bytes_of(dice.below(limit), static_cast<unsigned>(written.size() + n));
        bodies.push_back(c.body);
        w.add_enqueue(std::vector<queue_place>{{1, 1}}, disk.make(c));
      }
      const auto places = disk.write(w);
      for (std::size_t i = 0; i < places.size(); ++i) written.emplace_back(places[i], bodies[i]);
    }
    for (int round = 0; round < 8; ++round) {
      std::vector<place> places;
      std::vector<std::string> expected;
      const auto one_in = 1 + dice.below(6);
      for (const auto& [at, body] : written)
        if (dice.once_in(one_in)) {
          places.push_back(at);
          expected.push_back(body);
        }
      if (dice.once_in(3)) {
        std::reverse(places.begin(), places.end());
        std::reverse(expected.begin(), expected.end());
      }
      const auto got = disk.read(places);
      for (std::size_t i = 0; i < got.size(); ++i) {
        REQUIRE(why(got[i]) == "");
        CHECK(content_of(*got[i]).body == expected[i]);
      }
    }
  }
}
