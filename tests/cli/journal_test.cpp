#include "cli/journal.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "storage/files/system_file_system.hpp"
#include "storage/journal/log_writer.hpp"
#include "storage/journal/record_writer.hpp"
#include "tests/catch.hpp"
#include "tests/config/temporary_folder.hpp"

using namespace baton;
using namespace baton::journal;

namespace {

/// A journal with a record of each kind that a node writes, closed in order.
void write_journal(const std::filesystem::path& folder) {
  system_file_system files;
  std::filesystem::create_directories(folder);
  std::uint64_t generation = 0;
  log_writer log{files, {folder.string(), segment_kind::journal, 0, 4096}, {}, 0, [&] {
                   return ++generation;
                 }};
  slab_writer slabs;
  message_parts parts;
  parts.exchange = "orders";
  parts.routing_key = "eu \"1\"\n";
  parts.properties = as_bytes("abc");
  parts.priority = 4;
  parts.persistent = true;
  const auto m = slabs.add(parts, as_bytes("hello"));
  record_writer w;
  w.add_define("queue 7", as_bytes("what it is"));
  w.add_enqueue(std::vector<queue_place>{{7, 1, 0, 0}, {8, 5, 1234, 2}}, m);
  w.add_settle(std::vector<queue_run>{{7, 1, 1}, {9, 10, 5}});
  w.add_move(std::vector<queue_run>{{8, 5, 1}}, std::vector<queue_place>{{7, 2, 0, 0}}, m);
  w.add_requeue(std::vector<queue_return>{{7, 2, 3}});
  w.add_purge(9, 20, std::vector<queue_run>{{9, 3, 1}});
  w.begin_tx();
  w.add_define("queue 7", std::nullopt);
  w.add_relocate(std::vector<queue_place>{{7, 2, 0, 3}}, m);
  w.end_tx();
  w.add_peer_progress({1, 2, 3});
  auto records = w.take();
  encoded_records* const all[] = {&records};
  std::vector<record_place> where;
  REQUIRE(log.write(all, 0, where));
  REQUIRE(log.close());
}

void flip(const std::filesystem::path& file, std::streamoff at) {
  std::fstream f{file, std::ios::in | std::ios::out | std::ios::binary};
  f.seekg(at);
  const auto was = static_cast<char>(f.get());
  f.seekp(at);
  f.put(static_cast<char>(was ^ 1));
}

struct outcome {
  int code;
  std::string out, err;
};
outcome dump(const std::filesystem::path& folder) {
  std::ostringstream out, err;
  const auto code = dump_journal_command(folder, out, err);
  return {code, out.str(), err.str()};
}
outcome verify(const std::filesystem::path& folder) {
  std::ostringstream out, err;
  const auto code = verify_journal_command(folder, out, err);
  return {code, out.str(), err.str()};
}

constexpr auto dumped =
    R"(1:64 24 group, synced to 0:0
1:88 41 define, "queue 7", value of 10 bytes
1:136 109 enqueue, queue 7 #1, queue 8 #5 until 1234 returned 2x, exchange "orders", key "eu \"1\"\x0a", properties of 3 bytes, body of 5 bytes, priority 4
1:248 64 settle, queue 7 #1, queue 9 #10 and 4 more
1:312 109 move, queue 8 #5, now queue 7 #2, exchange "orders", key "eu \"1\"\x0a", properties of 3 bytes, body of 5 bytes, priority 4
1:424 40 requeue, queue 7 #2 returned 3x
1:464 56 purge, queue 9 below #20, but queue 9 #3
1:520 136 tx, 2 records
  1:536 31 define, "queue 7", no longer
  1:568 85 relocate, queue 7 #2 returned 3x, exchange "orders", key "eu \"1\"\x0a", properties of 3 bytes, body of 5 bytes, priority 4
1:656 40 peer_progress, peer 1 epoch 2 #3
1:696 24 group, synced to 1:696, closes the log
)";

}  // namespace

TEST_CASE("journal dump says of each record where it lies and what it says, on one line") {
  const temporary_folder data;
  write_journal(data.path() / "journal");
  for (const auto& folder : {data.path(), data.path() / "journal"}) {
    const auto said = dump(folder);
    CHECK(said.code == 0);
    CHECK(said.out == dumped);
    CHECK(said.err.empty());
  }
}

TEST_CASE("journal verify says what a start would find, and changes nothing") {
  const temporary_folder data;
  write_journal(data.path());
  const auto first = data.path() / "0000000001.log";
  const auto written = std::filesystem::last_write_time(first);
  const auto said = verify(data.path());
  CHECK(said.code == 0);
  CHECK(said.out == data.path().string() +
                        ": 1 segment, 10 records of 656 bytes\n"
                        "1 message with 5 bytes in 1 queue, 0 definitions\n"
                        "ends at 1:720, closed in order, no damage\n");
  CHECK(said.err.empty());
  CHECK(std::filesystem::last_write_time(first) == written);
}

TEST_CASE("journal verify and dump fail where something is missing that was safe, and go on") {
  const temporary_folder data;
  write_journal(data.path());
  flip(data.path() / "0000000001.log", 300);  // the settle record
  for (const auto& said : {verify(data.path()), dump(data.path())}) {
    CHECK(said.code == 1);
    CHECK(said.err == "damage: " + (data.path() / "0000000001.log").string() +
                          ": bytes 248 to 312 are damaged\n");
  }
  CHECK_THAT(verify(data.path()).out, Catch::Matchers::EndsWith(", 1 damaged place\n"));
}

TEST_CASE("a torn tail is told and is no damage") {
  const temporary_folder data;
  write_journal(data.path());
  flip(data.path() / "0000000001.log", 696 + 20);  // the closing group, which says that all is safe
  flip(data.path() / "0000000001.log", 656 + 20);
  const auto said = verify(data.path());
  CHECK(said.code == 0);
  CHECK(said.err == "torn: " + (data.path() / "0000000001.log").string() + ": cut at offset 656\n");
  CHECK_THAT(said.out, Catch::Matchers::ContainsSubstring("ends at 1:656, not closed in order"));
}

TEST_CASE("a folder without a journal is told from one that is not there") {
  const temporary_folder data;
  for (const auto& said : {verify(data.path()), dump(data.path())}) {
    CHECK(said.code == 1);
    CHECK(said.out.empty());
    CHECK(said.err == data.path().string() +
                          ": holds no journal, expected segments as 0000000001.log in it or in its "
                          "folder journal\n");
  }
  const auto none = verify(data.path() / "none");
  CHECK(none.code == 1);
  CHECK_THAT(none.err, Catch::Matchers::EndsWith("none: No such file or directory\n"));
}
