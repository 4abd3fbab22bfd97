// What `file_system` promises, asked of the machine's files and of the simulated ones alike.

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <thread>

#include "storage/files/simulated_file_system.hpp"
#include "storage/files/system_file_system.hpp"
#include "tests/catch.hpp"
#include "tests/storage/files/helpers.hpp"

using namespace baton;

namespace {

/// An empty folder of the machine, removed at the end.
struct system_disk {
  system_disk() {
    std::string pattern = std::filesystem::temp_directory_path() / "baton-files-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder = pattern;
  }
  ~system_disk() { std::filesystem::remove_all(folder); }

  system_file_system files;
  std::string folder;
};

struct simulated_disk {
  simulated_disk() {
    REQUIRE(files.create_folder(folder));
    files.faults().shorten_writes_once_in(2);
  }

  simulation_random dice{1};
  simulated_file_system files{dice};
  std::string folder = "/data";
};

}  // namespace

TEMPLATE_TEST_CASE("a file gives back what was written to it", "", system_disk, simulated_disk) {
  TestType disk;
  auto made = created(disk.files, disk.folder + "/7");
  CHECK(made->path() == disk.folder + "/7");
  write(*made, 0, "hello, world");
  write(*made, 7, "baton");
  CHECK(contents(*made) == "hello, baton");
  write(*made, 5000, "far");
  CHECK(made->size().value() == 5003);
  CHECK(read(*made, 4998, 100) == std::string{"\0\0far", 5});
  CHECK(read(*made, 5003, 10).empty());
  CHECK(read(*made, 9999, 10).empty());
  CHECK(made->sync());
}

TEMPLATE_TEST_CASE("any number of pieces is written in order", "", system_disk, simulated_disk) {
  TestType disk;
  auto made = created(disk.files, disk.folder + "/7");
  std::string all;
  std::vector<std::string> texts;
  for (int i = 0; i < 2500; ++i) texts.push_back(i % 7 == 0 ? "" : std::to_string(i) + ",");
  std::vector<byte_view> pieces;
  for (const std::string& text : texts) {
    pieces.push_back(as_bytes(text));
    all += text;
  }
  REQUIRE(made->write(3, pieces));
  CHECK(contents(*made) == std::string(3, '\0') + all);
  REQUIRE(made->write(3, {}));
  REQUIRE(made->write(3, std::vector<byte_view>(3)));
  CHECK(made->size().value() == 3 + all.size());
}

