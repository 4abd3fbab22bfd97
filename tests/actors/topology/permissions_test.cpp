#include "actors/topology/permissions.hpp"

#include "tests/actors/topology/fixture.hpp"

namespace baton {
namespace {

using namespace topology_test;

user_definition with_rights(std::string configure, std::string write, std::string read) {
  user_definition made;
  made.name = "u1";
  made.permissions.push_back({"/", std::move(configure), std::move(write), std::move(read)});
  return made;
}

refusal access(const char* kind, const std::string& resource) {
  return {403,
          std::string{kind} + " access to " + resource + " in vhost '/' refused for user 'u1'"};
}

TEST_CASE("an expression is searched for in a name, and an empty one is in none") {
  const auto matches = [](const char* expression, std::string_view name) {
    return name_pattern::parse(expression).value().matches(name);
  };
  REQUIRE(matches(".*", ""));
  REQUIRE(matches("^amq\\.", "amq.direct"));
  REQUIRE(matches("order", "my-orders"));
  REQUIRE_FALSE(matches("^order$", "orders"));
  REQUIRE_FALSE(matches("", ""));
  REQUIRE_FALSE(matches("", "q"));
  REQUIRE_FALSE(name_pattern{}.matches("q"));
  REQUIRE_FALSE(name_pattern::parse("("));
}

TEST_CASE("each operation needs the rights that RabbitMQ asks for") {
  fixture t;
  t.queue("q");
  t.exchange("e", "fanout");
  t.exchange("ae", "fanout");
  t.who.user = "u1";
  const auto rights = [&](const char* configure, const char* write, const char* read) {
    REQUIRE(t.core.put_user(with_rights(configure, write, read)));
  };

  rights("", ".*", ".*");
  REQUIRE(refused(t.try_queue("zz")) == access("configure", "queue 'zz'"));
  REQUIRE(refused(t.try_exchange("zz", "fanout")) == access("configure", "exchange 'zz'"));
  REQUIRE(refused(t.core.delete_exchange(t.who, t.vhost, "e", false)) ==
          access("configure", "exchange 'e'"));
  REQUIRE(t.try_queue({t.vhost, "q", true}));  // passive needs none

  rights(".*", "^q$", ".*");
  REQUIRE(t.core.bind(t.who, t.binding_of("e", "q", "")));
  REQUIRE(refused(t.core.bind(t.who, t.binding_of("e", "r", ""))) == access("write", "queue 'r'"));
  REQUIRE(refused(t.core.bind(t.who, t.binding_of("e", "ae", "", {}, resource_kind::exchange))) ==
          access("write", "exchange 'ae'"));
  REQUIRE(refused(t.try_exchange("x", "fanout", {{"alternate-exchange", text("ae")}})) ==
          access("write", "exchange 'ae'"));
  REQUIRE(refused(t.try_queue("d", {{"x-dead-letter-exchange", text("")}})) ==
          access("write", "exchange 'amq.default'"));

  rights(".*", ".*", "^e$");
  REQUIRE(t.core.unbind(t.who, t.binding_of("e", "q", "")));
  REQUIRE(refused(t.core.bind(t.who, t.binding_of("ae", "q", ""))) ==
          access("read", "exchange 'ae'"));
  REQUIRE(refused(t.try_queue("d", {{"x-dead-letter-exchange", text("ae")}})) ==
          access("read", "queue 'd'"));

  t.core.remove_user("u1");
  REQUIRE(refused(t.try_queue("q")).code == 403);
}

TEST_CASE("a user enters the virtual hosts it has rights in, from where it may come") {
  fixture t;
  auto definition = with_rights("", "", "");
  definition.loopback_only = true;
  REQUIRE(t.core.put_user(definition));
  const user* u1 = t.core.state().find_user("u1");
  REQUIRE(u1->may_enter("/"));
  REQUIRE_FALSE(u1->may_enter("other"));
  REQUIRE(vhost_refused_text("other", "u1") == "access to vhost 'other' refused for user 'u1'");
  REQUIRE(u1->may_come_from(true));
  REQUIRE_FALSE(u1->may_come_from(false));
  definition.permissions.front().read = "(";
  const auto wrong = t.core.put_user(definition);
  REQUIRE_FALSE(wrong);
  REQUIRE(wrong.reason().text.starts_with("user 'u1', virtual host '/': '(' is no regular"));
}

TEST_CASE("remembered answers about rights end with any change of the user") {
  fixture t;
  permission_cache cache{permission::write, resource_kind::exchange};
  const auto check = [&](std::string_view name) {
    return cache.check(t.core.state().find_user("u1"), "u1", name, "/");
  };
  REQUIRE(check("e") == access("write", "exchange 'e'"));  // no such user
  REQUIRE(t.core.put_user(with_rights("", "^e", "")));
  for (int i = 0; i < 40; ++i) REQUIRE_FALSE(check("e" + std::to_string(i)));
  REQUIRE_FALSE(check("e39"));
  REQUIRE(check("f") == access("write", "exchange 'f'"));
  REQUIRE(check("") == access("write", "exchange 'amq.default'"));
  REQUIRE(t.core.put_user(with_rights("", "^f", "")));
  REQUIRE(check("e39") == access("write", "exchange 'e39'"));
  REQUIRE_FALSE(check("f"));
  t.core.remove_user("u1");
  REQUIRE(check("f"));
}

}  // namespace
}  // namespace baton
