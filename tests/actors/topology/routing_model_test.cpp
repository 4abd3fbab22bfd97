#include <map>
#include <random>
#include <set>

#include "tests/actors/topology/fixture.hpp"

namespace baton {
namespace {

using namespace topology_test;

/// What a topology does, in plain loops.
class model {
public:
  struct exchange {
    std::string type;
    bool auto_delete = false;
    std::optional<std::string> alternate;
  };
  struct bound {
    std::string source;
    resource_kind kind;
    std::string to;
    std::string key;
    field_table arguments;

    friend bool operator==(const bound&, const bound&) = default;
  };

  std::map<std::string, exchange> exchanges;
  std::set<std::string> queues;
  std::vector<bound> bindings;

  void bind(const bound& made) {
    if (std::find(bindings.begin(), bindings.end(), made) == bindings.end())
      bindings.push_back(made);
  }
  /// Removes all bindings that `goes` says, and the auto-delete exchanges that lose their last.
  template <class Goes>
  void unbind(Goes goes) {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < bindings.size(); ++i) {
        if (!goes(bindings[i])) continue;
        const std::string source = bindings[i].source;
        bindings.erase(bindings.begin() + static_cast<std::ptrdiff_t>(i));
        again = true;
        if (exchanges.at(source).auto_delete && !leads_anywhere(source)) remove_exchange(source);
        break;
      }
    }
  }
  void remove_exchange(const std::string& name) {
    if (exchanges.erase(name) == 0) return;
    std::erase_if(bindings, [&](const bound& each) { return each.source == name; });
    unbind(
        [&](const bound& each) { return each.kind == resource_kind::exchange && each.to == name; });
  }
  void remove_queue(const std::string& name) {
    queues.erase(name);
    unbind([&](const bound& each) { return each.kind == resource_kind::queue && each.to == name; });
  }
  bool leads_anywhere(const std::string& name) const {
    return std::any_of(bindings.begin(), bindings.end(),
                       [&](const bound& each) { return each.source == name; });
  }

  names route(const std::string& name, const names& keys, const field_table& headers) const {
    std::set<std::string> visited, found;
    visit(name, keys, headers, visited, found);
    return {found.begin(), found.end()};
  }

private:
  void visit(const std::string& name, const names& keys, const field_table& headers,
             std::set<std::string>& visited, std::set<std::string>& found) const {
    if (name.empty())
      for (const auto& key : keys)
        if (queues.contains(key)) found.insert(key);
    const auto at = exchanges.find(name);
    if (at == exchanges.end() || !visited.insert(name).second) return;
    bool anywhere = false;
    for (const bound& each : bindings) {
      if (each.source != name || !matches(at->second.type, each, keys, headers)) continue;
      anywhere = true;
      if (each.kind == resource_kind::queue)
        found.insert(each.to);
      else
        visit(each.to, keys, headers, visited, found);
    }
    if (!anywhere && at->second.alternate)
      visit(*at->second.alternate, keys, headers, visited, found);
  }

  static bool matches(const std::string& type, const bound& binding, const names& keys,
                      const field_table& headers) {
    if (type == "fanout") return true;
    if (type == "headers") return headers_match(binding.arguments, headers);
    return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
      return type == "direct" ? binding.key == key : topic_match(words(binding.key), words(key));
    });
  }
  static names words(const std::string& text) {
    names split;
    if (text.empty()) return split;
    split.emplace_back();
    for (char each : text)
      if (each == '.')
        split.emplace_back();
      else
        split.back() += each;
    return split;
  }
  static bool topic_match(const names& pattern, const names& key) {
    if (pattern.empty()) return key.empty();
    const names rest{pattern.begin() + 1, pattern.end()};
    if (pattern.front() == "#") {
      for (std::ptrdiff_t taken = 0; taken <= std::ssize(key); ++taken)
        if (topic_match(rest, {key.begin() + taken, key.end()})) return true;
      return false;
    }
    if (key.empty() || (pattern.front() != "*" && pattern.front() != key.front())) return false;
    return topic_match(rest, {key.begin() + 1, key.end()});
  }
  static bool headers_match(const field_table& wanted, const field_table& given) {
    int asked = 0, there = 0;
    bool any = false;
    for (const auto& [name, value] : wanted) {
      if (name == "x-match") {
        any = *value.get<std::string>() == "any";
        continue;
      }
      ++asked;
      const field_value* header = find_field(given, name);
      if (header != nullptr && *header == value) ++there;
    }
    return any ? there > 0 : there == asked;
  }
};

/// Random changes to a topology and to its model, and random messages through both.
class comparison {
public:
  explicit comparison(unsigned seed) : random_{seed} {}

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      change();
      if (pick(3) == 0) t_.core.publish();
      if (pick(8) == 0) compare();
    }
    compare();
    REQUIRE(t_.core.list_queues().size() == model_.queues.size());
    REQUIRE(t_.core.list_bindings().size() == model_.queues.size() + model_.bindings.size());
    REQUIRE(t_.core.list_exchanges().size() == 7 + model_.exchanges.size());
  }

