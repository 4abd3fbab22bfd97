#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "actors/topology/name_hash.hpp"
#include "config/ids.hpp"

namespace baton {

/// What a persistent map knows about a kind of key: the type it is looked up by, and a good hash.
template <class Key>
struct key_traits;
template <>
struct key_traits<std::string> {
  using view = std::string_view;
  static std::uint64_t hash(view key) noexcept { return hash_name(key); }
};
template <std::unsigned_integral Number>
struct key_traits<Number> {
  using view = Number;
  static std::uint64_t hash(view key) noexcept { return hash_number(key); }
};
template <class Tag, class Number>
struct key_traits<id<Tag, Number>> {
  using view = id<Tag, Number>;
  static std::uint64_t hash(view key) noexcept { return hash_number(key.value); }
};

/// A set of entries, each found by a key that is a part of it; a hash array mapped trie with
/// structural sharing. Copying a set costs one atomic increment, and the two are independent from
/// then on: a change to one copies the path from its root to the changed entry (up to 32 words for
/// each of log32 n levels), unless nobody else holds that path; then it is changed in place.
///
/// Different copies may be used by different threads; one copy belongs to one thread at a time.
/// If an allocation fails, the set is as before (and a node may be lost).
///
/// `Traits`: `view` (a key, by value), `view key(const Entry&)`, `uint64_t hash(view)`.
template <class Entry, class Traits>
class persistent_set {
public:
  using view = typename Traits::view;

