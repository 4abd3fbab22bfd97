#pragma once

#include <filesystem>
#include <iosfwd>
#include <vector>

#include "config/load.hpp"

namespace baton {

/// `baton check FILE|FOLDER... [--set KEY=VALUE]`: writes every mistake, one a line, to `err`, also
/// what a node would refuse to declare; or to `out` what the configuration says in one line. The
/// exit code: 0 when it is good, if need be with warnings on `err`, 1 when not.
int check_command(const std::vector<std::filesystem::path>& paths, const overrides& set,
                  std::ostream& out, std::ostream& err);

/// `baton reference`: writes every key with its default and meaning, as TOML.
int reference_command(std::ostream& out);

}  // namespace baton
