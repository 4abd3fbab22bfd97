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

/// Where a value comes from, for a person.
std::string origin(const std::optional<place>& where) {
  return where ? to_string(*where) : "by default";
}

/// A value as it is compared with another one: `words` name it, the key decides it.
struct compared {
  std::string_view section, key;
  std::string words;
  std::uint64_t amount;
  std::string written;
};

compared size_of(std::string_view section, std::string_view key, byte_count size,
                 std::string_view words_before_key = "") {
  const auto name = std::string{section}.append(".").append(key);
  return {section, key, std::string{words_before_key} + name, size.value, to_string(size)};
}

compared part_of_memory(std::string_view key, percent part) {
  return {"node", key, "node." + std::string{key}, part.value, to_string(part)};
}

void check_order(const compared& small, const compared& large, const document_table& document,
                 mistakes& found) {
  if (small.amount <= large.amount) return;
  const auto small_place = place_of(document, small.section, small.key);
  const auto large_place = place_of(document, large.section, large.key);
  // Of a value that could not be read only the default is known, which nobody compares.
  const auto unread = [&](const std::optional<place>& at) {
    return at && std::any_of(found.begin(), found.end(), [&](const mistake& each) {
             return each.where.source == at->source && each.where.line == at->line;
           });
  };
  if (unread(small_place) || unread(large_place)) return;
  const auto told = [](const compared& value, const std::optional<place>& at) {
    return value.words + " (" + value.written + ", " + origin(at) + ")";
  };
  found.push_back({small_place ? *small_place : large_place.value_or(place{"default", 0, 0}),
                   told(small, small_place) + " is larger than " + told(large, large_place)});
}

/// What is left of the memory when publishers are made to wait.
byte_count above_high_mark(const node_settings& node) {
  return {node.memory.value - node.high_mark.of(node.memory).value};
}

void check_limits(const settings& node, const document_table& document, mistakes& found) {
  const auto& limits = node.limits;
  const auto check = [&](const compared& small, const compared& large) {
    check_order(small, large, document, found);
  };
  const auto memory = size_of("node", "memory", node.node.memory);
  const auto half = size_of("node", "memory", {node.node.memory.value / 2}, "half of ");
  const auto message = size_of("limits", "max_message_size", limits.max_message_size);
  const auto of_connection =
      size_of("limits", "max_incomplete_per_connection", limits.max_incomplete_per_connection);
  const auto of_node = size_of("limits", "max_incomplete_per_node", limits.max_incomplete_per_node);
  check(message, half);
  check(message, of_connection);
  check(of_connection, of_node);
  check(of_node, memory);
  check(size_of("limits", "publish_credit", limits.publish_credit), half);
  check(size_of("limits", "delivery_credit", limits.delivery_credit), half);
  check(size_of("limits", "max_unsent", limits.max_unsent), half);
  check(size_of("limits", "max_transaction", limits.max_transaction), half);
  check(size_of("limits", "stream_tail", limits.stream_tail), half);
  check(size_of("limits", "stream_cache", limits.stream_cache), half);
  check(size_of("journal", "max_unsynced", node.journal.max_unsynced), half);
  check(size_of("limits", "publish_reserve", limits.publish_reserve),
        size_of("node", "high_mark", above_high_mark(node.node), "what node.memory has above "));
  check(part_of_memory("queue_share", node.node.queue_share),
        part_of_memory("high_mark", node.node.high_mark));
}

std::string named(const vhost_settings& each) { return "vhost " + toml_string(each.name); }
std::string named(const exchange_settings& each) {
  return named("exchange", each.name, each.vhost);
}
std::string named(const queue_settings& each) { return named("queue", each.name, each.vhost); }
std::string named(const binding_settings& each) {
  return "binding of exchange " + toml_string(each.exchange);
}

/// Counts definitions against the limit of their kind; the first one too many is a mistake.
class count_check {
public:
  count_check(std::string_view key, std::uint64_t limit, const document_table& document,
              mistakes& found)
      : key_{key}, limit_{limit}, document_{document}, found_{found} {}

  void count_predeclared(std::uint64_t more) { count_ += more; }

