#include "storage/files/system_file_system.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "config/check.hpp"

namespace baton {

namespace {

static_assert(sizeof(off_t) == 8, "files may be larger than 2 GiB");

static_assert(file::pieces_a_call == IOV_MAX);

/// Calls until it is not interrupted; negative: errno says why.
template <class Call>
auto uninterrupted(Call call) {
  auto answer = call();
  while (answer < 0 && errno == EINTR) answer = call();
  return answer;
}

/// The same for the posix_ functions, which answer with the error itself.
template <class Call>
int uninterrupted_code(Call call) {
  int code = call();
  while (code == EINTR) code = call();
  return code;
}

class descriptor_owner {
public:
  explicit descriptor_owner(int number) noexcept : number_{number} {}
  descriptor_owner(descriptor_owner&& from) noexcept : number_{std::exchange(from.number_, -1)} {}
  descriptor_owner& operator=(descriptor_owner&&) = delete;
  ~descriptor_owner() {
    if (number_ >= 0) ::close(number_);
  }

  explicit operator bool() const noexcept { return number_ >= 0; }
  int get() const noexcept { return number_; }

private:
  int number_;
};

descriptor_owner open_descriptor(const std::string& path, int flags) {
  return descriptor_owner{
      uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0640); })};
}

/// The pieces that are still to be written, as pwritev wants them.
class remaining_pieces {
public:
  explicit remaining_pieces(std::span<const byte_view> pieces) : pieces_{pieces} { skip_empty(); }

  bool empty() const noexcept { return pieces_.empty(); }

  std::span<const iovec> next() {
    const std::size_t count = std::min(pieces_.size(), vectors_.size());
    for (std::size_t i = 0; i < count; ++i) {
      const byte_view piece = i == 0 ? pieces_[0].subspan(done_of_first_) : pieces_[i];
      vectors_[i] = {const_cast<std::uint8_t*>(piece.data()), piece.size()};
    }
    return {vectors_.data(), count};
  }

  void advance(std::size_t bytes) {
    while (bytes > 0) {
      const std::size_t part = std::min(bytes, pieces_[0].size() - done_of_first_);
      done_of_first_ += part;
      bytes -= part;
      skip_empty();
    }
  }

private:
  void skip_empty() {
    while (!pieces_.empty() && done_of_first_ == pieces_[0].size()) {
      pieces_ = pieces_.subspan(1);
      done_of_first_ = 0;
    }
  }

  std::span<const byte_view> pieces_;
  std::size_t done_of_first_ = 0;
  std::array<iovec, file::pieces_a_call> vectors_;
};

class system_file final : public file {
public:
  system_file(std::string path, descriptor_owner opened)
      : path_{std::move(path)}, opened_{std::move(opened)} {}

  const std::string& path() const noexcept override { return path_; }

  file_result<void> preallocate(std::uint64_t offset, std::uint64_t length) override {
    return answer(file_operation::preallocate, uninterrupted_code([&] {
                    return ::posix_fallocate(opened_.get(), static_cast<off_t>(offset),
                                             static_cast<off_t>(length));
                  }));
  }

  file_result<void> write(std::uint64_t offset, std::span<const byte_view> pieces) override {
    remaining_pieces remaining{pieces};
    while (!remaining.empty()) {
      const auto now = remaining.next();
      const ssize_t bytes = uninterrupted([&] {
        return ::pwritev(opened_.get(), now.data(), static_cast<int>(now.size()),
                         static_cast<off_t>(offset));
      });
      if (bytes <= 0) return io_failure(bytes < 0 ? errno : EIO, file_operation::write, path_);
      remaining.advance(static_cast<std::size_t>(bytes));
      offset += static_cast<std::uint64_t>(bytes);
    }
    return {};
  }