private:
  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }
  std::string exchange_name() { return "e" + std::to_string(pick(8)); }
  std::string queue_name() { return "q" + std::to_string(pick(12)); }
  std::string key(bool pattern) {
    static const char* const words[] = {"a", "b", "", "*", "#"};
    std::string made;
    for (unsigned i = 0, n = pick(5); i < n; ++i) {
      if (i > 0) made += '.';
      made += words[pick(pattern ? 5 : 3)];
    }
    return made;
  }
  field_table headers(bool with_mode) {
    field_table made;
    if (with_mode && pick(2) == 0) made.emplace_back("x-match", text(pick(2) == 0 ? "any" : "all"));
    for (const char* name : {"h1", "h2", "h3"})
      if (pick(2) == 0) made.emplace_back(name, number(pick(2)));
    return made;
  }

  void change() {
    switch (pick(12)) {
      case 0:
        return declare_exchange();
      case 1:
        return declare_queue();
      case 2:
        if (pick(3) == 0) remove_queue(queue_name());
        return;
      case 3:
        if (pick(3) == 0) {
          const std::string name = exchange_name();
          REQUIRE(t_.core.delete_exchange(t_.who, t_.vhost, name, false));
          model_.remove_exchange(name);
        }
        return;
      case 4:
      case 5:
      case 6:
        return unbind();
      default:
        return bind();
    }
  }
  void declare_exchange() {
    static const char* const types[] = {"direct", "fanout", "topic", "headers"};
    const std::string name = exchange_name();
    model::exchange made{types[pick(4)], pick(4) == 0, std::nullopt};
    if (pick(3) == 0) made.alternate = pick(4) == 0 ? "" : exchange_name();
    field_table arguments;
    if (made.alternate) arguments.emplace_back("alternate-exchange", text(*made.alternate));
    const auto declared = t_.core.declare_exchange(
        t_.who, {t_.vhost, name, made.type, false, true, made.auto_delete, false, arguments});
    if (model_.exchanges.contains(name)) return;
    REQUIRE(declared);
    model_.exchanges.emplace(name, made);
  }
  void declare_queue() {
    const std::string name = queue_name();
    const auto made = t_.try_queue(name);
    REQUIRE((made->status == queue_status::created) == model_.queues.insert(name).second);
  }
  void remove_queue(const std::string& name) {
    const queue_entry* present = t_.core.state().find_vhost(t_.vhost)->find_queue(name);
    REQUIRE((present != nullptr) == model_.queues.contains(name));
    if (present != nullptr) t_.core.queue_closed(t_.vhost, present->id);
    model_.remove_queue(name);
  }
  model::bound random_binding() {
    const bool to_queue = pick(3) != 0;
    return {exchange_name(), to_queue ? resource_kind::queue : resource_kind::exchange,
            to_queue ? queue_name() : exchange_name(), key(true),
            pick(2) == 0 ? headers(true) : field_table{}};
  }
  binding_request request(const model::bound& of) const {
    return {t_.vhost, of.source, of.kind, of.to, of.key, of.arguments};
  }
  void bind() {
    const auto wanted = random_binding();
    const bool possible =
        model_.exchanges.contains(wanted.source) &&
        (wanted.kind == resource_kind::queue ? model_.queues.contains(wanted.to)
                                             : model_.exchanges.contains(wanted.to));
    REQUIRE(static_cast<bool>(t_.core.bind(t_.who, request(wanted))) == possible);
    if (possible) model_.bind(wanted);
  }
  void unbind() {
    const auto wanted = model_.bindings.empty() || pick(4) == 0
                            ? random_binding()
                            : model_.bindings[pick(static_cast<unsigned>(model_.bindings.size()))];
    REQUIRE(t_.core.unbind(t_.who, request(wanted)));
    model_.unbind([&](const model::bound& each) { return each == wanted; });
  }

  void compare() {
    for (int i = 0; i < 20; ++i) {
      const std::string exchange = pick(10) == 0 ? "" : exchange_name();
      if (!exchange.empty() && !model_.exchanges.contains(exchange)) continue;
      names keys{exchange.empty() || pick(10) == 0 ? queue_name() : key(false)};
      while (pick(6) == 0) keys.push_back(key(false));
      const field_table given = headers(false);
      const std::vector<std::string_view> more{keys.begin() + 1, keys.end()};
      const names expected = model_.route(exchange, keys, given);
      INFO("exchange " << exchange << ", key " << keys.front() << " and " << more.size()
                       << " more");
      for (int again = 0; again < 3; ++again)  // worked out, remembered, found
        REQUIRE(t_.routed(exchange, keys.front(), given, more) == expected);
    }
  }

  std::mt19937 random_;
  fixture t_;
  model model_;
};

TEST_CASE("routes agree with plain loops over all bindings, under random changes") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    comparison{seed}.run(600);
  }
}

}  // namespace
}  // namespace baton
