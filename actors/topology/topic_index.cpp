#include "actors/topology/topic_index.hpp"

#include <algorithm>

namespace baton {

struct topic_index::remainder {
  explicit remainder(std::string_view text) : text_{text}, done_{text.empty()} {}

  bool done() const noexcept { return done_; }
  std::string_view next() noexcept {
    const auto dot = text_.find('.');
    const std::string_view word = text_.substr(0, dot);
    done_ = dot == std::string_view::npos;
    if (!done_) text_.remove_prefix(dot + 1);
    return word;
  }

private:
  std::string_view text_;
  bool done_;
};

std::string_view topic_index::by_word::key(const shared<node>& of) noexcept { return of->word; }

void topic_index::add(std::string_view pattern, const destination& to) {
  add(root_, remainder{pattern}, to);
}

void topic_index::remove(std::string_view pattern, const destination& to) {
  remove(root_, remainder{pattern}, to);
}

void topic_index::add(node& at, remainder rest, const destination& to) {
  if (rest.done()) return at.here.add(to);
  const std::string_view word = rest.next();
  if (word == "*" || word == "#") {
    shared<node>& wild = word == "*" ? at.star : at.hash;
    if (!wild) wild = shared<node>::make();
    return add(wild.edit(), rest, to);
  }
  shared<node>* child = at.words.edit(word);
  if (child == nullptr) {
    at.words.put(shared<node>::make(node{std::string{word}, {}, {}, {}, {}}));
    child = at.words.edit(word);
  }
  add(child->edit(), rest, to);
}

void topic_index::remove(node& at, remainder rest, const destination& to) {
  if (rest.done()) return at.here.remove(to);
  const std::string_view word = rest.next();
  const bool wild = word == "*" || word == "#";
  shared<node>* child = !wild ? at.words.edit(word) : word == "*" ? &at.star : &at.hash;
  if (child == nullptr || !*child) return;
  node& below = child->edit();
  remove(below, rest, to);
  if (!below.leaf() || !below.here.empty()) return;
  if (wild)
    *child = {};
  else
    at.words.erase(word);
}

void topic_index::match(std::string_view key, scratch& work,
                        std::vector<const destination_set*>& out) const {
  work.now_.clear();
  work.next_.clear();
  work.open_.clear();
  work.enter(root_, out);
  std::swap(work.now_, work.next_);
  for (remainder rest{key}; !rest.done() && !(work.now_.empty() && work.open_.empty());) {
    const std::string_view word = rest.next();
    const std::size_t open = work.open_.size();  // those found in this step read the next word
    for (const node* at : work.now_) work.step(*at, word, out);
    for (std::size_t i = 0; i < open; ++i) work.step(*work.open_[i], word, out);
    std::swap(work.now_, work.next_);
    work.next_.clear();
  }
  for (const node* at : work.now_)
    if (!at->here.empty()) out.push_back(&at->here);
  for (const node* at : work.open_)
    if (!at->here.empty()) out.push_back(&at->here);
}

void topic_index::scratch::step(const node& from, std::string_view word,
                                std::vector<const destination_set*>& out) {
  if (!from.words.empty())
    if (const shared<node>* child = from.words.find(word)) enter(**child, out);
  if (from.star) enter(*from.star, out);
}

void topic_index::scratch::enter(const node& at, std::vector<const destination_set*>& out) {
  next_.push_back(&at);
  if (at.hash) enter_hash(*at.hash, out);
}

void topic_index::scratch::enter_hash(const node& at, std::vector<const destination_set*>& out) {
  if (at.leaf()) {  // a pattern that ends with '#' matches whatever follows
    out.push_back(&at.here);
    return;
  }
  if (std::find(open_.begin(), open_.end(), &at) != open_.end()) return;
  open_.push_back(&at);
  if (at.hash) enter_hash(*at.hash, out);
}

}  // namespace baton
