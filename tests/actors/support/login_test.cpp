#include <sodium.h>

#include "actors/support/login.hpp"
#include "tests/catch.hpp"

using namespace baton;
using verdict = login_register::verdict;

namespace {

user_settings plain(std::string name, std::string password, bool loopback_only = false) {
  user_settings u;
  u.name = std::move(name);
  u.password = std::move(password);
  u.loopback_only = loopback_only;
  return u;
}

user_settings hashed(std::string name, const std::string& password) {
  REQUIRE(sodium_init() >= 0);
  char hash[crypto_pwhash_STRBYTES];
  REQUIRE(crypto_pwhash_str(hash, password.data(), password.size(), crypto_pwhash_OPSLIMIT_MIN,
                            crypto_pwhash_MEMLIMIT_MIN) == 0);
  user_settings u;
  u.name = std::move(name);
  u.password_hash = hash;
  return u;
}

}  // namespace

TEST_CASE("a plain password is accepted at once, any other is refused at once") {
  login_register users{{plain("ann", "secret")}};
  CHECK(users.check("ann", "secret", false) == verdict::accepted);
  CHECK(users.check("ann", "Secret", false) == verdict::refused);
  CHECK(users.check("ann", "", false) == verdict::refused);
  CHECK(users.check("bob", "secret", false) == verdict::refused);
}

TEST_CASE("a loopback-only user from elsewhere is refused like a wrong password") {
  login_register users{{plain("guest", "guest", true)}};
  CHECK(users.check("guest", "guest", true) == verdict::accepted);
  CHECK(users.check("guest", "guest", false) == verdict::refused);
}

TEST_CASE("a hashed password is computed once, then known") {
  login_register users{{hashed("eve", "long enough")}};
  CHECK(users.check("eve", "long enough", false) == verdict::unknown);
  CHECK(users.check_slowly("eve", "wrong", false) == verdict::refused);
  CHECK(users.check("eve", "long enough", false) == verdict::unknown);
  CHECK(users.check_slowly("eve", "long enough", false) == verdict::accepted);
  CHECK(users.check("eve", "long enough", false) == verdict::accepted);
  CHECK(users.check("eve", "wrong", false) == verdict::unknown);
}

TEST_CASE("name and password do not run into each other") {
  login_register users{{plain("ab", "c")}};
  CHECK(users.check("a", "bc", false) == verdict::refused);
}
