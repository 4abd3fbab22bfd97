#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/place.hpp"
#include "config/result.hpp"
#include "config/settings.hpp"

namespace baton {

/// Values that come after all files: `KEY=VALUE`, as given to `--set`.
using overrides = std::vector<std::string>;

/// Looks for more mistakes in settings, some of which may have been found already; for what only
/// other layers know.
using further_check = std::function<void(const settings&, mistakes& found)>;

/// The settings of a node, from TOML files and folders of them (`*.toml`, in name order), merged in
/// the order given; or everything that is wrong with them. No path at all: the default node.
result<settings, mistakes> load(const std::vector<std::filesystem::path>& paths,
                                const overrides& set = {}, const further_check& further = {});

/// The same from one text; `source` is what places call it, and what relative paths are relative
/// to.
result<settings, mistakes> load_text(std::string_view text, const std::string& source,
                                     const overrides& set = {});

}  // namespace baton
