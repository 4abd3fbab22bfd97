#include "cli/check.hpp"

#include <sstream>
#include <string>

#include "config/reference.hpp"
#include "tests/catch.hpp"

using namespace baton;

TEST_CASE("check says in a line what a good configuration declares") {
  std::ostringstream out, err;
  CHECK(check_command({"examples/orders.toml"}, out, err) == 0);
  CHECK(out.str() == "node north: 1 listener, 2 users, 2 exchanges, 2 queues, 3 bindings\n");
  CHECK(err.str().empty());
}

TEST_CASE("check writes a mistake a line and their number, and fails") {
  std::ostringstream out, err;
  CHECK(check_command({"/there/is/none.toml"}, out, err) == 1);
  CHECK(out.str().empty());
  CHECK(err.str() ==
        "/there/is/none.toml: cannot be read, expected a TOML file or a folder of them\n"
        "1 mistake\n");
}

TEST_CASE("reference writes the reference") {
  std::ostringstream out;
  CHECK(reference_command(out) == 0);
  CHECK(out.str() == reference());
}