  persistent_set() noexcept = default;
  persistent_set(const persistent_set& other) noexcept
      : root_{retained(other.root_)}, size_{other.size_} {}
  persistent_set(persistent_set&& other) noexcept
      : root_{std::exchange(other.root_, nullptr)}, size_{std::exchange(other.size_, 0)} {}
  persistent_set& operator=(persistent_set other) noexcept {
    std::swap(root_, other.root_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~persistent_set() {
    if (root_ != nullptr) release(root_);
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// The entry with that key, or nullptr; valid until this copy of the set changes or ends.
  const Entry* find(view key) const noexcept {
    const node* at = root_;
    if (at == nullptr) return nullptr;
    const std::uint64_t hash = Traits::hash(key);
    for (unsigned shift = 0; shift < hash_bits; shift += level_bits) {
      const std::uint32_t bit = bit_of(hash, shift);
      if ((at->entry_map & bit) != 0) {
        const Entry& entry = at->entries()[rank(at->entry_map, bit)];
        return Traits::key(entry) == key ? &entry : nullptr;
      }
      if ((at->child_map & bit) == 0) return nullptr;
      at = at->children()[rank(at->child_map, bit)];
    }
    return find_collided(*at, key);
  }

  /// Adds the entry, or puts it in place of the one with its key. True: the key is new.
  bool put(Entry entry) {
    const std::uint64_t hash = Traits::hash(Traits::key(entry));
    const bool added = put(root_, hash, 0, std::move(entry));
    size_ += added ? 1 : 0;
    return added;
  }

  /// The entry with that key, to be changed in place (all but its key), or nullptr.
  Entry* edit(view key) {
    if (find(key) == nullptr) return nullptr;
    const std::uint64_t hash = Traits::hash(key);
    node** slot = &root_;
    for (unsigned shift = 0; shift < hash_bits; shift += level_bits) {
      own(*slot);
      const std::uint32_t bit = bit_of(hash, shift);
      if (((*slot)->entry_map & bit) != 0)
        return &(*slot)->entries()[rank((*slot)->entry_map, bit)];
      slot = &(*slot)->children()[rank((*slot)->child_map, bit)];
    }
    own(*slot);
    return const_cast<Entry*>(find_collided(**slot, key));
  }

  /// True: there was one.
  bool erase(view key) {
    if (find(key) == nullptr) return false;
    erase(root_, Traits::hash(key), 0, key);
    --size_;
    return true;
  }

  /// Calls `visit(const Entry&)` for each, in an order that depends on the hashes only.
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (root_ != nullptr) each(*root_, visit);
  }

private:
  static constexpr unsigned level_bits = 5;
  static constexpr unsigned hash_bits = 64;  // the 13th level has 4; below it: equal hashes

  /// Entries whose hash bits at this level are theirs alone, then nodes for those that share them.
  /// Below the last level a node is a plain list of entries (both maps 0).
  /// Invariant: no node but the root holds a single entry and no child.
  struct alignas(8) node {
    std::atomic<std::uint32_t> holders{1};
    std::uint32_t entry_map;
    std::uint32_t child_map;
    std::uint32_t entry_count;

    Entry* entries() noexcept { return reinterpret_cast<Entry*>(this + 1); }
    const Entry* entries() const noexcept { return reinterpret_cast<const Entry*>(this + 1); }
    node** children() noexcept { return reinterpret_cast<node**>(entries() + entry_count); }
    node* const* children() const noexcept {
      return reinterpret_cast<node* const*>(entries() + entry_count);
    }
    bool sole() const noexcept { return holders.load(std::memory_order_acquire) == 1; }
    bool single() const noexcept { return entry_count == 1 && child_map == 0; }
  };
  static_assert(alignof(Entry) <= 8 && std::is_nothrow_move_constructible_v<Entry>);

  static std::uint32_t bit_of(std::uint64_t hash, unsigned shift) noexcept {
    return std::uint32_t{1} << (hash >> shift & 31);
  }
  static unsigned count(std::uint32_t map) noexcept {  // std::popcount is a call on plain x86-64
    map -= map >> 1 & 0x55555555;
    map = (map & 0x33333333) + (map >> 2 & 0x33333333);
    return ((map + (map >> 4)) & 0x0f0f0f0f) * 0x01010101u >> 24;
  }
  static unsigned rank(std::uint32_t map, std::uint32_t bit) noexcept {
    return count(map & (bit - 1));
  }

  static node* allocate(std::uint32_t entry_map, std::uint32_t child_map, std::uint32_t entries) {
    void* memory =
        ::operator new(sizeof(node) + entries * sizeof(Entry) + count(child_map) * sizeof(node*));
    return new (memory) node{{1}, entry_map, child_map, entries};
  }
  static node* retained(node* held) noexcept {
    if (held != nullptr) held->holders.fetch_add(1, std::memory_order_relaxed);
    return held;
  }
  static void release(node* held) noexcept {
    if (held->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    for (unsigned i = 0, n = count(held->child_map); i < n; ++i) release(held->children()[i]);
    std::destroy_n(held->entries(), held->entry_count);
    free_shell(held);
  }
  static void free_shell(node* empty) noexcept {
    empty->~node();
    ::operator delete(empty);
  }

  /// Takes an entry out of `from`, which is about to go: moved if nobody else sees it.
  static void transfer(Entry* to, Entry& from, bool sole) {
    if (sole)
      new (to) Entry{std::move(from)};
    else
      new (to) Entry{from};
  }

  /// Puts a node with these maps in place of `slot`. What both have is carried over; room for what
  /// only the new one has is left raw, for the caller to construct at once.
  static void reshape(node*& slot, std::uint32_t entry_map, std::uint32_t child_map) {
    node* old = slot;
    const bool sole = old->sole();
    node* fresh = allocate(entry_map, child_map, count(entry_map));
    Entry *from = old->entries(), *to = fresh->entries();
    for (std::uint32_t left = old->entry_map | entry_map; left != 0; left &= left - 1) {
      const std::uint32_t bit = left & (~left + 1);
      const bool had = (old->entry_map & bit) != 0, has = (entry_map & bit) != 0;
      if (had && has) transfer(to, *from, sole);
      from += had ? 1 : 0;
      to += has ? 1 : 0;
    }
    node **child = old->children(), **kept = fresh->children();
    for (std::uint32_t left = old->child_map | child_map; left != 0; left &= left - 1) {
      const std::uint32_t bit = left & (~left + 1);
      const bool had = (old->child_map & bit) != 0, has = (child_map & bit) != 0;
      if (had && has) *kept = sole ? *child : retained(*child);
      if (had && !has && sole) release(*child);
      child += had ? 1 : 0;
      kept += has ? 1 : 0;
    }
    slot = fresh;
    if (sole) {
      std::destroy_n(old->entries(), old->entry_count);
      free_shell(old);
    } else {
      release(old);
    }
  }

  /// Makes the node at `slot` this set's own, to be changed in place.
  static void own(node*& slot) {
    if (slot->sole()) return;
    node* copy = allocate(slot->entry_map, slot->child_map, slot->entry_count);
    std::uninitialized_copy_n(slot->entries(), slot->entry_count, copy->entries());
    for (unsigned i = 0, n = count(slot->child_map); i < n; ++i)
      copy->children()[i] = retained(slot->children()[i]);
    release(slot);
    slot = copy;
  }

  static bool put(node*& slot, std::uint64_t hash, unsigned shift, Entry&& entry) {
    const std::uint32_t bit = shift < hash_bits ? bit_of(hash, shift) : 0;
    if (slot == nullptr) {
      slot = allocate(bit, 0, 1);
      new (slot->entries()) Entry{std::move(entry)};
      return true;
    }
    if (shift >= hash_bits) return put_collided(slot, std::move(entry));
    if ((slot->child_map & bit) != 0) {
      own(slot);
      return put(slot->children()[rank(slot->child_map, bit)], hash, shift + level_bits,
                 std::move(entry));
    }
    const unsigned place = rank(slot->entry_map, bit);
    if ((slot->entry_map & bit) == 0) {
      reshape(slot, slot->entry_map | bit, slot->child_map);
      new (slot->entries() + place) Entry{std::move(entry)};
      return true;
    }
    const Entry& present = slot->entries()[place];
    if (Traits::key(present) == Traits::key(entry)) {
      own(slot);
      slot->entries()[place] = std::move(entry);
      return false;
    }
    // Two keys share these bits: both move one level down.
    node* child = nullptr;
    put(child, Traits::hash(Traits::key(present)), shift + level_bits, Entry{present});
    put(child, hash, shift + level_bits, std::move(entry));
    reshape(slot, slot->entry_map & ~bit, slot->child_map | bit);
    slot->children()[rank(slot->child_map, bit)] = child;
    return true;
  }

  static void erase(node*& slot, std::uint64_t hash, unsigned shift, view key) {
    if (shift >= hash_bits) return erase_collided(slot, key);
    const std::uint32_t bit = bit_of(hash, shift);
    if ((slot->entry_map & bit) != 0) {
      if (slot->single()) {
        release(slot);
        slot = nullptr;
      } else {
        reshape(slot, slot->entry_map & ~bit, slot->child_map);
      }
      return;
    }
    own(slot);
    node*& child = slot->children()[rank(slot->child_map, bit)];
    erase(child, hash, shift + level_bits, key);
    if (!child->single()) return;
    Entry last{child->entries()[0]};  // alone: it moves up
    reshape(slot, slot->entry_map | bit, slot->child_map & ~bit);
    new (slot->entries() + rank(slot->entry_map, bit)) Entry{std::move(last)};
  }

  // Equal 64-bit hashes of different keys: as good as never, unless somebody knows the seed.
  static const Entry* find_collided(const node& list, view key) noexcept {
    for (std::uint32_t i = 0; i < list.entry_count; ++i)
      if (Traits::key(list.entries()[i]) == key) return &list.entries()[i];
    return nullptr;
  }
  static bool put_collided(node*& slot, Entry&& entry) {
    if (const Entry* present = find_collided(*slot, Traits::key(entry))) {
      const auto place = present - slot->entries();
      own(slot);
      slot->entries()[place] = std::move(entry);
      return false;
    }
    node* longer = allocate(0, 0, slot->entry_count + 1);
    std::uninitialized_copy_n(slot->entries(), slot->entry_count, longer->entries());
    new (longer->entries() + slot->entry_count) Entry{std::move(entry)};
    release(slot);
    slot = longer;
    return true;
  }
  static void erase_collided(node*& slot, view key) {
    node* shorter = allocate(0, 0, slot->entry_count - 1);
    Entry* to = shorter->entries();
    for (std::uint32_t i = 0; i < slot->entry_count; ++i)
      if (Traits::key(slot->entries()[i]) != key) new (to++) Entry{slot->entries()[i]};
    release(slot);
    slot = shorter;
  }

  template <class Visit>
  static void each(const node& at, Visit& visit) {
    for (std::uint32_t i = 0; i < at.entry_count; ++i) visit(at.entries()[i]);
    for (unsigned i = 0, n = count(at.child_map); i < n; ++i) each(*at.children()[i], visit);
  }

  node* root_ = nullptr;
  std::size_t size_ = 0;
};

/// The same as a map. `Traits` as `key_traits`, for keys of other kinds or tests of bad hashes.
template <class Key, class Value, class Traits = key_traits<Key>>
class persistent_map {
public:
  using view = typename Traits::view;

  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }

  const Value* find(view key) const noexcept {
    const entry* found = entries_.find(key);
    return found == nullptr ? nullptr : &found->value;
  }
  /// True: the key is new.
  bool set(Key key, Value value) { return entries_.put({std::move(key), std::move(value)}); }
  /// The value, to be changed in place, or nullptr.
  Value* edit(view key) {
    entry* found = entries_.edit(key);
    return found == nullptr ? nullptr : &found->value;
  }
  /// True: there was one.
  bool erase(view key) { return entries_.erase(key); }

  /// Calls `visit(const Key&, const Value&)` for each.
  template <class Visit>
  void for_each(Visit&& visit) const {
    entries_.for_each([&visit](const entry& each) { visit(each.key, each.value); });
  }

private:
  struct entry {
    Key key;
    Value value;
  };
  struct entry_traits {
    using view = typename Traits::view;
    static view key(const entry& of) noexcept { return of.key; }
    static std::uint64_t hash(view key) noexcept { return Traits::hash(key); }
  };

  persistent_set<entry, entry_traits> entries_;
};

}  // namespace baton