  file_result<std::size_t> read(std::uint64_t offset, std::span<std::uint8_t> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t bytes = uninterrupted([&] {
        return ::pread(opened_.get(), into.data() + done, into.size() - done,
                       static_cast<off_t>(offset + done));
      });
      if (bytes < 0) return io_failure(errno, file_operation::read, path_);
      if (bytes == 0) break;
      done += static_cast<std::size_t>(bytes);
    }
    return done;
  }

  file_result<void> sync() override {
    return answer_call(file_operation::sync,
                       uninterrupted([&] { return ::fdatasync(opened_.get()); }));
  }

  file_result<void> truncate(std::uint64_t size) override {
    return answer_call(file_operation::truncate, uninterrupted([&] {
                         return ::ftruncate(opened_.get(), static_cast<off_t>(size));
                       }));
  }

  file_result<std::uint64_t> size() override {
    struct stat status {};
    if (::fstat(opened_.get(), &status) != 0) return io_failure(errno, file_operation::size, path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

  file_result<void> drop_pages(std::uint64_t offset, std::uint64_t length) override {
    return answer(file_operation::drop_pages, uninterrupted_code([&] {
                    return ::posix_fadvise(opened_.get(), static_cast<off_t>(offset),
                                           static_cast<off_t>(length), POSIX_FADV_DONTNEED);
                  }));
  }

private:
  file_result<void> answer(file_operation operation, int code) const {
    if (code != 0) return io_failure(code, operation, path_);
    return {};
  }
  file_result<void> answer_call(file_operation operation, int returned) const {
    return answer(operation, returned < 0 ? errno : 0);
  }

  const std::string path_;
  const descriptor_owner opened_;
};

class system_folder_lock final : public folder_lock {
public:
  explicit system_folder_lock(descriptor_owner opened) : opened_{std::move(opened)} {}

private:
  const descriptor_owner opened_;  // closing it releases the lock
};

int flags_of(open_mode mode) {
  switch (mode) {
    case open_mode::read:
      return O_RDONLY;
    case open_mode::read_write:
      return O_RDWR;
    case open_mode::create:
      return O_RDWR | O_CREAT | O_EXCL;
  }
  return O_RDONLY;
}

}  // namespace

file_result<std::unique_ptr<file>> system_file_system::open(const std::string& path,
                                                            open_mode mode) {
  auto opened = open_descriptor(path, flags_of(mode));
  if (!opened) return io_failure(errno, file_operation::open, path);
  return std::unique_ptr<file>{std::make_unique<system_file>(path, std::move(opened))};
}

file_result<std::vector<std::string>> system_file_system::list(const std::string& folder) {
  std::error_code code;
  std::vector<std::string> names;
  std::filesystem::directory_iterator at{folder, code};
  for (; !code && at != std::filesystem::directory_iterator{}; at.increment(code))
    names.push_back(at->path().filename().string());
  if (code) return io_failure(code.value(), file_operation::list, folder);
  std::sort(names.begin(), names.end());
  return names;
}

file_result<void> system_file_system::rename(const std::string& from, const std::string& to) {
  BATON_CHECK(folder_of(from) == folder_of(to));
  if (::rename(from.c_str(), to.c_str()) != 0)
    return io_failure(errno, file_operation::rename, from);
  return {};
}

file_result<void> system_file_system::remove(const std::string& path) {
  if (std::remove(path.c_str()) != 0) return io_failure(errno, file_operation::remove, path);
  return {};
}

file_result<void> system_file_system::create_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0750) == 0) return {};
  const int code = errno;
  struct stat found {};
  if (code == EEXIST && ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return {};
  return io_failure(code, file_operation::create_folder, path);
}

file_result<void> system_file_system::sync_folder(const std::string& folder) {
  const auto opened = open_descriptor(folder, O_RDONLY | O_DIRECTORY);
  if (!opened || uninterrupted([&] { return ::fsync(opened.get()); }) != 0)
    return io_failure(errno, file_operation::sync_folder, folder);
  return {};
}

file_result<std::unique_ptr<folder_lock>> system_file_system::lock_folder(
    const std::string& folder) {
  auto opened = open_descriptor(folder, O_RDONLY | O_DIRECTORY);
  if (!opened || uninterrupted([&] { return ::flock(opened.get(), LOCK_EX | LOCK_NB); }) != 0)
    return failure{
        io_error{errno, file_operation::lock, folder, errno == EWOULDBLOCK ? folder_in_use : ""}};
  return std::unique_ptr<folder_lock>{std::make_unique<system_folder_lock>(std::move(opened))};
}

file_result<std::uint64_t> system_file_system::free_space(const std::string& folder) {
  struct statvfs status {};
  if (uninterrupted([&] { return ::statvfs(folder.c_str(), &status); }) != 0)
    return io_failure(errno, file_operation::free_space, folder);
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

}  // namespace baton
