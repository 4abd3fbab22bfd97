// A library to be preloaded into a node: writes down each call that allocates, writes or syncs a
// file, with its time, to the file that BATON_IO_TRACE names. The node knows nothing of it.
//
//   LD_PRELOAD=build/release/libio_trace.so BATON_IO_TRACE=trace build/release/baton run ...

#include "tests/bench/io_trace.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace {

using namespace baton::bench;

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// Calls are kept in memory for a while: few of them cost a call of their own.
class trace {
public:
  static trace& of_this_process() {
    static trace only;
    return only;
  }
  ~trace() { flush(); }

  void add(const io_call& done) {
    const std::lock_guard guard{mutex_};
    calls_.push_back(done);
    if (calls_.size() >= 4096) flush();
  }

private:
  trace() {
    const char* path = std::getenv("BATON_IO_TRACE");
    if (path != nullptr) file_ = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  }
  void flush() {
    const auto size = calls_.size() * sizeof(io_call);
    if (file_ >= 0 && ::write(file_, calls_.data(), size) < 0) file_ = -1;
    calls_.clear();
  }

  std::mutex mutex_;
  std::vector<io_call> calls_;
  int file_ = -1;
};

template <class Call>
auto traced(io_call::kind_of kind, int descriptor, std::uint64_t offset, std::uint64_t bytes,
            Call&& call) {
  const auto start = now_ns();
  const auto result = call();
  trace::of_this_process().add({start, now_ns() - start, offset, bytes, kind, descriptor,
                                static_cast<std::uint64_t>(::gettid())});
  return result;
}

/// The C library's own function of that name.
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t offset) {
  static auto* const original = real<ssize_t(int, const iovec*, int, off_t)>("pwritev");
  std::uint64_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += pieces[i].iov_len;
  return traced(io_call::write, descriptor, static_cast<std::uint64_t>(offset), bytes,
                [&] { return original(descriptor, pieces, count, offset); });
}

int fdatasync(int descriptor) {
  static auto* const original = real<int(int)>("fdatasync");
  return traced(io_call::sync, descriptor, 0, 0, [&] { return original(descriptor); });
}

int posix_fallocate(int descriptor, off_t offset, off_t size) {
  static auto* const original = real<int(int, off_t, off_t)>("posix_fallocate");
  return traced(io_call::allocate, descriptor, static_cast<std::uint64_t>(offset),
                static_cast<std::uint64_t>(size),
                [&] { return original(descriptor, offset, size); });
}

}  // extern "C"
