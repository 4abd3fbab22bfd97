#include "actors/topology/binding_table.hpp"

#include <algorithm>
#include <utility>

#include "actors/topology/name_hash.hpp"

namespace baton {

namespace {

/// Equal for values that compare equal; the width of an integer is no part of it.
std::uint64_t hash_value(const field_value& value, std::uint64_t seed) {
  seed = hash_number(value.held.index(), seed);
  if (const auto* text = value.get<std::string>()) return hash_name(*text, seed);
  if (const auto* integer = value.get<integer_value>())
    return hash_number(static_cast<std::uint64_t>(integer->value), seed);
  if (const auto* time = value.get<timestamp_value>()) return hash_number(time->seconds, seed);
  return seed;
}

std::uint64_t hash_binding(const binding& of) {
  const std::uint64_t hash = hash_number(of.to.key(), hash_name(of.key, of.source->id.value));
  std::uint64_t arguments = 0;  // a sum, so that their order is no part of it
  for (const auto& [name, value] : of.arguments) arguments += hash_value(value, hash_name(name));
  return hash_number(arguments, hash);
}

/// As values are equal, and a float that is no number equals every other one: else a binding that
/// has one could never be found again.
bool same_value(const field_value& a, const field_value& b);

bool same_entry(const field_table::value_type& a, const field_table::value_type& b) {
  return a.first == b.first && same_value(a.second, b.second);
}

bool same_value(const field_value& a, const field_value& b) {
  const auto same_real = [](auto x, auto y) { return x == y || (x != x && y != y); };
  if (a.held.index() != b.held.index()) return false;
  if (const auto* real = a.get<double>()) return same_real(*real, *b.get<double>());
  if (const auto* real = a.get<float>()) return same_real(*real, *b.get<float>());
  if (const auto* array = a.get<field_array>()) {
    const auto& other = *b.get<field_array>();
    return std::equal(array->begin(), array->end(), other.begin(), other.end(), same_value);
  }
  if (const auto* table = a.get<field_table>()) {
    const auto& other = *b.get<field_table>();
    return std::equal(table->begin(), table->end(), other.begin(), other.end(), same_entry);
  }
  return a == b;
}

/// In any order.
bool same_arguments(const field_table& a, const field_table& b) {
  return std::is_permutation(a.begin(), a.end(), b.begin(), b.end(), same_entry);
}

}  // namespace

bool binding_table::same::operator()(const record* a, const record* b) const {
  return a->hash == b->hash && a->held.source->id == b->held.source->id &&
         a->held.to.key() == b->held.to.key() && a->held.key == b->held.key &&
         same_arguments(a->held.arguments, b->held.arguments);
}

const binding* binding_table::find(const binding& like) const {
  const record wanted{like, hash_binding(like), {}, {}};
  const auto found = known_.find(&wanted);
  return found == known_.end() ? nullptr : &(*found)->held;
}

const binding& binding_table::add(binding made) {
  const std::uint64_t hash = hash_binding(made);
  from_list& from = from_[made.source->id];
  to_list& to = to_[made.to.key()];
  record& kept = from.emplace_back(record{std::move(made), hash, {}, {}});
  kept.in_from = std::prev(from.end());
  kept.in_to = to.insert(to.end(), &kept);
  known_.insert(&kept);
  return kept.held;
}

binding binding_table::take(const binding& known) {
  const record wanted{known, hash_binding(known), {}, {}};
  const auto found = known_.find(&wanted);
  record& kept = *(*found)->in_from;
  known_.erase(found);
  const auto to = to_.find(kept.held.to.key());
  to->second.erase(kept.in_to);
  if (to->second.empty()) to_.erase(to);
  binding taken = std::move(kept.held);
  const auto from = from_.find(taken.source->id);
  from->second.erase(kept.in_from);
  if (from->second.empty()) from_.erase(from);
  return taken;
}

const binding* binding_table::any_from(exchange_id source) const {
  const auto found = from_.find(source);
  return found == from_.end() ? nullptr : &found->second.front().held;
}

const binding* binding_table::any_to(std::uint64_t key) const {
  const auto found = to_.find(key);
  return found == to_.end() ? nullptr : &found->second.front()->held;
}

}  // namespace baton
