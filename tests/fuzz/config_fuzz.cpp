#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/check.hpp"
#include "config/load.hpp"

/// Any text is either a configuration or a list of mistakes, each with a place and a reason. The
/// text behind the last zero byte, if there is one, is given to `--set`.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  baton::overrides set;
  if (const auto zero = text.rfind('\0'); zero != std::string_view::npos) {
    set.emplace_back(text.substr(zero + 1));
    text = text.substr(0, zero);
  }
  const auto loaded = baton::load_text(text, "fuzz.toml", set);
  if (!loaded) {
    BATON_CHECK(!loaded.reason().empty());
    for (const auto& each : loaded.reason())
      BATON_CHECK(!each.text.empty() && !each.where.source.empty());
  }
  return 0;
}
