#include "storage/files/simulated_file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "config/check.hpp"

namespace baton {

namespace {

constexpr const char* power_is_off = "the power is off";
constexpr const char* power_was_cut = "the power was cut since it was opened";

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

simulated_folder* as_folder(const simulated_folder::entry* found) {
  const auto* folder = found ? std::get_if<std::shared_ptr<simulated_folder>>(found) : nullptr;
  return folder ? folder->get() : nullptr;
}

simulated_file* as_file(const simulated_folder::entry* found) {
  const auto* file = found ? std::get_if<std::shared_ptr<simulated_file>>(found) : nullptr;
  return file ? file->get() : nullptr;
}

}  // namespace

// -- one call -----------------------------------------------------------------------------------

template <class Effect, class Failed>
auto simulated_file_system::call(file_operation what, const std::string& path, Effect effect,
                                 Failed if_failed) -> decltype(effect()) {
  std::optional<decltype(effect())> answer;  // outlives the guard: what it holds may need the mutex
  const std::lock_guard guard{mutex_};
  if (!has_power_) return io_failure(EIO, what, path, power_is_off);
  const auto said = faults_.next(what);
  if (said.power_goes_before) {
    cut_power();
    return io_failure(EIO, what, path, power_is_off);
  }
  if (said.code == 0) {
    answer.emplace(effect());
  } else {
    if_failed();
    answer.emplace(io_failure(said.code, what, path));
  }
  if (said.power_goes_after) {
    cut_power();
    return io_failure(EIO, what, path, power_is_off);
  }
  return *std::move(answer);
}

template <class Effect>
auto simulated_file_system::call(file_operation what, const std::string& path, Effect effect)
    -> decltype(effect()) {
  return call(what, path, effect, [] {});
}

// -- an open file -------------------------------------------------------------------------------

class simulated_open_file final : public file {
public:
  simulated_open_file(simulated_file_system& disk, std::string path,
                      std::shared_ptr<simulated_file> state, open_mode mode)
      : disk_{disk}, path_{std::move(path)}, state_{std::move(state)}, mode_{mode} {}

  const std::string& path() const noexcept override { return path_; }

  file_result<void> preallocate(std::uint64_t offset, std::uint64_t length) override {
    return call(file_operation::preallocate, [&]() -> file_result<void> {
      if (mode_ == open_mode::read) return io_failure(EBADF, file_operation::preallocate, path_);
      if (length == 0) return io_failure(EINVAL, file_operation::preallocate, path_);
      const std::uint64_t fits = disk_.fitting(*state_, offset, length);
      if (fits > 0) state_->preallocate(offset, fits);
      if (fits < length) return io_failure(ENOSPC, file_operation::preallocate, path_);
      return {};
    });
  }

  file_result<void> write(std::uint64_t offset, std::span<const byte_view> pieces) override {
    while (!pieces.empty()) {
      std::vector<std::uint8_t> gathered;
      const std::size_t count = std::min(pieces.size(), pieces_a_call);
      for (const byte_view piece : pieces.first(count))
        gathered.insert(gathered.end(), piece.begin(), piece.end());
      pieces = pieces.subspan(count);
      for (byte_view rest = gathered; !rest.empty();) {
        const auto written = write_once(offset, rest);
        if (!written) return failure{written.reason()};
        offset += *written;
        rest = rest.subspan(*written);
      }
    }
    return {};
  }

  file_result<std::size_t> read(std::uint64_t offset, std::span<std::uint8_t> into) override {
    return call(file_operation::read, [&]() -> file_result<std::size_t> {
      return state_->contents().read(offset, into);
    });
  }

  file_result<void> sync() override {
    return call(
        file_operation::sync,
        [&]() -> file_result<void> {
          state_->sync();
          return {};
        },
        [&] { state_->fail_sync(disk_.dice_); });
  }

  file_result<void> truncate(std::uint64_t size) override {
    return call(file_operation::truncate, [&]() -> file_result<void> {
      if (mode_ == open_mode::read) return io_failure(EINVAL, file_operation::truncate, path_);
      state_->truncate(size);
      return {};
    });
  }

  file_result<std::uint64_t> size() override {
    return call(file_operation::size,
                [&]() -> file_result<std::uint64_t> { return state_->contents().size(); });
  }

  file_result<void> drop_pages(std::uint64_t offset, std::uint64_t length) override {
    return call(file_operation::drop_pages, [&]() -> file_result<void> {
      state_->drop_pages(offset, length);
      return {};
    });
  }

private:
  template <class Effect, class Failed>
  auto call(file_operation what, Effect effect, Failed if_failed) -> decltype(effect()) {
    return disk_.call(
        what, path_,
        [&]() -> decltype(effect()) {
          if (born_ != disk_.power_cuts_) return io_failure(EIO, what, path_, power_was_cut);
          return effect();
        },
        [&] {
          if (born_ == disk_.power_cuts_) if_failed();
        });
  }
  template <class Effect>
  auto call(file_operation what, Effect effect) -> decltype(effect()) {
    return call(what, effect, [] {});
  }

