#pragma once

#include <filesystem>
#include <iosfwd>

namespace baton {

/// `baton journal dump FOLDER`: a line for each record of the log in a folder, or in the journal of
/// a node's data folder: its place, size and kind, and what it says; of bodies and values only how
/// large they are. What is damaged or torn goes to `err`. Exit code 1 if the log cannot be read or
/// something is missing.
///
/// Like `verify` it needs no node, disturbs none and writes nothing. A node that runs goes on
/// meanwhile: what is said of the log's ends may be out of date.
int dump_journal_command(const std::filesystem::path& folder, std::ostream& out, std::ostream& err);

/// `baton journal verify FOLDER`: reads everything as a start of the node would, and says what it
/// would find. Exit code 1 if something is missing that was once safe; a torn tail is what a crash
/// leaves.
int verify_journal_command(const std::filesystem::path& folder, std::ostream& out,
                           std::ostream& err);

}  // namespace baton
