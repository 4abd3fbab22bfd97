#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace baton {

/// A folder of its own, gone with everything in it when the test ends.
class temporary_folder {
public:
  temporary_folder() {
    auto name = (std::filesystem::temp_directory_path() / "baton-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
    path_ = name;
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream{path_ / name, std::ios::binary} << text;
  }

private:
  std::filesystem::path path_;
};

}  // namespace baton
