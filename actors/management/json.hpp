#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/management/reports.hpp"

/// Reports as JSON text, one object for each: the keys are the fields' names.
namespace baton::json {

std::string text_of(const node_report& report);
std::string text_of(const std::vector<queue_report>& reports);
std::string text_of(const std::vector<exchange_report>& reports);
std::string text_of(const std::vector<binding_report>& reports);
std::string text_of(const std::vector<connection_report>& reports);
std::string text_of(const std::vector<consumer_report>& reports);
/// Properties and headers decoded; a body as text where it is UTF-8, else in hexadecimal.
std::string text_of(const queue_peek& seen);

/// `{"messages": 7}`: how many an operation was about.
std::string count_text(std::uint64_t messages);
/// `{"error": "..."}`
std::string error_text(const std::string& why);

/// A line on the control socket; what it does not say, or says in another type, is as here.
struct control_request {
  std::string request = {};
  std::string vhost = "/";
  std::string queue = {};
  std::uint64_t count = 10;
  std::uint64_t body_bytes = 256;
  bool if_unused = false;
  bool if_empty = false;
};
control_request parse_request(const std::string& line);
/// As `parse_request` reads it; without an end of line.
std::string text_of(const control_request& asked);

}  // namespace baton::json
