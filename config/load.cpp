#include "config/load.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <system_error>
#include <tuple>

#include "config/document.hpp"
#include "config/keys.hpp"
#include "config/validate.hpp"

namespace baton {
namespace {

/// What a node has where its configuration says nothing of the kind.
constexpr std::string_view default_listener = "[[listener]]\n";
constexpr std::string_view default_user = R"(
[[user]]
name          = "guest"
password      = "guest"
loopback_only = true
tags          = ["administrator"]
)";

/// Larger files are not configurations.
constexpr std::uintmax_t max_file_bytes = 64u << 20;

/// The text that has been read so far, and what was wrong with it.
struct reading {
  document_table document;
  mistakes found;
  std::map<std::string, std::size_t> order;  // of the sources, for sorting what was found

  void add_text(std::string_view text, const std::string& source) {
    order.emplace(source, order.size());
    auto parsed = parse_toml(text, source);
    if (parsed)
      merge(document, *std::move(parsed), found);
    else
      found.push_back(parsed.reason());
  }

  void add_file(const std::filesystem::path& path) {
    const auto source = path.string();
    std::error_code failed;
    const auto size = std::filesystem::file_size(path, failed);
    std::ifstream file{path, std::ios::binary};
    if (failed || !file) {
      found.push_back({{source, 0, 0}, "cannot be read, expected a TOML file or a folder of them"});
    } else if (size > max_file_bytes) {
      found.push_back({{source, 0, 0}, "is larger than 64 MiB, which is no configuration"});
    } else {
      add_text(std::string{std::istreambuf_iterator<char>{file}, {}}, source);
    }
  }

  void add_folder(const std::filesystem::path& path) {
    std::vector<std::filesystem::path> files;
    std::error_code failed;
    for (std::filesystem::directory_iterator at{path, failed}, end; !failed && at != end;
         at.increment(failed))
      if (const auto& found_there = at->path();
          found_there.extension() == ".toml" && found_there.filename().string()[0] != '.')
        files.push_back(found_there);  // hidden ones are an editor's
    std::sort(files.begin(), files.end());
    if (failed || files.empty())
      found.push_back({{path.string(), 0, 0}, "no *.toml there, expected at least one"});
    for (const auto& file : files) add_file(file);
  }

  void add_path(const std::filesystem::path& path) {
    std::error_code failed;
    if (std::filesystem::is_directory(path, failed))
      add_folder(path);
    else
      add_file(path);
  }
};

/// In the order of the sources and of the lines in them; what has no place there comes last.
void sort(mistakes& found, const std::map<std::string, std::size_t>& order) {
  std::stable_sort(found.begin(), found.end(), [&](const mistake& a, const mistake& b) {
    const auto rank = [&](const mistake& each) {
      const auto at = order.find(each.where.source);
      return std::tuple{at == order.end() ? order.size() : at->second, each.where.line,
                        each.where.column};
    };
    return rank(a) < rank(b);
  });
}

result<settings, mistakes> finish(reading read, const overrides& set,
                                  const further_check& further) {
  auto& [document, found, order] = read;
  const bool complete = found.empty();
  if (!find_entry(document, "listener")) read.add_text(default_listener, "default");
  if (!find_entry(document, "user")) read.add_text(default_user, "default");
  for (const auto& assignment : set) set_key(document, assignment, found);

  settings made;
  value_reader{found}.read(document_value{{}, document}, made);
  if (complete) {  // what text that could not be read declares would be missed in vain
    fit_limits(made, document);
    read_password_files(made, found);
    validate(made, document, found);
    if (further) further(made, found);
  }
  if (found.empty()) return made;
  sort(found, order);
  return failure{std::move(found)};
}

}  // namespace

result<settings, mistakes> load(const std::vector<std::filesystem::path>& paths,
                                const overrides& set, const further_check& further) {
  reading read;
  for (const auto& path : paths) read.add_path(path);
  return finish(std::move(read), set, further);
}

result<settings, mistakes> load_text(std::string_view text, const std::string& source,
                                     const overrides& set) {
  reading read;
  read.add_text(text, source);
  return finish(std::move(read), set, {});
}

settings default_settings() { return *load({}); }

}  // namespace baton
