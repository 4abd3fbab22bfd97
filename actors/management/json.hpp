#pragma once

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

/// `{"error": "..."}`
std::string error_text(const std::string& why);

/// The member "request" of a JSON object; empty if `line` is no such thing.
std::string request_of(const std::string& line);

}  // namespace baton::json
