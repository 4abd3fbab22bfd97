#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/topology/entities.hpp"

namespace baton {

/// The bindings of a topic exchange: a persistent trie of the patterns' words.
///
/// Words are what stands between dots; empty ones count, and an empty key has none. In a pattern
/// '*' is exactly one word, '#' zero or more; both only as whole words ("a*" is literal).
///
/// A match follows all alternatives through the key at once, word by word, so its cost is bounded
/// by the words of the key times the patterns' prefixes that fit, however many '#' a pattern has;
/// it does not depend on the number of bindings that do not match.
class topic_index {
public:
  void add(std::string_view pattern, const destination& to);
  void remove(std::string_view pattern, const destination& to);

  class scratch;
  /// Appends the destinations of each matching pattern; the same set may be appended twice.
  void match(std::string_view key, scratch& work, std::vector<const destination_set*>& out) const;

private:
  struct node;
  struct by_word {
    using view = std::string_view;
    static view key(const shared<node>& of) noexcept;
    static std::uint64_t hash(view key) noexcept { return hash_name(key); }
  };
  /// A prefix of patterns: what was read of them, and what may follow.
  struct node {
    std::string word;
    persistent_set<shared<node>, by_word> words;
    shared<node> star;
    shared<node> hash;
    destination_set here;

    bool leaf() const noexcept { return words.empty() && !star && !hash; }
  };
  /// The words of a pattern or key that are still to be read.
  struct remainder;

  static void add(node& at, remainder rest, const destination& to);
  static void remove(node& at, remainder rest, const destination& to);

  node root_;

public:
  /// Lists that a match works with, kept by the caller so that matching allocates nothing.
  class scratch {
    friend class topic_index;

    void enter(const node& at, std::vector<const destination_set*>& out);
    void enter_hash(const node& at, std::vector<const destination_set*>& out);
    void step(const node& from, std::string_view word, std::vector<const destination_set*>& out);

    std::vector<const node*> now_;   // read the key up to here
    std::vector<const node*> next_;  // read one word more
    std::vector<const node*> open_;  // nodes of '#': once reached, they stay
  };
};

}  // namespace baton
