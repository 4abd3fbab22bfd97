#include "config/reference.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "config/keys.hpp"
#include "config/load.hpp"
#include "tests/catch.hpp"

using namespace baton;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  REQUIRE(file);
  return {std::istreambuf_iterator<char>{file}, {}};
}

void require_listed(const std::string& text, const std::vector<key_description>& keys) {
  for (const auto& each : keys) {
    CAPTURE(each.name);
    CHECK_FALSE(each.text.empty());
    CHECK_FALSE(each.type.empty());
    if (each.children.empty())
      CHECK(text.find("\n#" + each.name + " =") != std::string::npos);
    else
      CHECK(text.find(each.name + "]") != std::string::npos);
    require_listed(text, each.children);
  }
}

}  // namespace

TEST_CASE("the reference lists every key with a text") {
  require_listed(reference(), describe_keys<settings>());
}

TEST_CASE("examples/reference.toml is what `baton reference` writes") {
  CHECK(text_of("examples/reference.toml") == reference());
}

TEST_CASE("the reference is a configuration that changes nothing") {
  CHECK(load_text(reference(), "reference.toml"));
}

TEST_CASE("every default in the reference is one that may be written") {
  // With each `#key = value` of the sections that are there once brought to life.
  std::istringstream lines{reference()};
  std::string line, text;
  while (std::getline(lines, line) && line.rfind("#[[", 0) != 0)
    text +=
        line.rfind("#", 0) == 0 && line.rfind("# ", 0) != 0 ? line.substr(1) + "\n" : line + "\n";
  const auto loaded = load_text(text, "reference.toml");
  if (!loaded)
    for (const auto& each : loaded.reason()) UNSCOPED_INFO(to_string(each));
  CHECK(loaded);
}

TEST_CASE("no line of the reference is longer than 100 characters") {
  std::istringstream lines{reference()};
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
}

TEST_CASE("every example configuration is good") {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator{"examples"}) {
    const bool is_folder = entry.is_directory() && entry.path().extension() == ".d";
    if (!is_folder && entry.path().extension() != ".toml") continue;
    CAPTURE(entry.path());
    const auto loaded = load({entry.path()});
    if (!loaded)
      for (const auto& each : loaded.reason()) UNSCOPED_INFO(to_string(each));
    CHECK(loaded);
    ++seen;
  }
  CHECK(seen >= 4);
}
