#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "config/simulation_random.hpp"
#include "storage/files/simulated_file.hpp"

namespace baton {

/// A folder of the simulation: the names that are seen, those that are durable, and the changes in
/// between. A power cut loses or keeps each of them, but none that builds on a lost one: a file is
/// not renamed that was not created.
class simulated_folder {
public:
  using entry = std::variant<std::shared_ptr<simulated_file>, std::shared_ptr<simulated_folder>>;

  const std::map<std::string, entry>& entries() const noexcept { return entries_; }

  void add(const std::string& name, entry what);
  void remove(const std::string& name);
  void rename(const std::string& from, const std::string& to);

  /// Everything becomes durable.
  void sync();

  /// Some changes become durable, the others never do, though they are seen until the power goes.
  void fail_sync(simulation_random& dice);

  /// The disk keeps of the unsynced changes, here and below, what the dice say.
  void lose_power(simulation_random& dice);

private:
  struct change {
    std::string removed;  // "": none
    std::string added;    // "": none
    entry what;
  };

  void make(change made);
  void settle(simulation_random& dice);
  static void apply(const change& made, std::map<std::string, entry>& to);

  std::map<std::string, entry> entries_;
  std::map<std::string, entry> durable_;
  std::vector<change> unsynced_;  // in order
};

}  // namespace baton
