#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "config/simulation_random.hpp"
#include "storage/files/file_system.hpp"
#include "storage/files/simulated_faults.hpp"
#include "storage/files/simulated_folder.hpp"

namespace baton {

/// A disk in memory that does everything that `file` and `file_system` allow a disk to do. What it
/// does is up to the dice alone: the same calls with the same seed end in the same way, if they
/// come from one thread; calls from several are safe. It begins with the folder "/", and outlives
/// its files and locks. Contents take space in pages of 4 KiB; names take none.
class simulated_file_system final : public file_system {
public:
  explicit simulated_file_system(simulation_random& dice) : dice_{dice}, faults_{dice} {}

  file_result<std::unique_ptr<file>> open(const std::string& path, open_mode mode) override;
  file_result<std::vector<std::string>> list(const std::string& folder) override;
  file_result<void> rename(const std::string& from, const std::string& to) override;
  file_result<void> remove(const std::string& path) override;
  file_result<void> create_folder(const std::string& path) override;
  file_result<void> sync_folder(const std::string& folder) override;
  file_result<std::unique_ptr<folder_lock>> lock_folder(const std::string& folder) override;
  file_result<std::uint64_t> free_space(const std::string& folder) override;

  // -- power

  /// Everything unsynced is lost, kept, torn or reordered. Files and locks that are open are dead
  /// for ever, and until `power_on` every call fails.
  void power_cut();
  void power_on();
  bool has_power() const;

  /// Called when the power goes, by `power_cut` or at a planned call; it may not use the disk.
  void on_power_cut(std::function<void()> told) { on_power_cut_ = std::move(told); }

  // -- faults; to be planned while no call is under way

  /// Calls that fail, a power cut at a given call, short writes; and counts of all calls.
  simulated_faults& faults() noexcept { return faults_; }
  std::uint64_t calls(file_operation what) const;

  /// All that files can take. What they hold already stays, whatever the capacity.
  void set_capacity(std::uint64_t bytes);

  // -- damage: on the disk, for good, and at once in what is read. The file exists.

  void flip_bit(const std::string& path, std::uint64_t offset, unsigned bit);
  void overwrite(const std::string& path, std::uint64_t offset, byte_view bytes);

  /// What the disk holds of a file for certain, even if the power went now and all unsynced were
  /// lost.
  std::vector<std::uint8_t> durable_contents(const std::string& path) const;

private:
  friend class simulated_open_file;
  friend class simulated_folder_lock;

  /// One system call: counts it, lets it fail or the power go as planned, else does it. `if_failed`
  /// is what a call that fails as planned does all the same.
  template <class Effect, class Failed>
  auto call(file_operation what, const std::string& path, Effect effect, Failed if_failed)
      -> decltype(effect());
  template <class Effect>
  auto call(file_operation what, const std::string& path, Effect effect) -> decltype(effect());

  void cut_power();
  const simulated_folder::entry* find(const std::string& path) const;
  simulated_folder* find_folder(const std::string& path) const;
  simulated_file* find_file(const std::string& path) const;
  std::uint64_t free_pages();
  std::uint64_t fitting(const simulated_file& into, std::uint64_t offset, std::uint64_t length);

  mutable std::mutex mutex_;
  simulation_random& dice_;
  simulated_faults faults_;
  std::function<void()> on_power_cut_;
  simulated_folder::entry root_ = std::make_shared<simulated_folder>();
  std::vector<std::weak_ptr<simulated_file>> files_;  // also those without a name that are open
  std::set<const simulated_folder*> locked_;
  std::uint64_t capacity_pages_ = UINT64_MAX / sparse_bytes::page_size;
  std::uint64_t power_cuts_ = 0;  // files and locks belong to the time since the last one
  bool has_power_ = true;
};

}  // namespace baton
