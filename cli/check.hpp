#pragma once

#include <filesystem>
#include <iosfwd>
#include <vector>

namespace baton {

/// `baton check FILE|FOLDER...`: writes every mistake, one a line, to `err`, or to `out` what the
/// configuration says in one line. The exit code: 0 when it is good, 1 when not.
int check_command(const std::vector<std::filesystem::path>& paths, std::ostream& out,
                  std::ostream& err);

/// `baton reference`: writes every key with its default and meaning, as TOML.
int reference_command(std::ostream& out);

}  // namespace baton
