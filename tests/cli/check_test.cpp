#include "cli/check.hpp"

#include <sstream>
#include <string>

#include "config/reference.hpp"
#include "tests/catch.hpp"
#include "tests/config/temporary_folder.hpp"

using namespace baton;

TEST_CASE("check says in a line what a good configuration declares") {
  std::ostringstream out, err;
  CHECK(check_command({"examples/orders.toml"}, {}, out, err) == 0);
  CHECK(out.str() == "node north: 1 listener, 2 users, 2 exchanges, 2 queues, 3 bindings\n");
  CHECK(err.str().empty());
}

TEST_CASE("check writes a mistake a line and their number, and fails") {
  std::ostringstream out, err;
  CHECK(check_command({"/there/is/none.toml"}, {}, out, err) == 1);
  CHECK(out.str().empty());
  CHECK(err.str() ==
        "/there/is/none.toml: cannot be read, expected a TOML file or a folder of them\n"
        "1 mistake\n");
}

TEST_CASE("check tells what a node would refuse to declare among all other mistakes") {
  const temporary_folder folder;
  folder.write("n.toml", R"([[queue]]
name = "a"
arguments = { x-expires = 0 }
[[queue]]
name = "b"
durabel = true
[[queue]]
name = "b"
durable = false
[[exchange]]
name = "e"
arguments = { alternate-exchange = 5 }
)");
  std::ostringstream out, err;
  const auto file = folder.path() / "n.toml";
  CHECK(check_command({file}, {}, out, err) == 1);
  const auto said = err.str();
  CHECK_THAT(said, Catch::Matchers::EndsWith("\n4 mistakes\n"));
  const auto at = [&](const std::string& place) { return said.find(file.string() + place); };
  CHECK(at(":1:1: ") < at(":6:1: unknown key queue.durabel"));
  CHECK(at(":6:1: ") < at(":7:1: queue \"b\" in vhost \"/\" is declared twice, first at "));
  CHECK(at(":7:1: ") < at(":10:1: "));
  CHECK(at(":10:1: ") != std::string::npos);
}

TEST_CASE("check warns of unknown arguments and takes values that are set by hand") {
  const temporary_folder folder;
  folder.write("n.toml", "[[queue]]\nname = \"a\"\narguments = { x-max-lenght = 5 }\n");
  std::ostringstream out, err;
  CHECK(check_command({folder.path()}, {"node.name=south"}, out, err) == 0);
  CHECK(out.str() == "node south: 1 listener, 1 user, 0 exchanges, 1 queue, 0 bindings\n");
  CHECK(err.str() == (folder.path() / "n.toml").string() +
                         ":1:1: warning: unknown argument 'x-max-lenght' for queue 'a' in vhost "
                         "'/'; did you mean 'x-max-length'?\n");
  CHECK(check_command({folder.path()}, {"node.strict_arguments=true"}, out, err) == 1);
}

TEST_CASE("reference writes the reference") {
  std::ostringstream out;
  CHECK(reference_command(out) == 0);
  CHECK(out.str() == reference());
}
