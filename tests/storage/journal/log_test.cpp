#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "storage/files/system_file_system.hpp"
#include "storage/journal/log_recovery.hpp"
#include "storage/journal/log_writer.hpp"
#include "tests/catch.hpp"

using namespace baton;
using namespace baton::journal;

namespace {

constexpr std::uint32_t small_segment = 1024;

/// A folder with a log, as one process after the other finds it. What is written are settle records
/// of queue 1, whose first sequence is a number that counts up.
class log_folder {
public:
  log_folder() {
    folder =
        (std::filesystem::temp_directory_path() / ("baton-log-test-" + std::to_string(++folders_)))
            .string();
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~log_folder() { std::filesystem::remove_all(folder); }

  log_writer open(const log_state& after = {}) {
    return {files,
            {folder, segment_kind::journal, 0, small_segment},
            after.end,
            after.last_number,
            [this] { return ++generations_; }};
  }

  /// `count` records in one group, each with so many runs.
  std::vector<place> write(log_writer& log, std::size_t count, std::size_t runs = 1) {
    record_writer w;
    for (std::size_t i = 0; i < count; ++i)
      w.add_settle(std::vector<queue_run>(runs, {1, ++written_, 1}));
    auto records = w.take();
    encoded_records* const group[] = {&records};
    std::vector<record_place> where;
    CHECK(log.write(group, 0, where));
    CHECK(where.size() == count);
    std::vector<place> places;
    for (const auto& each : where) places.push_back(each.at);
    return places;
  }

  struct recovered {
    log_state state;
    std::vector<sequence> numbers;
    std::vector<place> places;
  };
  recovered recover() {
    recovered made;
    auto state = recover_log(files, folder, [&](place at, byte_view, const record& r) {
      if (const auto* s = std::get_if<settle>(&r)) {
        made.numbers.push_back(s->runs[0].first);
        made.places.push_back(at);
      }
    });
    if (!state) FAIL(state.reason().text);
    made.state = *std::move(state);
    return made;
  }

  std::string path_of(std::uint32_t segment) const { return folder + "/" + segment_name(segment); }
  /// Overwrites one byte.
  void damage(place at) {
    std::fstream file{path_of(at.segment), std::ios::in | std::ios::out | std::ios::binary};
    file.seekg(at.offset);
    const auto was = static_cast<char>(file.get());
    file.seekp(at.offset);
    file.put(static_cast<char>(was ^ 0x55));
  }
  /// Zeros from here to the segment's end: what a preallocated file holds that was not written.
  void unwrite(place from) {
    const auto size = std::filesystem::file_size(path_of(from.segment));
    std::filesystem::resize_file(path_of(from.segment), from.offset);
    std::filesystem::resize_file(path_of(from.segment), size);
  }
  std::size_t file_count() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator{folder}) ++count;
    return count;
  }

  std::string folder;
  system_file_system files;

private:
  static inline int folders_ = 0;
  sequence written_ = 0;
  std::uint64_t generations_ = 0;
};

std::vector<sequence> up_to(sequence last) {
  std::vector<sequence> all;
  for (sequence i = 1; i <= last; ++i) all.push_back(i);
  return all;
}

}  // namespace

