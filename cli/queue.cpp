#include "cli/queue.hpp"

#include <boost/json.hpp>
#include <ostream>

#include "cli/control_client.hpp"
#include "cli/table.hpp"

namespace baton {

namespace {

namespace bj = boost::json;

std::string counted(std::uint64_t messages) {
  return std::to_string(messages) + (messages == 1 ? " message" : " messages");
}

void print_peek(std::ostream& out, bj::object seen) {
  static const std::vector<column> columns{
      {"number", "number"},
      {"exchange", "exchange"},
      {"routing_key", "key"},
      {"redelivered", "redelivered"},
      {"returns", "returns"},
      {"on_disk", "on disk"},
      {"expires_in_ms", "expires in, ms"},
      {"properties", "properties"},
      {"body_size", "size", true},
      {"body", "body"},
  };
  auto& messages = seen.at("messages").as_array();
  for (auto& each : messages) {
    auto& m = each.as_object();
    auto& body = m.at("body").as_string();
    if (m.at("body_encoding").as_string() == "hex") body.insert(0, "0x");
    if (m.at("body_cut").as_bool()) body.append("...");
  }
  if (!messages.empty()) print_table(out, bj::serialize(messages), columns);
  out << messages.size() << " of " << counted(seen.at("ready").to_number<std::uint64_t>()) << '\n';
}

}  // namespace

int queue_command(const json::control_request& asked, const std::filesystem::path& data_folder,
                  bool as_json, std::ostream& out, std::ostream& err) {
  const auto fail = [&](std::string_view why) {
    err << "baton queue: " << why << '\n';
    return 1;
  };
  const auto answer = ask_node(data_folder, asked);
  if (!answer) return fail(answer.reason().text);
  if (answer->empty()) return fail("the node ended before it had answered");
  const auto parsed = bj::parse(*answer).as_object();
  if (const auto* refused = parsed.if_contains("error"))
    return fail(std::string{refused->as_string()});
  if (as_json) {
    out << *answer << '\n';
  } else if (asked.request == "peek_queue") {
    print_peek(out, parsed);
  } else {
    out << (asked.request == "purge_queue" ? "purged " : "deleted, with ")
        << counted(parsed.at("messages").to_number<std::uint64_t>()) << '\n';
  }
  return 0;
}

}  // namespace baton
