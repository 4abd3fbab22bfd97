// What the simulated disk promises beyond `file_system`: that it does all that a disk may do.

#include "storage/files/simulated_file_system.hpp"

#include <cerrno>
#include <functional>
#include <set>
#include <string>

#include "tests/catch.hpp"
#include "tests/storage/files/helpers.hpp"

using namespace baton;

namespace {

constexpr int seeds = 1000;

/// A disk with an empty folder /d, which is durable.
struct machine {
  explicit machine(std::uint64_t seed) : dice{seed} {
    REQUIRE(disk.create_folder("/d"));
    REQUIRE(disk.sync_folder("/"));
  }

  void lose_power() {
    disk.power_cut();
    disk.power_on();
  }
  std::string left(const std::string& path) {
    return contents(*opened(disk, path, open_mode::read));
  }
  std::string names() {
    std::string all;
    const auto listed = disk.list("/d");
    for (const std::string& name : listed.value()) all += name;
    return all;
  }

  simulation_random dice;
  simulated_file_system disk{dice};
};

/// What is found after power cuts with many seeds.
std::set<std::string> outcomes(const std::function<std::string(machine&)>& run) {
  std::set<std::string> seen;
  for (int seed = 0; seed < seeds; ++seed) {
    machine on{static_cast<std::uint64_t>(seed)};
    seen.insert(run(on));
  }
  return seen;
}

/// A durable file of `text`.
std::unique_ptr<file> synced(machine& on, const std::string& path, const std::string& text) {
  auto made = created(on.disk, path);
  write(*made, 0, text);
  REQUIRE(made->sync());
  REQUIRE(on.disk.sync_folder("/d"));
  return made;
}

using words = std::set<std::string>;

}  // namespace

TEST_CASE("what was synced survives every power cut") {
  CHECK(outcomes([](machine& on) {
          synced(on, "/d/7", "synced");
          on.lose_power();
          on.lose_power();
          return on.left("/d/7");
        }) == words{"synced"});
}

TEST_CASE("an unsynced write is lost or kept, each sector by itself") {
  const auto seen = outcomes([](machine& on) {
    const auto made = synced(on, "/d/7", std::string(3 * 512, 'a'));
    write(*made, 256, std::string(1024, 'b'));
    on.lose_power();
    const std::string left = on.left("/d/7");
    return std::string{left[256], left[511], left[512], left[1023], left[1024], left[1279]} +
           left[0] + left[1280];
  });
  CHECK(seen == words{"aaaaaaaa", "aaaabbaa", "aabbaaaa", "aabbbbaa", "bbaaaaaa", "bbaabbaa",
                      "bbbbaaaa", "bbbbbbaa"});
}

TEST_CASE("unsynced writes reach the disk in any order, but those to one sector in theirs") {
  CHECK(outcomes([](machine& on) {
          const auto made = synced(on, "/d/7", std::string(1024, 'a'));
          write(*made, 0, "b");
          write(*made, 512, "b");
          on.lose_power();
          const std::string left = on.left("/d/7");
          return std::string{left[0], left[512]};
        }) == words{"aa", "ab", "ba", "bb"});
  CHECK(outcomes([](machine& on) {
          const auto made = synced(on, "/d/7", std::string(512, 'a'));
          write(*made, 0, "b");
          write(*made, 1, "c");
          on.lose_power();
          return on.left("/d/7").substr(0, 2);
        }) == words{"aa", "ba", "bc"});
}

TEST_CASE("an unsynced size is lost or kept, and zeros stand where its bytes are missing") {
  const auto seen = outcomes([](machine& on) {
    const auto made = synced(on, "/d/7", "a");
    write(*made, 1, "b");
    REQUIRE(made->preallocate(0, 3));
    on.lose_power();
    std::string left = on.left("/d/7");
    for (char& c : left)
      if (c == '\0') c = '0';
    return left;
  });
  CHECK(seen == words{"a", "ab", "a0", "ab0", "a00"});
}

TEST_CASE("a truncate that is not synced is lost or kept") {
  CHECK(outcomes([](machine& on) {
          REQUIRE(synced(on, "/d/7", "abc")->truncate(1));
          on.lose_power();
          return on.left("/d/7");
        }) == words{"a", "abc"});
}

TEST_CASE("a sync of a file says nothing about its name") {
  CHECK(outcomes([](machine& on) {
          REQUIRE(created(on.disk, "/d/a")->sync());
          on.lose_power();
          return on.names();
        }) == words{"", "a"});
}

TEST_CASE("unsynced names are lost or kept, each by itself") {
  CHECK(outcomes([](machine& on) {
          created(on.disk, "/d/a");
          created(on.disk, "/d/b");
          on.lose_power();
          return on.names();
        }) == words{"", "a", "ab", "b"});
  CHECK(outcomes([](machine& on) {
          synced(on, "/d/a", "");
          synced(on, "/d/b", "");
          REQUIRE(on.disk.remove("/d/a"));
          REQUIRE(on.disk.remove("/d/b"));
          on.lose_power();
          return on.names();
        }) == words{"", "a", "ab", "b"});
  CHECK(outcomes([](machine& on) {
          created(on.disk, "/d/a");
          REQUIRE(on.disk.rename("/d/a", "/d/b"));
          on.lose_power();
          return on.names();
        }) == words{"", "a", "b"});
}

