#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/file_system.hpp"
#include "tests/catch.hpp"

namespace baton {

inline std::unique_ptr<file> opened(file_system& files, const std::string& path, open_mode mode) {
  auto made = files.open(path, mode);
  if (!made) FAIL(made.reason().text());
  return std::move(*made);
}

inline std::unique_ptr<file> created(file_system& files, const std::string& path) {
  return opened(files, path, open_mode::create);
}

inline void write(file& into, std::uint64_t offset, std::string_view text) {
  const std::vector<byte_view> pieces{as_bytes(text)};
  const auto written = into.write(offset, pieces);
  if (!written) FAIL(written.reason().text());
}

inline std::string read(file& from, std::uint64_t offset, std::size_t bytes) {
  std::string text(bytes, '?');
  const auto done = from.read(offset, {reinterpret_cast<std::uint8_t*>(text.data()), bytes});
  if (!done) FAIL(done.reason().text());
  text.resize(*done);
  return text;
}

inline std::string contents(file& from) { return read(from, 0, from.size().value()); }

}  // namespace baton
