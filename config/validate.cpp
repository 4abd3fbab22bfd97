#include "config/validate.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace baton {
namespace {

constexpr std::array<std::string_view, 6> predeclared_exchanges{
    "amq.direct", "amq.fanout", "amq.topic", "amq.headers", "amq.match", "amq.rabbitmq.trace"};
constexpr std::string_view reserved_prefix = "amq.";

/// Far more than a password; a file that is longer is not one.
constexpr std::size_t max_password_bytes = 1024;

/// Where things of one kind were first said, by what makes two of them the same.
template <class Identity>
class first_places {
public:
  /// Reports what is there already, as `what`, at the second place, with the first one.
  void add(Identity identity, const place& where, const std::string& what, mistakes& found) {
    const auto [first, fresh] = places_.emplace(std::move(identity), where);
    if (!fresh)
      found.push_back({where, what + " is declared twice, first at " + to_string(first->second)});
  }

  bool contains(const Identity& identity) const { return places_.count(identity) != 0; }

private:
  std::map<Identity, place> places_;
};

using vhost_and_name = std::pair<std::string, std::string>;

std::string named(const char* kind, const std::string& name, const std::string& vhost) {
  return std::string{kind} + " " + toml_string(name) + " in vhost " + toml_string(vhost);
}

/// Where a key of a section was set; nothing when it has its default.
std::optional<place> place_of(const document_table& document, std::string_view section,
                              std::string_view name) {
  const auto* found = find_entry(document, section);
  const auto* table = found ? found->value.get<document_table>() : nullptr;
  const auto* entry = table ? find_entry(*table, name) : nullptr;
  if (!entry) return std::nullopt;
  return entry->where;
}

/// A limit as it is compared with another one: `words` name it, the key decides it.
struct compared_limit {
  std::string_view section, key, words;
  byte_count size;
};

void check_order(const compared_limit& small, const compared_limit& large,
                 const document_table& document, mistakes& found) {
  if (small.size <= large.size) return;
  const auto small_place = place_of(document, small.section, small.key);
  const auto large_place = place_of(document, large.section, large.key);
  const auto told = [](const compared_limit& limit, const std::optional<place>& at) {
    return std::string{limit.words} + " (" + to_string(limit.size) + ", " +
           (at ? to_string(*at) : "by default") + ")";
  };
  found.push_back({small_place ? *small_place : large_place.value_or(place{"default", 0, 0}),
                   told(small, small_place) + " is larger than " + told(large, large_place)});
}

void check_limits(const settings& node, const document_table& document, mistakes& found) {
  const auto& limits = node.limits;
  const compared_limit message{"limits", "max_message_size", "limits.max_message_size",
                               limits.max_message_size};
  const compared_limit of_connection{"limits", "max_incomplete_per_connection",
                                     "limits.max_incomplete_per_connection",
                                     limits.max_incomplete_per_connection};
  const compared_limit of_node{"limits", "max_incomplete_per_node",
                               "limits.max_incomplete_per_node", limits.max_incomplete_per_node};
  const auto memory = node.node.memory;
  check_order(message, {"node", "memory", "half of node.memory", {memory.value / 2}}, document,
              found);
  check_order(message, of_connection, document, found);
  check_order(of_connection, of_node, document, found);
  check_order(of_node, {"node", "memory", "node.memory", memory}, document, found);
}

void check_listeners(const settings& node, mistakes& found) {
  first_places<std::pair<std::string, std::uint16_t>> seen;
  for (const auto& each : node.listeners) {
    if (each.port == 0) continue;  // any free one: never twice the same
    const auto what = "listener " + each.address + ":" + std::to_string(each.port);
    seen.add({each.address, each.port}, each.where, what, found);
  }
}

/// The form of Argon2id in libsodium's words: $argon2id$v=..$m=..,t=..,p=..$salt$hash.
bool is_password_hash(std::string_view hash) {
  return hash.substr(0, 10) == "$argon2id$" && hash.size() < 128 &&
         std::count(hash.begin(), hash.end(), '$') == 5;
}

void check_user(const user_settings& user, mistakes& found) {
  const auto name = "user " + toml_string(user.name);
  const bool from_file = !user.password_file.empty();
  const int ways =
      (from_file || !user.password.empty() ? 1 : 0) + (user.password_hash.empty() ? 0 : 1);
  if (ways == 0)
    found.push_back({user.where, name + " has no password; expected password, password_hash or "
                                        "password_file"});
  if (ways > 1)
    found.push_back({user.where, name + " has more than one of password, password_hash and "
                                        "password_file; expected one"});
  if (!user.password_hash.empty() && !is_password_hash(user.password_hash))
    found.push_back(
        {user.where,
         name +
             ": password_hash is no hash, expected \"$argon2id$v=19$m=...,t=...,p=...$...$...\""});
}

/// A text that two values share when they are equal, and that has its own end.
std::string identity(const field_value& value);

/// The same for tables; the order of their names does not count.
std::string identity(const field_table& table) {
  std::map<std::string_view, std::string> sorted;
  for (const auto& [name, value] : table) sorted.emplace(name, identity(value));
  std::string all = "{";
  for (const auto& [name, value] : sorted) (all += toml_string(name)) += value;
  return all += '}';
}

std::string identity(const field_value& value) {
  if (const auto* table = value.get<field_table>()) return identity(*table);
  if (const auto* text = value.get<std::string>()) return toml_string(*text);
  if (const auto* number = value.get<integer_value>())
    return "l" + std::to_string(number->value) + ";";
  if (const auto* number = value.get<double>()) return "d" + describe({{}, *number}) + ";";
  if (const auto* truth = value.get<bool>()) return *truth ? "t" : "f";
  if (const auto* date = value.get<timestamp_value>())
    return "T" + std::to_string(date->seconds) + ";";
  std::string all = "[";
  if (const auto* array = value.get<field_array>())
    for (const auto& element : *array) all += identity(element);
  return all += ']';
}

/// The definitions of the configuration, and whether what they name is there.
class definitions {
public:
  definitions(const settings& node, mistakes& found) : node_{node}, found_{found} {}