TEST_CASE("a rename is whole or absent after a power cut") {
  CHECK(outcomes([](machine& on) {
          synced(on, "/d/a", "new");
          synced(on, "/d/b", "old");
          REQUIRE(on.disk.rename("/d/a", "/d/b"));
          on.lose_power();
          return on.names() + on.left("/d/b");
        }) == words{"abold", "bnew"});
  CHECK(outcomes([](machine& on) {
          synced(on, "/d/a", "");
          REQUIRE(on.disk.rename("/d/a", "/d/b"));
          REQUIRE(on.disk.rename("/d/b", "/d/c"));
          on.lose_power();
          return on.names();
        }) == words{"a", "b", "c"});
}

TEST_CASE("a folder whose name is lost takes its files with it") {
  CHECK(outcomes([](machine& on) {
          REQUIRE(on.disk.create_folder("/d/e"));
          created(on.disk, "/d/e/7");
          REQUIRE(on.disk.sync_folder("/d/e"));
          on.lose_power();
          const auto inner = on.disk.list("/d/e");
          return inner ? "e" + inner->front() : on.names();
        }) == words{"", "e7"});
}

TEST_CASE("after a power cut open files and locks are dead, and all fails until it is back") {
  machine on{1};
  auto made = synced(on, "/d/7", "text");
  auto lock = on.disk.lock_folder("/d");
  REQUIRE(lock);
  bool was_told = false;
  on.disk.on_power_cut([&] { was_told = true; });
  on.disk.power_cut();
  CHECK(was_told);
  CHECK(!on.disk.has_power());
  const auto off = on.disk.open("/d/7", open_mode::read);
  REQUIRE(!off);
  CHECK(off.reason().code == EIO);
  CHECK(off.reason().text() == "open /d/7: the power is off");
  CHECK(made->size().reason().code == EIO);

  on.disk.power_on();
  CHECK(made->sync().reason().text() == "sync /d/7: the power was cut since it was opened");
  CHECK(on.left("/d/7") == "text");
  const auto again = on.disk.lock_folder("/d");
  REQUIRE(again);
  lock->reset();
  CHECK(!on.disk.lock_folder("/d"));
}

TEST_CASE("the power goes at the planned call, before or after it takes effect") {
  const auto seen = outcomes([](machine& on) {
    const auto made = synced(on, "/d/7", "a");
    on.disk.faults().cut_power_at_call(2);
    write(*made, 0, "b");
    CHECK(made->sync().reason().code == EIO);
    CHECK(!on.disk.has_power());
    on.disk.power_on();
    return on.left("/d/7");
  });
  CHECK(seen == words{"a", "b"});
  machine on{1};
  on.disk.faults().cut_power_at_call(1);
  CHECK(!on.disk.lock_folder("/d"));
}

TEST_CASE("what a failed sync lost is read until its page is dropped and never becomes durable") {
  const auto seen = outcomes([](machine& on) {
    const auto made = synced(on, "/d/7", std::string(5000, 'a'));
    write(*made, 0, "b");
    on.disk.faults().fail_call(file_operation::sync, 1, EIO);
    CHECK(made->sync().reason().text() == "sync /d/7: Input/output error");
    CHECK(read(*made, 0, 1) == "b");
    write(*made, 4096, "c");
    REQUIRE(made->sync());
    CHECK(read(*made, 0, 1) == "b");
    std::string told;
    if (on.dice.once_in(2)) {
      REQUIRE(made->drop_pages(0, 4096));
      told = "dropped ";
      told += contents(*made)[0];
    } else {
      on.lose_power();
      told = "cut ";
      told += on.left("/d/7")[0];
    }
    CHECK(contents(*opened(on.disk, "/d/7", open_mode::read))[4096] == 'c');
    return told;
  });
  CHECK(seen == words{"cut a", "cut b", "dropped a", "dropped b"});
}

TEST_CASE("after a failed sync of a folder its names are not durable, whatever syncs follow") {
  CHECK(outcomes([](machine& on) {
          created(on.disk, "/d/a");
          on.disk.faults().fail_call(file_operation::sync_folder, 1, EIO);
          CHECK(!on.disk.sync_folder("/d"));
          created(on.disk, "/d/b");
          REQUIRE(on.disk.sync_folder("/d"));
          CHECK(on.names() == "ab");
          on.lose_power();
          return on.names();
        }) == words{"ab", "b"});
}

