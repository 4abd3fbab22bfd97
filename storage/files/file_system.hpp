#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/byte_view.hpp"
#include "storage/files/io_error.hpp"

namespace baton {

enum class open_mode : std::uint8_t {
  read,        // what is there; it is not written
  read_write,  // what is there
  create,      // a new, empty file, for reading and writing; EEXIST if the name is taken
};

/// One open file; destroying it closes it. Every call may block, and may be made from any thread,
/// also while another thread is in one; writes that overlap are the caller's to order.
///
/// What is written is in memory, seen by every reader at once, and kept when the process is killed.
/// It is **durable**, which is kept when the power goes, from the next `sync` that begins after the
/// call has returned and that returns without an error. Until then the disk may hold any mixture:
/// for the size any of the sizes since the last sync; for each 512-byte sector any of its contents
/// since then (a write under way is in it as far as it has come), with zeros from any size on.
class file {
public:
  static constexpr std::size_t pieces_a_call = 1024;

  file() = default;
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  /// Closes. Syncs nothing.
  virtual ~file() = default;

  /// As it was opened; a later rename does not change it.
  virtual const std::string& path() const noexcept = 0;

  /// Takes disk space for [offset, offset + length) and makes the file at least that long; what is
  /// new reads as zeros, what was there stays. Once this is durable no write into that range can
  /// meet a full disk. A full disk fails here (ENOSPC), leaving a size between the old and the new.
  virtual file_result<void> preallocate(std::uint64_t offset, std::uint64_t length) = 0;

  /// Writes the pieces one behind the other from `offset` on, any number of them, all or an error;
  /// beyond the end the file grows. After an error any part of them may have been written. One
  /// system call for each `pieces_a_call`.
  virtual file_result<void> write(std::uint64_t offset, std::span<const byte_view> pieces) = 0;

  /// Fills `into` from `offset` on. Fewer bytes than that, down to none, mean the end of the file.
  virtual file_result<std::size_t> read(std::uint64_t offset, std::span<std::uint8_t> into) = 0;

  /// Makes contents, size and allocation durable; not the file's name: see `sync_folder`. After an
  /// error what was unsynced is lost: it may still be read for a while, but no later sync makes it
  /// durable, and one that succeeds proves nothing about it. Write it again, elsewhere.
  virtual file_result<void> sync() = 0;

  /// Cuts off what is beyond `size`, or fills up to it with zeros, without taking space for them.
  virtual file_result<void> truncate(std::uint64_t size) = 0;

  virtual file_result<std::uint64_t> size() = 0;

  /// Says that the pages of [offset, offset + length) are not needed in memory any more; a length
  /// of 0 means to the end. Takes effect for whole pages that are synced; the file's contents stay.
  virtual file_result<void> drop_pages(std::uint64_t offset, std::uint64_t length) = 0;
};

/// The exclusive use of a folder, until it is destroyed or its process ends.
class folder_lock {
public:
  folder_lock() = default;
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  virtual ~folder_lock() = default;
};

/// What a journal needs of a file system. Every call may block, and may be made from any thread.
///
/// What changes a folder (a file created, renamed or removed, a folder created) is seen at once and
/// is durable from the next `sync_folder` of that folder that begins afterwards and succeeds. Until
/// then each change may be lost or kept, and of changes to different names a later one may be kept
/// while an earlier one is lost. A sync of the file says nothing about its name.
class file_system {
public:
  virtual ~file_system() = default;

  virtual file_result<std::unique_ptr<file>> open(const std::string& path, open_mode mode) = 0;

  /// The names in a folder, sorted; without "." and "..".
  virtual file_result<std::vector<std::string>> list(const std::string& folder) = 0;

  /// Gives a file a new name in the same folder. If the new name is taken, that file is replaced in
  /// the same step: after a power cut the new name stands for the one or for the other, and a file
  /// has its old name or its new one, never none and never both. Files that are open stay open.
  virtual file_result<void> rename(const std::string& from, const std::string& to) = 0;

  /// Removes a file's name, or an empty folder. A file that is open lives on until it is closed;
  /// its space is certainly free after that and after the next `sync_folder`.
  virtual file_result<void> remove(const std::string& path) = 0;

  /// Creates a folder in one that exists. A folder that is there already is no error.
  virtual file_result<void> create_folder(const std::string& path) = 0;

  /// Makes the names in a folder durable. After an error no later sync proves anything about what
  /// was unsynced.
  virtual file_result<void> sync_folder(const std::string& folder) = 0;

  /// Whoever comes second, in this process or another one, gets EWOULDBLOCK and a text that names
  /// the folder. Leaves nothing in the folder, and works in one that is read-only.
  virtual file_result<std::unique_ptr<folder_lock>> lock_folder(const std::string& folder) = 0;

  /// Bytes that files in this folder can still take.
  virtual file_result<std::uint64_t> free_space(const std::string& folder) = 0;
};

/// The folder that a path is in: `data/journal` of `data/journal/7`, `.` of `7`, `/` of `/7`.
std::string folder_of(const std::string& path);

}  // namespace baton
