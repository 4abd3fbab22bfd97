#include "storage/files/simulated_folder.hpp"

#include <set>
#include <utility>

namespace baton {

void simulated_folder::add(const std::string& name, entry what) {
  make({{}, name, std::move(what)});
}

void simulated_folder::remove(const std::string& name) { make({name, {}, entries_.at(name)}); }

void simulated_folder::rename(const std::string& from, const std::string& to) {
  if (from != to) make({from, to, entries_.at(from)});
}

void simulated_folder::make(change made) {
  apply(made, entries_);
  unsynced_.push_back(std::move(made));
}

void simulated_folder::apply(const change& made, std::map<std::string, entry>& to) {
  // By what it is and not by its old name: after a failed sync the disk may know it by another one.
  std::erase_if(to, [&](const auto& one) { return one.second == made.what; });
  if (!made.added.empty()) to.insert_or_assign(made.added, made.what);
}

void simulated_folder::sync() {
  for (const change& made : std::exchange(unsynced_, {})) apply(made, durable_);
}

void simulated_folder::fail_sync(simulation_random& dice) {
  settle(dice);
  unsynced_.clear();
}

void simulated_folder::lose_power(simulation_random& dice) {
  fail_sync(dice);
  entries_ = durable_;
  for (auto& [name, what] : entries_) std::visit([&](auto& one) { one->lose_power(dice); }, what);
}

void simulated_folder::settle(simulation_random& dice) {
  enum class mood : std::uint8_t { all, nothing, some };
  const auto chosen = static_cast<mood>(dice.below(3));
  std::set<std::string> lost_names;
  std::set<entry> lost_entries;
  for (const change& made : unsynced_) {
    const bool builds_on_lost = lost_names.contains(made.removed) ||
                                lost_names.contains(made.added) || lost_entries.contains(made.what);
    if (!builds_on_lost && (chosen == mood::all || (chosen == mood::some && dice.once_in(2)))) {
      apply(made, durable_);
      continue;
    }
    if (!made.removed.empty()) lost_names.insert(made.removed);
    if (!made.added.empty()) lost_names.insert(made.added);
    lost_entries.insert(made.what);
  }
}

}  // namespace baton