  void check() {
    for (const auto& each : node_.vhosts)
      vhosts_.add(each.name, each.where, "vhost " + toml_string(each.name), found_);
    check_users();
    for (const auto& each : node_.exchanges) check_named("exchange", each, exchanges_);
    for (const auto& each : node_.queues) check_named("queue", each, queues_);
    for (const auto& each : node_.bindings) check_binding(each);
  }

private:
  void check_users() {
    first_places<std::string> users;
    for (const auto& user : node_.users) {
      users.add(user.name, user.where, "user " + toml_string(user.name), found_);
      check_user(user, found_);
      first_places<std::string> permissions;
      for (const auto& each : user.permissions) {
        const auto what =
            "permission of user " + toml_string(user.name) + " in vhost " + toml_string(each.vhost);
        permissions.add(each.vhost, each.where, what, found_);
        check_vhost(each.vhost, each.where);
      }
    }
  }

  template <class Definition>
  void check_named(const char* kind, const Definition& each, first_places<vhost_and_name>& seen) {
    if (each.name.empty()) return;  // reported as missing
    const auto what = named(kind, each.name, each.vhost);
    seen.add({each.vhost, each.name}, each.where, what, found_);
    check_vhost(each.vhost, each.where);
    if (each.name.substr(0, reserved_prefix.size()) == reserved_prefix)
      found_.push_back({each.where, what + ": names that begin with \"amq.\" are reserved"});
  }

  void check_binding(const binding_settings& each) {
    check_vhost(each.vhost, each.where);
    const auto what = "binding of exchange " + toml_string(each.exchange);
    bindings_.add({each.vhost, each.exchange, each.queue, each.to_exchange, each.key,
                   identity(each.arguments)},
                  each.where, what, found_);
    if (each.queue.empty() == each.to_exchange.empty())
      found_.push_back({each.where, what + ": expected one of queue and to_exchange"});
    check_there("exchange", exchanges_, each.exchange, each);
    check_there("exchange", exchanges_, each.to_exchange, each);
    check_there("queue", queues_, each.queue, each);
  }

  void check_there(const char* kind, const first_places<vhost_and_name>& known,
                   const std::string& name, const binding_settings& binding) {
    if (name.empty() || known.contains({binding.vhost, name})) return;
    const bool predeclared = &known == &exchanges_ &&
                             std::find(predeclared_exchanges.begin(), predeclared_exchanges.end(),
                                       name) != predeclared_exchanges.end();
    if (!predeclared)
      found_.push_back({binding.where, "binding names " + named(kind, name, binding.vhost) +
                                           ", which is not declared here"});
  }

  void check_vhost(const std::string& name, const place& where) {
    if (name != default_vhost && !vhosts_.contains(name))
      found_.push_back({where, "vhost " + toml_string(name) + " is not declared here; expected a " +
                                   "[[vhost]] of that name"});
  }

  const settings& node_;
  mistakes& found_;
  first_places<std::string> vhosts_;
  first_places<vhost_and_name> exchanges_;
  first_places<vhost_and_name> queues_;
  first_places<std::array<std::string, 6>> bindings_;
};

}  // namespace

void fit_limits(settings& node, const document_table& document) {
  auto& limits = node.limits;
  const auto memory = node.node.memory.value;
  const auto is_set = [&](const char* name) {
    return place_of(document, "limits", name).has_value();
  };
  if (!is_set("max_message_size"))
    limits.max_message_size = std::min(limits.max_message_size, byte_count{memory / 8});
  if (!is_set("max_incomplete_per_connection"))
    limits.max_incomplete_per_connection = limits.max_message_size;
  if (!is_set("max_incomplete_per_node"))
    limits.max_incomplete_per_node =
        std::max(byte_count{memory / 4}, limits.max_incomplete_per_connection);
}

void read_password_files(settings& node, mistakes& found) {
  for (auto& user : node.users) {
    if (user.password_file.empty()) continue;
    const auto complain = [&](const std::string& what) {
      found.push_back({user.where, "user " + toml_string(user.name) + ": password_file " +
                                       toml_string(user.password_file.string()) + " " + what});
    };
    std::error_code failed;
    if (!std::filesystem::is_regular_file(user.password_file, failed)) {
      complain("is not there, expected a file with the password");
      continue;
    }
    std::ifstream file{user.password_file, std::ios::binary};
    std::string text(max_password_bytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    if (!file.is_open() || text.empty() || text.size() > max_password_bytes) {
      complain("cannot be read or holds no password; expected 1 to " +
               std::to_string(max_password_bytes) + " bytes");
    } else if (!user.password.empty()) {
      complain("is given besides password; expected one of them");
    } else {
      user.password = std::move(text);
    }
  }
}

void validate(const settings& node, const document_table& document, mistakes& found) {
  check_limits(node, document, found);
  check_listeners(node, found);
  definitions{node, found}.check();
}

}  // namespace baton
