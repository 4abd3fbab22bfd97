#pragma once

#include "storage/files/file_system.hpp"

namespace baton {

/// The machine's files. Interrupted calls are made again, short ones continued; nothing is kept in
/// memory between calls. New files are readable by their group (0640), new folders too (0750).
class system_file_system final : public file_system {
public:
  file_result<std::unique_ptr<file>> open(const std::string& path, open_mode mode) override;
  file_result<std::vector<std::string>> list(const std::string& folder) override;
  file_result<void> rename(const std::string& from, const std::string& to) override;
  file_result<void> remove(const std::string& path) override;
  file_result<void> create_folder(const std::string& path) override;
  file_result<void> sync_folder(const std::string& folder) override;
  file_result<std::unique_ptr<folder_lock>> lock_folder(const std::string& folder) override;
  file_result<std::uint64_t> free_space(const std::string& folder) override;
};

}  // namespace baton