  file_result<std::size_t> write_once(std::uint64_t offset, byte_view bytes) {
    return call(
        file_operation::write,
        [&]() -> file_result<std::size_t> {
          if (mode_ == open_mode::read) return io_failure(EBADF, file_operation::write, path_);
          const std::size_t part = disk_.faults_.writable(bytes.size());
          const std::size_t fits = disk_.fitting(*state_, offset, part);
          state_->write(offset, bytes.first(fits));
          if (fits < part) return io_failure(ENOSPC, file_operation::write, path_);
          return part;
        },
        [&] {
          if (mode_ != open_mode::read)
            state_->write(offset, bytes.first(disk_.dice_.below(bytes.size())));
        });
  }

  simulated_file_system& disk_;
  const std::string path_;
  const std::shared_ptr<simulated_file> state_;
  const open_mode mode_;
  const std::uint64_t born_ = disk_.power_cuts_;
};

class simulated_folder_lock final : public folder_lock {
public:
  simulated_folder_lock(simulated_file_system& disk, const simulated_folder& folder)
      : disk_{disk}, folder_{folder} {}
  ~simulated_folder_lock() override {
    const std::lock_guard guard{disk_.mutex_};
    if (born_ == disk_.power_cuts_) disk_.locked_.erase(&folder_);
  }

private:
  simulated_file_system& disk_;
  const simulated_folder& folder_;
  const std::uint64_t born_ = disk_.power_cuts_;
};

// -- names --------------------------------------------------------------------------------------

const simulated_folder::entry* simulated_file_system::find(const std::string& path) const {
  const simulated_folder::entry* at = &root_;
  for (std::size_t begin = 0; begin < path.size() && at != nullptr;) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty() || name == ".") continue;
    const simulated_folder* in = as_folder(at);
    if (in == nullptr) return nullptr;
    const auto found = in->entries().find(name);
    at = found == in->entries().end() ? nullptr : &found->second;
  }
  return at;
}

simulated_folder* simulated_file_system::find_folder(const std::string& path) const {
  return as_folder(find(path));
}

simulated_file* simulated_file_system::find_file(const std::string& path) const {
  return as_file(find(path));
}

file_result<std::unique_ptr<file>> simulated_file_system::open(const std::string& path,
                                                               open_mode mode) {
  const auto what = file_operation::open;
  return call(what, path, [&]() -> file_result<std::unique_ptr<file>> {
    simulated_folder* folder = find_folder(folder_of(path));
    const auto* found = find(path);
    std::shared_ptr<simulated_file> state;
    if (mode == open_mode::create) {
      if (folder == nullptr) return io_failure(ENOENT, what, path);
      if (found != nullptr) return io_failure(EEXIST, what, path);
      state = std::make_shared<simulated_file>();
      files_.push_back(state);
      folder->add(name_of(path), state);
    } else {
      if (found == nullptr) return io_failure(ENOENT, what, path);
      if (as_file(found) == nullptr) return io_failure(EISDIR, what, path);
      state = std::get<std::shared_ptr<simulated_file>>(*found);
    }
    return std::unique_ptr<file>{
        std::make_unique<simulated_open_file>(*this, path, std::move(state), mode)};
  });
}

file_result<std::vector<std::string>> simulated_file_system::list(const std::string& folder) {
  return call(file_operation::list, folder, [&]() -> file_result<std::vector<std::string>> {
    const simulated_folder* found = find_folder(folder);
    if (found == nullptr) return io_failure(ENOENT, file_operation::list, folder);
    std::vector<std::string> names;
    for (const auto& [name, what] : found->entries()) names.push_back(name);
    return names;
  });
}

file_result<void> simulated_file_system::rename(const std::string& from, const std::string& to) {
  BATON_CHECK(folder_of(from) == folder_of(to));
  const auto what = file_operation::rename;
  return call(what, from, [&]() -> file_result<void> {
    if (find(from) == nullptr) return io_failure(ENOENT, what, from);
    if (find_folder(from) != nullptr || find_folder(to) != nullptr)
      return io_failure(EISDIR, what, from);
    find_folder(folder_of(from))->rename(name_of(from), name_of(to));
    return {};
  });
}

file_result<void> simulated_file_system::remove(const std::string& path) {
  const auto what = file_operation::remove;
  return call(what, path, [&]() -> file_result<void> {
    const auto* found = find(path);
    if (found == nullptr) return io_failure(ENOENT, what, path);
    if (found == &root_) return io_failure(EBUSY, what, path);
    const simulated_folder* folder = as_folder(found);
    if (folder != nullptr && !folder->entries().empty()) return io_failure(ENOTEMPTY, what, path);
    find_folder(folder_of(path))->remove(name_of(path));
    return {};
  });
}

