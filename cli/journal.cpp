#include "cli/journal.hpp"

#include <array>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "storage/files/system_file_system.hpp"
#include "storage/journal/log_recovery.hpp"
#include "storage/journal/log_writer.hpp"
#include "storage/journal/node_recovery.hpp"

namespace baton {
namespace {

using namespace journal;

/// "1 queue", "2 queues".
std::string counted(std::uint64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string to_text(place at) {
  return std::to_string(at.segment) + ":" + std::to_string(at.offset);
}

/// In quotes, on one line, whatever it is.
std::string quoted(std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string made = "\"";
  for (const auto c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      made += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    } else {
      if (c == '"' || c == '\\') made += '\\';
      made += c;
    }
  }
  return made + '"';
}

/// What a record says, on one line.
class teller {
public:
  explicit teller(std::ostream& out) : out_{out} {}

  void tell(place at, std::size_t size, const record& what, std::string_view indent = "") {
    static constexpr std::array<std::string_view, 13> kinds{
        "group",  "enqueue",       "settle",   "move",       "requeue",    "purge", "tx",
        "define", "peer_progress", "relocate", "stream_end", "checkpoint", "chunk"};
    static_assert(kinds.size() == std::variant_size_v<record>);
    out_ << indent << to_text(at) << ' ' << size << ' ' << kinds[what.index()];
    std::visit([this](const auto& r) { say(r); }, what);
    out_ << '\n';
    if (const auto* whole = std::get_if<tx>(&what))
      for_each_part(at, *whole, [&](place part_at, byte_view frame, const record& part) {
        tell(part_at, frame.size(), part, "  ");
      });
  }

private:
  void say(const group& r) {
    out_ << ", synced to " << to_text(r.synced_to) << (r.closes ? ", closes the log" : "")
         << (r.after_crash ? ", after a crash" : "");
  }
  void say(const enqueue& r) { say(r.places), say(r.message); }
  void say(const relocate& r) { say(r.places), say(r.message); }
  void say(const settle& r) { say(r.runs); }
  void say(const move& r) {
    say(r.runs);
    say(r.places, ", now ");
    say(r.message);
  }
  void say(const requeue& r) {
    for (const auto& one : r.returns)
      out_ << ", queue " << one.queue << " #" << one.number << " returned " << one.returns << "x";
  }
  void say(const purge& r) {
    out_ << ", queue " << r.queue << " below #" << r.end;
    say(r.kept, ", but ");
  }
  void say(const tx& r) {
    std::uint64_t count = 0;
    for_each_part(r, [&](const record&) { ++count; });
    out_ << ", " << counted(count, "record");
  }
  void say(const define& r) {
    out_ << ", " << quoted(r.key);
    if (r.value)
      out_ << ", value of " << counted(r.value->size(), "byte");
    else
      out_ << ", no longer";
  }
  void say(const peer_progress& r) {
    out_ << ", peer " << r.peer << " epoch " << r.epoch << " #" << r.number;
  }
  void say(const stream_end& r) {
    out_ << ", queue " << r.queue << " offset " << r.offset << " at " << to_text(r.end);
  }
  void say(const checkpoint& r) { out_ << ", " << counted(r.indexes.size(), "index file"); }

  void say(const chunk& r) {
    out_ << ", queue " << r.queue << ' ' << counted(r.count, "message") << " from offset "
         << r.first << " on, taken at " << r.time_ms;
  }

  void say(const entries<queue_place>& places, std::string_view first = ", ") {
    for (const auto& p : places) {
      out_ << std::exchange(first, ", ") << "queue " << p.queue << " #" << p.number;
      if (p.deadline_ms != queue_place::never) out_ << " until " << p.deadline_ms;
      if (p.returns > 0) out_ << " returned " << p.returns << "x";
      if (p.redelivered != 0) out_ << " redelivered";
    }
  }
  void say(const entries<queue_run>& runs, std::string_view first = ", ") {
    for (const auto& r : runs) {
      out_ << std::exchange(first, ", ") << "queue " << r.queue << " #" << r.first;
      if (r.count != 1) out_ << " and " << r.count - 1 << " more";
    }
  }
  void say(const stored_message& m) {
    out_ << ", exchange " << quoted(m.exchange) << ", key " << quoted(m.routing_key)
         << ", properties of " << counted(m.properties.size(), "byte") << ", body of "
         << counted(m.body.size(), "byte");
    if (m.priority > 0) out_ << ", priority " << int{m.priority};
    if (m.expiration_ms) out_ << ", expires in " << *m.expiration_ms << " ms";
    if (!m.persistent) out_ << ", transient";
  }

  std::ostream& out_;
};

/// The folder that the log is in: this one, or `journal` in it. Nothing: neither; says so.
std::optional<std::string> find_log(file_system& files, const std::filesystem::path& folder,
                                    std::ostream& err) {
  const auto given = files.list(folder.string());
  if (!given) {
    err << given.reason().text() << '\n';
    return std::nullopt;
  }
  for (const auto& in : {folder, folder / "journal"})
    if (const auto names = files.list(in.string()))
      for (const auto& name : *names)
        if (segment_number(name)) return in.string();
  err << folder.string() << ": holds no journal, expected segments as " << segment_name(1)
      << " in it or in its folder journal\n";
  return std::nullopt;
}

/// Says what is wrong with a log; the exit code.
int report(const log_state& log, std::ostream& err) {
  for (const auto& each : log.damage) err << "damage: " << each << '\n';
  if (!log.torn.empty()) err << "torn: " << log.torn << '\n';
  return log.damage.empty() ? 0 : 1;
}

}  // namespace

int dump_journal_command(const std::filesystem::path& folder, std::ostream& out,
                         std::ostream& err) {
  system_file_system files;
  const auto where = find_log(files, folder, err);
  if (!where) return 1;
  teller lines{out};
  const auto log = recover_log(files, *where, [&](place at, byte_view frame, const record& r) {
    lines.tell(at, frame.size(), r);
  });
  if (!log) {
    err << log.reason().text << '\n';
    return 1;
  }
  return report(*log, err);
}

int verify_journal_command(const std::filesystem::path& folder, std::ostream& out,
                           std::ostream& err) {
  system_file_system files;
  const auto where = find_log(files, folder, err);
  if (!where) return 1;
  const auto node = recover_node(files, *where);
  if (!node) {
    err << node.reason().text << '\n';
    return 1;
  }
  const auto& log = node->log;
  std::uint64_t messages = 0, body_bytes = 0, queues = 0;
  for (const auto& [id, q] : node->queues) {
    messages += q.messages.size();
    body_bytes += q.messages.body_bytes();
    queues += q.messages.empty() ? 0 : 1;
  }
  out << *where << ": " << counted(log.segments.size(), "segment") << ", "
      << counted(log.records, "record") << " of " << counted(log.bytes, "byte") << '\n'
      << counted(messages, "message") << " with " << counted(body_bytes, "byte") << " in "
      << counted(queues, "queue") << ", " << counted(node->definitions.size(), "definition") << '\n'
      << "ends at " << to_text(log.end) << ", "
      << (log.closed ? "closed in order" : "not closed in order") << ", "
      << (log.damage.empty() ? "no damage" : counted(log.damage.size(), "damaged place")) << '\n';
  return report(log, err);
}

}  // namespace baton
