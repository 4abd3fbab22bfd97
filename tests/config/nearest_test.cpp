#include "config/nearest.hpp"

#include <string>

#include "tests/catch.hpp"

using namespace baton;

TEST_CASE("one letter more, less, other or swapped is one step between words") {
  CHECK(edit_distance("name", "name") == 0);
  CHECK(edit_distance("nmae", "name") == 1);
  CHECK(edit_distance("nam", "name") == 1);
  CHECK(edit_distance("names", "name") == 1);
  CHECK(edit_distance("lame", "name") == 1);
  CHECK(edit_distance("", "name") == 4);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest of the known words is found, and a far one is not") {
  const std::vector<std::string_view> known{"frame_max", "channel_max", "heartbeat"};
  CHECK(nearest("frmae_max", known) == "frame_max");
  CHECK(nearest("heart_beat", known) == "heartbeat");
  CHECK(nearest("chanel-max", known) == "channel_max");
  CHECK_FALSE(nearest("colour", known));
  CHECK_FALSE(nearest("", known));
  CHECK_FALSE(nearest("x", {"y"}));
}

TEST_CASE("words of any length may be compared") {
  const std::string endless(100'000, 'a');
  CHECK(edit_distance(endless, "a") == 63);
  CHECK(edit_distance(endless, endless) == 0);
}