file_result<void> simulated_file_system::create_folder(const std::string& path) {
  const auto what = file_operation::create_folder;
  return call(what, path, [&]() -> file_result<void> {
    if (find_folder(path) != nullptr) return {};
    if (find(path) != nullptr) return io_failure(EEXIST, what, path);
    simulated_folder* folder = find_folder(folder_of(path));
    if (folder == nullptr) return io_failure(ENOENT, what, path);
    folder->add(name_of(path), std::make_shared<simulated_folder>());
    return {};
  });
}

file_result<void> simulated_file_system::sync_folder(const std::string& folder) {
  return call(
      file_operation::sync_folder, folder,
      [&]() -> file_result<void> {
        simulated_folder* found = find_folder(folder);
        if (found == nullptr) return io_failure(ENOENT, file_operation::sync_folder, folder);
        found->sync();
        return {};
      },
      [&] {
        if (simulated_folder* found = find_folder(folder)) found->fail_sync(dice_);
      });
}

file_result<std::unique_ptr<folder_lock>> simulated_file_system::lock_folder(
    const std::string& folder) {
  return call(file_operation::lock, folder, [&]() -> file_result<std::unique_ptr<folder_lock>> {
    const simulated_folder* found = find_folder(folder);
    if (found == nullptr) return io_failure(ENOENT, file_operation::lock, folder);
    if (!locked_.insert(found).second)
      return io_failure(EWOULDBLOCK, file_operation::lock, folder, folder_in_use);
    return std::unique_ptr<folder_lock>{std::make_unique<simulated_folder_lock>(*this, *found)};
  });
}

std::uint64_t simulated_file_system::calls(file_operation what) const {
  const std::lock_guard guard{mutex_};
  return faults_.calls(what);
}

// -- space --------------------------------------------------------------------------------------

file_result<std::uint64_t> simulated_file_system::free_space(const std::string& folder) {
  return call(file_operation::free_space, folder, [&]() -> file_result<std::uint64_t> {
    if (find_folder(folder) == nullptr)
      return io_failure(ENOENT, file_operation::free_space, folder);
    return free_pages() * sparse_bytes::page_size;
  });
}

void simulated_file_system::set_capacity(std::uint64_t bytes) {
  const std::lock_guard guard{mutex_};
  capacity_pages_ = bytes / sparse_bytes::page_size;
}

std::uint64_t simulated_file_system::free_pages() {
  std::erase_if(files_, [](const auto& one) { return one.expired(); });
  std::uint64_t used = 0;
  for (const auto& one : files_)
    if (const auto held = one.lock())
      used += std::max(held->contents().pages(), held->durable().pages());
  return capacity_pages_ - std::min(used, capacity_pages_);
}

/// How many bytes of the range, from its beginning, there is space for.
std::uint64_t simulated_file_system::fitting(const simulated_file& into, std::uint64_t offset,
                                             std::uint64_t length) {
  const std::uint64_t missing = into.contents().missing_pages(offset, length);
  if (missing == 0) return length;
  std::uint64_t room = free_pages();
  if (missing <= room) return length;
  for (std::uint64_t done = 0; done < length;) {
    const std::uint64_t part = std::min(
        length - done, sparse_bytes::page_size - (offset + done) % sparse_bytes::page_size);
    if (into.contents().missing_pages(offset + done, part) > 0 && room-- == 0) return done;
    done += part;
  }
  return length;
}

// -- power and damage ---------------------------------------------------------------------------

void simulated_file_system::power_cut() {
  const std::lock_guard guard{mutex_};
  if (has_power_) cut_power();
}

void simulated_file_system::power_on() {
  const std::lock_guard guard{mutex_};
  has_power_ = true;
}

bool simulated_file_system::has_power() const {
  const std::lock_guard guard{mutex_};
  return has_power_;
}

void simulated_file_system::cut_power() {
  has_power_ = false;
  ++power_cuts_;
  locked_.clear();
  as_folder(&root_)->lose_power(dice_);
  if (on_power_cut_) on_power_cut_();
}

void simulated_file_system::flip_bit(const std::string& path, std::uint64_t offset, unsigned bit) {
  const std::lock_guard guard{mutex_};
  simulated_file* found = find_file(path);
  std::uint8_t byte = 0;
  BATON_CHECK(found != nullptr && found->contents().read(offset, {&byte, 1}) == 1);
  byte ^= static_cast<std::uint8_t>(1u << bit);
  found->damage(offset, {&byte, 1});
}

void simulated_file_system::overwrite(const std::string& path, std::uint64_t offset,
                                      byte_view bytes) {
  const std::lock_guard guard{mutex_};
  simulated_file* found = find_file(path);
  BATON_CHECK(found != nullptr);
  found->damage(offset, bytes);
}

std::vector<std::uint8_t> simulated_file_system::durable_contents(const std::string& path) const {
  const std::lock_guard guard{mutex_};
  const simulated_file* found = find_file(path);
  BATON_CHECK(found != nullptr);
  std::vector<std::uint8_t> bytes(found->durable().size());
  found->durable().read(0, bytes);
  return bytes;
}

}  // namespace baton