  template <class Definition>
  void count(const Definition& each, std::uint64_t more = 1) {
    const bool fitted = count_ <= limit_;
    count_ += more;
    if (!fitted || count_ <= limit_) return;
    found_.push_back(
        {each.where, named(each) + " is more than limits." + key_ + " (" + std::to_string(limit_) +
                         ", " + origin(place_of(document_, "limits", key_)) + ") lets exist"});
  }

private:
  const std::string key_;
  const std::uint64_t limit_;
  const document_table& document_;
  mistakes& found_;
  std::uint64_t count_ = 0;
};

void check_counts(const settings& node, const document_table& document, mistakes& found) {
  const auto& limits = node.limits;
  count_check vhosts{"max_vhosts", limits.max_vhosts, document, found};
  count_check exchanges{"max_exchanges", limits.max_exchanges, document, found};
  count_check queues{"max_queues", limits.max_queues, document, found};
  count_check bindings{"max_bindings", limits.max_bindings, document, found};
  vhosts.count_predeclared(1);
  exchanges.count_predeclared(predeclared_exchanges.size());
  for (const auto& each : node.vhosts) {
    if (each.name == default_vhost) continue;
    vhosts.count(each);
    exchanges.count(each, predeclared_exchanges.size());
  }
  for (const auto& each : node.exchanges) exchanges.count(each);
  for (const auto& each : node.queues) queues.count(each);
  for (const auto& each : node.bindings) bindings.count(each);
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
    for (const auto& each : node_.vhosts) vhosts_.add(each.name, each.where, named(each), found_);
    check_users();
    for (const auto& each : node_.exchanges) check_named(each, exchanges_);
    for (const auto& each : node_.queues) check_named(each, queues_);
    for (const auto& each : node_.bindings) check_binding(each);
    for (const auto& each : node_.syncs) check_sync(each);
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
  void check_named(const Definition& each, first_places<vhost_and_name>& seen) {
    if (each.name.empty()) return;  // reported as missing
    const auto what = named(each);
    seen.add({each.vhost, each.name}, each.where, what, found_);
    check_vhost(each.vhost, each.where);
    if (each.name.substr(0, reserved_prefix.size()) == reserved_prefix)
      found_.push_back({each.where, what + ": names that begin with \"amq.\" are reserved"});
  }

  void check_binding(const binding_settings& each) {
    check_vhost(each.vhost, each.where);
    const auto what = named(each);
    bindings_.add({each.vhost, each.exchange, each.queue, each.to_exchange, each.key,
                   identity(each.arguments)},
                  each.where, what, found_);
    if (each.queue.empty() == each.to_exchange.empty())
      found_.push_back({each.where, what + ": expected one of queue and to_exchange"});
    check_there("exchange", exchanges_, each.exchange, each);
    check_there("exchange", exchanges_, each.to_exchange, each);
    check_there("queue", queues_, each.queue, each);
  }

  void check_sync(const sync_settings& each) {
    if (each.queues.empty()) return;  // reported as missing, or as empty
    syncs_.add({each.vhost, each.queues}, each.where, named("sync of", each.queues, each.vhost),
               found_);
    check_vhost(each.vhost, each.where);
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
  first_places<vhost_and_name> syncs_;
};

}  // namespace

void fit_limits(settings& node, const document_table& document) {
  auto& limits = node.limits;
  const auto memory = node.node.memory.value;
  const auto is_set = [&](const char* name) {
    return place_of(document, "limits", name).has_value();
  };
  if (!place_of(document, "journal", "max_unsynced"))
    node.journal.max_unsynced = std::min(node.journal.max_unsynced, byte_count{memory / 8});
  if (!place_of(document, "node", "queue_share"))
    node.node.queue_share = std::min(node.node.queue_share, node.node.high_mark);
  if (!is_set("publish_reserve"))
    limits.publish_reserve = std::min(limits.publish_reserve, above_high_mark(node.node));
  if (!is_set("stream_tail"))
    limits.stream_tail = std::min(limits.stream_tail, byte_count{memory / 16});
  if (!is_set("stream_cache"))
    limits.stream_cache = std::min(limits.stream_cache, byte_count{memory / 16});
  if (!is_set("max_transaction"))
    limits.max_transaction = std::min(limits.max_transaction, byte_count{memory / 8});
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
  check_counts(node, document, found);
  check_listeners(node, found);
  definitions{node, found}.check();
}

}  // namespace baton
