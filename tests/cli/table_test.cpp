#include "cli/table.hpp"

#include <sstream>

#include "tests/catch.hpp"

using namespace baton;

namespace {

std::string shown(std::string_view json, const std::vector<column>& columns) {
  std::ostringstream out;
  print_table(out, json, columns);
  return out.str();
}

}  // namespace

TEST_CASE(
    "a table's numbers and their titles stand right, texts left, and no line ends in blanks") {
  CHECK(shown(R"([{"name":"a","n":1,"on":true},{"name":"long","n":12345,"on":{}}])",
              {{"name", "name"}, {"n", "n"}, {"on", "switch"}}) ==
        "name      n  switch\n"
        "a         1  yes\n"
        "long  12345\n");
}

TEST_CASE("a table without rows is its titles") {
  CHECK(shown("[]", {{"name", "name"}, {"n", "n"}}) == "name  n\n");
}

TEST_CASE("one object is a line for each member, lists parted by commas and sizes for people") {
  CHECK(shown(R"({"at":["amqp a","amqp b"],"none":[],"budget":1073741824,"held":24064,"few":17})",
              {{"at", "listeners"},
               {"none", "none"},
               {"budget", "budget", true},
               {"held", "held", true},
               {"few", "few", true}}) ==
        "listeners  amqp a, amqp b\n"
        "none\n"
        "budget     1.0 GiB\n"
        "held       23.5 KiB\n"
        "few        17 bytes\n");
}

TEST_CASE("a name cannot move a terminal's cursor") {
  CHECK(shown(R"([{"name":"a\u001b[2Jb\nc"}])", {{"name", "name"}}) == "name\na?[2Jb?c\n");
}
