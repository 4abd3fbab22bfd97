// How fast does this disk take what a node wrote? Repeats the allocations, writes and syncs of a
// trace (io_trace.cpp), with nothing in between, into files of its own.
//
//   journal_replay TRACE FOLDER [FROM_NS TO_NS]
//
// What lies before FROM_NS is repeated too, but not counted. Prints one JSON object.

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/io_trace.hpp"

namespace {

using namespace baton::bench;

class replay {
public:
  /// What it writes is as good as the bodies of `baton perf`, for disks that look at it.
  explicit replay(std::string folder) : folder_{std::move(folder)}, block_(block_bytes, 'b') {}
  replay(const replay&) = delete;
  replay& operator=(const replay&) = delete;
  ~replay() {
    for (const auto& [descriptor, file] : files_) ::close(file);
    for (std::size_t i = 0; i < made_; ++i) ::unlink(path(i).c_str());
  }

  void repeat(const io_call& call) {
    switch (call.kind) {
      case io_call::allocate:
        if (call.offset == 0) forget(call.descriptor);  // the number was given to a new file
        check(::posix_fallocate(file_of(call.descriptor), static_cast<off_t>(call.offset),
                                static_cast<off_t>(call.bytes)) == 0);
        break;
      case io_call::write:
        write(file_of(call.descriptor), call.offset, call.bytes);
        break;
      case io_call::sync:
        check(::fdatasync(file_of(call.descriptor)) == 0);
        break;
    }
  }

private:
  static constexpr std::size_t block_bytes = 1 << 20;

  static void check(bool done) {
    if (!done) throw std::runtime_error{"the disk refuses what it took before"};
  }
  std::string path(std::size_t number) const {
    return folder_ + "/replay-" + std::to_string(number);
  }
  int file_of(int descriptor) {
    const auto found = files_.find(descriptor);
    if (found != files_.end()) return found->second;
    const int made = ::open(path(made_).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    check(made >= 0);
    ++made_;
    files_.emplace(descriptor, made);
    return made;
  }
  void forget(int descriptor) {
    const auto found = files_.find(descriptor);
    if (found == files_.end()) return;
    ::close(found->second);
    files_.erase(found);
  }
  /// In one call, as it was before.
  void write(int file, std::uint64_t offset, std::uint64_t bytes) {
    std::vector<iovec> pieces;
    for (std::uint64_t left = bytes; left > 0;) {
      const auto size = std::min<std::uint64_t>(left, block_.size());
      pieces.push_back({block_.data(), size});
      left -= size;
    }
    check(::pwritev(file, pieces.data(), static_cast<int>(pieces.size()),
                    static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes));
  }

  std::string folder_;
  std::vector<char> block_;
  std::map<int, int> files_;  // the node's descriptors, and ours
  std::size_t made_ = 0;
};

std::vector<io_call> read_trace(const char* path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) throw std::runtime_error{std::string{"cannot read "} + path};
  std::vector<io_call> calls;
  for (io_call one; file.read(reinterpret_cast<char*>(&one), sizeof one);) calls.push_back(one);
  return calls;
}

int run(int count, char** arguments) {
  if (count != 3 && count != 5)
    throw std::runtime_error{"usage: journal_replay TRACE FOLDER [FROM_NS TO_NS]"};
  const std::uint64_t from = count == 5 ? std::strtoull(arguments[3], nullptr, 10) : 0;
  const std::uint64_t to = count == 5 ? std::strtoull(arguments[4], nullptr, 10) : UINT64_MAX;
  replay disk{arguments[2]};
  std::uint64_t bytes = 0;
  std::uint64_t writes = 0;
  std::uint64_t syncs = 0;
  std::chrono::nanoseconds took{0};
  for (const auto& call : read_trace(arguments[1])) {
    if (call.start_ns >= to) break;
    const auto start = std::chrono::steady_clock::now();
    disk.repeat(call);
    if (call.start_ns < from) continue;
    took += std::chrono::steady_clock::now() - start;
    if (call.kind == io_call::write) bytes += call.bytes;
    writes += call.kind == io_call::write ? 1 : 0;
    syncs += call.kind == io_call::sync ? 1 : 0;
  }
  std::printf("{\"seconds\": %.6f, \"bytes\": %llu, \"writes\": %llu, \"syncs\": %llu}\n",
              static_cast<double>(took.count()) / 1e9, static_cast<unsigned long long>(bytes),
              static_cast<unsigned long long>(writes), static_cast<unsigned long long>(syncs));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "journal_replay: %s\n", problem.what());
    return 1;
  }
}