TEST_CASE("calls fail as planned, and only those") {
  machine on{1};
  const auto made = synced(on, "/d/7", "abc");
  auto& faults = on.disk.faults();
  faults.fail_call(file_operation::read, 2, EIO);
  CHECK(contents(*made) == "abc");
  std::uint8_t byte = 0;
  CHECK(made->read(0, {&byte, 1}).reason().code == EIO);
  CHECK(contents(*made) == "abc");

  faults.fail_once_in(file_operation::preallocate, 1, ENOSPC);
  CHECK(made->preallocate(0, 10).reason().text() == "preallocate /d/7: No space left on device");
  CHECK(made->size().value() == 3);
  faults.fail_once_in(file_operation::preallocate, 0, 0);
  CHECK(made->preallocate(0, 10));

  faults.fail_once_in(file_operation::rename, 3, EIO);
  int failed = 0;
  for (int i = 0; i < 300; ++i) failed += !on.disk.rename("/d/7", "/d/7");
  CHECK((failed > 50 && failed < 150));
  faults.clear();
  CHECK(on.disk.rename("/d/7", "/d/8"));
}

TEST_CASE("a write that fails may have written a part") {
  const auto seen = outcomes([](machine& on) {
    const auto made = synced(on, "/d/7", "aaa");
    on.disk.faults().fail_call(file_operation::write, 1, EIO);
    const std::vector<byte_view> pieces{as_bytes("bb"), as_bytes("b")};
    CHECK(!made->write(0, pieces));
    return contents(*made);
  });
  CHECK(seen == words{"aaa", "baa", "bba"});
}

TEST_CASE("a full disk refuses preallocation and growth, but not writes into preallocated space") {
  machine on{1};
  on.disk.set_capacity(10 * 4096);
  const auto made = created(on.disk, "/d/7");
  CHECK(on.disk.free_space("/d").value() == 10 * 4096);
  REQUIRE(made->preallocate(0, 8 * 4096));
  CHECK(on.disk.free_space("/d").value() == 2 * 4096);
  const auto other = created(on.disk, "/d/8");
  CHECK(other->preallocate(0, 3 * 4096).reason().code == ENOSPC);
  CHECK(other->size().value() <= 2 * 4096);
  const std::string block(4096, 'x');
  const std::vector<byte_view> pieces{as_bytes(block)};
  CHECK(other->write(2 * 4096, pieces).reason().code == ENOSPC);
  for (std::uint64_t at = 0; at < 8; ++at) CHECK(made->write(at * 4096, pieces));
  REQUIRE(made->sync());
  CHECK(made->write(0, pieces));
  CHECK(made->write(8 * 4096, pieces).reason().code == ENOSPC);
}

TEST_CASE("a removed file's space is free once its removal is durable and it is closed") {
  machine on{1};
  on.disk.set_capacity(10 * 4096);
  auto made = synced(on, "/d/7", std::string(8 * 4096, 'x'));
  REQUIRE(on.disk.remove("/d/7"));
  CHECK(on.disk.free_space("/d").value() == 2 * 4096);
  REQUIRE(on.disk.sync_folder("/d"));
  CHECK(on.disk.free_space("/d").value() == 2 * 4096);
  made.reset();
  CHECK(on.disk.free_space("/d").value() == 10 * 4096);
}

TEST_CASE("damage is in the file for good") {
  machine on{1};
  const auto made = synced(on, "/d/7", "abc");
  on.disk.flip_bit("/d/7", 1, 0);
  CHECK(contents(*made) == "acc");
  on.disk.overwrite("/d/7", 2, as_bytes("XY"));
  on.lose_power();
  CHECK(on.left("/d/7") == "acXY");
  CHECK(as_text(on.disk.durable_contents("/d/7")) == "acXY");
}

TEST_CASE("calls are counted by kind") {
  machine on{1};
  const auto made = synced(on, "/d/7", "abc");
  CHECK(on.disk.calls(file_operation::write) == 1);
  CHECK(on.disk.calls(file_operation::sync) == 1);
  CHECK(on.disk.calls(file_operation::sync_folder) == 2);
  CHECK(on.disk.calls(file_operation::read) == 0);
  const auto before = on.disk.faults().calls();
  REQUIRE(made->drop_pages(0, 0));
  std::vector<byte_view> pieces(file::pieces_a_call + 1, as_bytes("x"));
  REQUIRE(made->write(0, pieces));
  CHECK(on.disk.calls(file_operation::drop_pages) == 1);
  CHECK(on.disk.faults().calls() == before + 3);
}

TEST_CASE("the same seed ends in the same state") {
  const auto run = [](std::uint64_t seed) {
    machine on{seed};
    const auto made = synced(on, "/d/7", std::string(20 * 512, 'a'));
    for (std::uint64_t i = 0; i < 20; ++i) write(*made, i * 512, std::string(512, 'b'));
    on.lose_power();
    return on.left("/d/7");
  };
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(run(seed) == run(seed));
    seen.insert(run(seed));
  }
  CHECK(seen.size() > 5);
}