TEMPLATE_TEST_CASE("preallocation grows a file with zeros and keeps what was there", "",
                   system_disk, simulated_disk) {
  TestType disk;
  auto made = created(disk.files, disk.folder + "/7");
  write(*made, 0, "kept");
  REQUIRE(made->preallocate(0, 10'000));
  CHECK(made->size().value() == 10'000);
  CHECK(contents(*made) == "kept" + std::string(9'996, '\0'));
  REQUIRE(made->preallocate(100, 100));
  CHECK(made->size().value() == 10'000);
}

TEMPLATE_TEST_CASE("truncation cuts off, and fills up with zeros", "", system_disk,
                   simulated_disk) {
  TestType disk;
  auto made = created(disk.files, disk.folder + "/7");
  write(*made, 0, std::string(6000, 'x'));
  REQUIRE(made->truncate(5000));
  CHECK(made->size().value() == 5000);
  REQUIRE(made->truncate(5002));
  CHECK(read(*made, 4999, 10) == std::string{"x\0\0", 3});
}

TEMPLATE_TEST_CASE("dropped pages are read again from the disk", "", system_disk, simulated_disk) {
  TestType disk;
  auto made = created(disk.files, disk.folder + "/7");
  const std::string bytes(20'000, 'x');
  write(*made, 0, bytes);
  REQUIRE(made->drop_pages(0, 0));
  CHECK(contents(*made) == bytes);
  REQUIRE(made->sync());
  REQUIRE(made->drop_pages(4096, 8192));
  REQUIRE(made->drop_pages(0, 0));
  CHECK(contents(*made) == bytes);
}

TEMPLATE_TEST_CASE("a file is opened only as it was asked for", "", system_disk, simulated_disk) {
  TestType disk;
  const std::string path = disk.folder + "/7";
  const auto missing = disk.files.open(path, open_mode::read_write);
  REQUIRE(!missing);
  CHECK(missing.reason().code == ENOENT);
  CHECK(missing.reason().text() == "open " + path + ": No such file or directory");
  write(*created(disk.files, path), 0, "text");
  const auto taken = disk.files.open(path, open_mode::create);
  REQUIRE(!taken);
  CHECK(taken.reason().code == EEXIST);
  const auto nowhere = disk.files.open(disk.folder + "/none/7", open_mode::create);
  REQUIRE(!nowhere);
  CHECK(nowhere.reason().code == ENOENT);

  auto for_reading = opened(disk.files, path, open_mode::read);
  CHECK(contents(*for_reading) == "text");
  const std::vector<byte_view> pieces{as_bytes("no")};
  CHECK(for_reading->write(0, pieces).reason().code == EBADF);
  CHECK(for_reading->preallocate(0, 10).reason().code == EBADF);
  CHECK(for_reading->truncate(0).reason().code == EINVAL);
  auto again = opened(disk.files, path, open_mode::read_write);
  write(*again, 0, "T");
  CHECK(contents(*for_reading) == "Text");
}

TEMPLATE_TEST_CASE("a folder lists its names in order", "", system_disk, simulated_disk) {
  TestType disk;
  CHECK(disk.files.list(disk.folder).value().empty());
  for (const char* name : {"b", "c", "a"}) created(disk.files, disk.folder + "/" + name);
  REQUIRE(disk.files.create_folder(disk.folder + "/d"));
  REQUIRE(disk.files.create_folder(disk.folder + "/d"));
  created(disk.files, disk.folder + "/d/e");
  CHECK(disk.files.list(disk.folder).value() == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(disk.files.list(disk.folder + "/d").value() == std::vector<std::string>{"e"});
  CHECK(disk.files.list(disk.folder + "/none").reason().code == ENOENT);
  CHECK(disk.files.create_folder(disk.folder + "/a").reason().code == EEXIST);
  CHECK(disk.files.create_folder(disk.folder + "/none/f").reason().code == ENOENT);
  CHECK(disk.files.sync_folder(disk.folder));
  CHECK(disk.files.sync_folder(disk.folder + "/none").reason().code == ENOENT);
}

TEMPLATE_TEST_CASE("a renamed file replaces the one whose name it takes", "", system_disk,
                   simulated_disk) {
  TestType disk;
  auto old = created(disk.files, disk.folder + "/7");
  write(*old, 0, "old");
  auto fresh = created(disk.files, disk.folder + "/new");
  write(*fresh, 0, "new");
  REQUIRE(disk.files.rename(disk.folder + "/new", disk.folder + "/7"));
  CHECK(disk.files.list(disk.folder).value() == std::vector<std::string>{"7"});
  CHECK(contents(*opened(disk.files, disk.folder + "/7", open_mode::read)) == "new");
  CHECK(contents(*old) == "old");
  write(*fresh, 0, "NEW");
  CHECK(contents(*opened(disk.files, disk.folder + "/7", open_mode::read)) == "NEW");
  CHECK(disk.files.rename(disk.folder + "/new", disk.folder + "/8").reason().code == ENOENT);
}

TEMPLATE_TEST_CASE("a removed file is gone by name and lives while it is open", "", system_disk,
                   simulated_disk) {
  TestType disk;
  REQUIRE(disk.files.create_folder(disk.folder + "/d"));
  auto made = created(disk.files, disk.folder + "/d/7");
  write(*made, 0, "text");
  CHECK(disk.files.remove(disk.folder + "/d").reason().code == ENOTEMPTY);
  REQUIRE(disk.files.remove(disk.folder + "/d/7"));
  CHECK(disk.files.open(disk.folder + "/d/7", open_mode::read).reason().code == ENOENT);
  CHECK(contents(*made) == "text");
  CHECK(disk.files.remove(disk.folder + "/d/7").reason().code == ENOENT);
  REQUIRE(disk.files.remove(disk.folder + "/d"));
  CHECK(disk.files.list(disk.folder).value().empty());
}

TEMPLATE_TEST_CASE("a folder has one holder at a time", "", system_disk, simulated_disk) {
  TestType disk;
  auto first = disk.files.lock_folder(disk.folder);
  REQUIRE(first);
  const auto second = disk.files.lock_folder(disk.folder);
  REQUIRE(!second);
  CHECK(second.reason().code == EWOULDBLOCK);
  CHECK(second.reason().text() ==
        "lock " + disk.folder + ": the folder is in use already, by another process?");
  CHECK(disk.files.list(disk.folder).value().empty());
  first->reset();
  CHECK(disk.files.lock_folder(disk.folder));
  CHECK(disk.files.lock_folder(disk.folder + "/none").reason().code == ENOENT);
}

TEMPLATE_TEST_CASE("free space is told for folders that exist", "", system_disk, simulated_disk) {
  TestType disk;
  CHECK(disk.files.free_space(disk.folder).value() > 0);
  CHECK(disk.files.free_space(disk.folder + "/none").reason().code == ENOENT);
}

TEMPLATE_TEST_CASE("one file is written and read by two threads at once", "", system_disk,
                   simulated_disk) {
  TestType disk;
  auto made = created(disk.files, disk.folder + "/7");
  write(*made, 0, std::string(512, 'a'));
  std::thread writer{[&] {
    for (int i = 1; i <= 200; ++i) {
      const std::string block(512, 'a');
      const std::vector<byte_view> pieces{as_bytes(block)};
      if (!made->write(static_cast<std::uint64_t>(i) * 512, pieces)) return;
    }
  }};
  bool only_what_was_written = true;
  for (int i = 0; i < 200; ++i)
    only_what_was_written &= read(*made, 0, 512) == std::string(512, 'a');
  writer.join();
  CHECK(only_what_was_written);
  CHECK(contents(*made) == std::string(201 * 512, 'a'));
}

TEST_CASE("the folder of a path is what stands before its last slash") {
  CHECK(folder_of("data/journal/7") == "data/journal");
  CHECK(folder_of("7") == ".");
  CHECK(folder_of("/7") == "/");
}