TEST_CASE("segments sort by their numbers, and other files are none") {
  CHECK(segment_name(7) == "0000000007.log");
  CHECK(segment_number("0000000007.log") == 7u);
  CHECK(segment_number(segment_name(4'294'967'295)) == 4'294'967'295u);
  for (auto other : {"7.log", "0000000007.lo", "000000000x.log", "spare-7", "9999999999.log", ""})
    CHECK(!segment_number(other));
}

TEST_CASE("a log gives back what was written, in order and in its places, over many segments") {
  log_folder disk;
  std::vector<place> places;
  {
    auto log = disk.open();
    for (int group = 0; group < 20; ++group) {
      auto more = disk.write(log, 1 + static_cast<std::size_t>(group) % 7);
      places.insert(places.end(), more.begin(), more.end());
      if (group % 3 == 0) CHECK(log.sync());
    }
    CHECK(log.close());
  }
  const auto found = disk.recover();
  CHECK(found.numbers == up_to(places.size()));
  CHECK(found.places == places);
  CHECK(places.back().segment > 3);
  CHECK(found.state.last_number == places.back().segment);
  CHECK(found.state.torn.empty());
  CHECK(found.state.damage.empty());
  SECTION("and a later process goes on behind it") {
    auto log = disk.open(found.state);
    disk.write(log, 5);
    CHECK(disk.recover().numbers == up_to(places.size() + 5));
  }
}

TEST_CASE("a record larger than a segment gets a segment of its own") {
  log_folder disk;
  auto log = disk.open();
  disk.write(log, 1);
  const auto large = disk.write(log, 1, 1000);
  const auto after = disk.write(log, 1);
  CHECK(large.front() == place{2, segment_header_size + 24});
  CHECK(after.front().segment == 3);
  CHECK(disk.recover().numbers == up_to(3));
}

TEST_CASE("the file of a freed segment is used again, and what it held is not found") {
  log_folder disk;
  auto log = disk.open();
  disk.write(log, 50);
  const auto segments = disk.file_count();
  CHECK(segments > 2);
  CHECK(log.free(1, 1));
  CHECK(log.spares() == 1);
  CHECK(log.free(2, 1));  // one spare is enough: this one is removed
  CHECK(disk.file_count() == segments - 1);
  const auto left = disk.recover();
  CHECK(left.numbers.size() < 50);
  CHECK(left.state.spares.size() == 1);
  const auto last = log.end().segment;
  while (log.end().segment == last) disk.write(log, 1);
  CHECK(log.spares() == 0);
  CHECK(disk.file_count() == segments - 1);
  const auto now = disk.recover();
  CHECK(now.state.damage.empty());
  CHECK(now.numbers.front() == left.numbers.front());
  CHECK(now.numbers.size() > left.numbers.size());
}

TEST_CASE("spare files are made before they are needed, and adopted by the next process") {
  log_folder disk;
  {
    auto log = disk.open();
    CHECK(log.prepare_spares(2));
    CHECK(disk.file_count() == 2);
  }
  auto found = disk.recover();
  CHECK(found.state.spares.size() == 2);
  auto log = disk.open();
  for (auto& name : found.state.spares) log.adopt_spare(name);
  CHECK(log.prepare_spares(2));
  disk.write(log, 1);
  CHECK(disk.file_count() == 2);
}

TEST_CASE("a tail that was not synced is cut where it was torn, and all before it is given") {
  for (std::size_t lost = 0; lost < 8; ++lost) {
    log_folder disk;
    std::vector<place> places;
    {
      auto log = disk.open();
      disk.write(log, 10);
      CHECK(log.sync());
      places = disk.write(log, 8);
    }
    INFO("the " << lost << "th after the sync is torn");
    disk.damage({places[lost].segment, places[lost].offset + 20});
    const auto found = disk.recover();
    CHECK(found.numbers == up_to(10 + lost));
    CHECK(found.state.damage.empty());
    CHECK(found.state.torn == disk.path_of(places[lost].segment) + ": cut at offset " +
                                  std::to_string(places[lost].offset));
  }
}

TEST_CASE("damage below what was synced costs what it hits, and is reported") {
  for (std::size_t hit = 0; hit < 60; ++hit) {
    log_folder disk;
    std::vector<place> places;
    {
      auto log = disk.open();
      places = disk.write(log, 60);
      CHECK(log.sync());
      disk.write(log, 1);  // its group says what was synced
    }
    INFO("the " << hit << "th is damaged");
    disk.damage({places[hit].segment, places[hit].offset + 20});
    auto expected = up_to(61);
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(hit));
    const auto found = disk.recover();
    CHECK(found.numbers == expected);
    CHECK(found.state.torn.empty());
    REQUIRE(found.state.damage.size() == 1);
    CHECK(found.state.damage.front().starts_with(disk.path_of(places[hit].segment) + ": bytes " +
                                                 std::to_string(places[hit].offset) + " to "));
  }
}

TEST_CASE("a write that the disk lost in the middle of the log is noticed") {
  log_folder disk;
  std::vector<place> places;
  {
    auto log = disk.open();
    places = disk.write(log, 60);
    CHECK(log.sync());
    disk.write(log, 1);
  }
  // The end of the first segment is zeros, as if it had never been written.
  std::size_t kept = 0;
  while (places[kept + 3].segment == 1) ++kept;
  disk.unwrite(places[kept]);
  const auto found = disk.recover();
  CHECK(found.numbers.size() == 61 - 3);
  REQUIRE(found.state.damage.size() == 1);
  CHECK(found.state.torn.empty());
}

TEST_CASE("a log knows whether it was closed in order") {
  log_folder disk;
  CHECK(disk.recover().state.closed);  // nothing was ever written
  {
    auto log = disk.open();
    disk.write(log, 3);
    CHECK(!disk.recover().state.closed);
    CHECK(log.close());
    CHECK(disk.recover().state.closed);
  }
  auto log = disk.open(disk.recover().state);
  disk.write(log, 1);
  CHECK(!disk.recover().state.closed);
}

TEST_CASE("a log whose last segment is full knows that it was closed in order") {
  log_folder disk;
  auto log = disk.open();
  // Until there is no room for another group.
  while (disk.write(log, 1).back().offset + 2 * (record_header_size + 24) <= small_segment) {
  }
  CHECK(!disk.recover().state.closed);
  CHECK(log.close());
  CHECK(disk.recover().state.closed);
}

TEST_CASE("a log that is open again is not closed, though nothing was written since") {
  log_folder disk;
  {
    auto log = disk.open();
    disk.write(log, 3);
    CHECK(log.close());
  }
  auto log = disk.open(disk.recover().state);
  CHECK(log.reopen());
  const auto found = disk.recover();
  CHECK(!found.state.closed);
  CHECK(found.state.torn.empty());
  CHECK(found.numbers.size() == 3);
}

TEST_CASE("damage is noticed where a log went on after it was closed in order") {
  log_folder disk;
  {
    auto log = disk.open();
    disk.write(log, 3);
    CHECK(log.close());
  }
  auto log = disk.open(disk.recover().state);
  const auto first = disk.write(log, 1);
  disk.write(log, 1);
  CHECK(log.sync());
  disk.write(log, 1);                                         // its group says what was synced
  disk.damage({first[0].segment, segment_header_size + 10});  // the first group of all
  const auto found = disk.recover();
  CHECK(found.numbers == up_to(6));
  CHECK(found.state.damage.size() == 1);
}

TEST_CASE("a folder with a segment of a later version is not read at all") {
  log_folder disk;
  auto log = disk.open();
  disk.write(log, 1);
  std::fstream file{disk.path_of(1), std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(8);
  file.put(2);
  file.close();
  const auto state = recover_log(disk.files, disk.folder, [](place, byte_view, const record&) {});
  REQUIRE(!state);
  CHECK(state.reason().text ==
        disk.path_of(1) + ": has format version 2; this program knows version 1");
}

TEST_CASE("a segment that was begun and not written is none") {
  log_folder disk;
  auto log = disk.open();
  disk.write(log, 1);
  std::ofstream{disk.path_of(2)};
  const auto found = disk.recover();
  CHECK(found.numbers == up_to(1));
  CHECK(found.state.last_number == 2);
  CHECK(found.state.dead == std::vector<std::string>{segment_name(2)});
}

TEST_CASE("a last segment without records is no part of the log, but says where the log ended") {
  log_folder disk;
  auto log = disk.open();
  const auto places = disk.write(log, 3);
  // As if the second had been written in vain: a sync failed, and nothing was written since.
  const segment_header header{segment_kind::journal, 99, 2, 0, places[1]};
  const auto bytes = encode(header);
  std::ofstream{disk.path_of(2), std::ios::binary}.write(
      reinterpret_cast<const char*>(bytes.data()), segment_header_size);
  auto found = disk.recover();
  CHECK(found.numbers == up_to(1));
  CHECK(found.state.end == places[1]);
  CHECK(!found.state.closed);
  CHECK(found.state.segments == std::vector<std::uint32_t>{1});
  CHECK(found.state.dead == std::vector<std::string>{segment_name(2)});
  // It goes, and nothing comes back.
  REQUIRE(settle_log(disk.files, disk.folder, found.state));
  CHECK(disk.file_count() == 1);
  found = disk.recover();
  CHECK(found.numbers == up_to(1));
  CHECK(found.state.end == places[1]);
}

TEST_CASE("what is no part of a log goes from behind, but what was passed over goes first") {
  log_folder disk;
  std::vector<place> last;
  {
    auto log = disk.open();
    while (log.end().segment < 6) last = disk.write(log, 1, 10);
    REQUIRE(log.sync());
  }
  const auto header_of = [&](std::uint32_t number, place previous_end) {
    const auto bytes = encode({segment_kind::journal, 1000, number, 0, previous_end});
    std::fstream file{disk.path_of(number), std::ios::in | std::ios::out | std::ios::binary};
    file.write(reinterpret_cast<const char*>(bytes.data()), segment_header_size);
  };
  std::ofstream{disk.path_of(8)};
  header_of(8, {4, segment_header_size});  // and over 5 and 6
  std::ofstream{disk.path_of(9)};
  header_of(9, {8, segment_header_size});
  const auto found = disk.recover();
  CHECK(found.state.end.segment == 4);
  const auto dead = found.state.dead;
  REQUIRE(dead.size() == 4);
  CHECK(std::set<std::string>{dead[0], dead[1]} ==
        std::set<std::string>{segment_name(5), segment_name(6)});
  CHECK(dead[2] == segment_name(9));
  CHECK(dead[3] == segment_name(8));
}
