#pragma once

#include <concepts>
#include <utility>

#include <caf/actor_system.hpp>

#include "actors/runtime/actor_ref.hpp"
#include "actors/runtime/pinned_actor.hpp"

namespace baton {

/// An actor with a list of messages. `Self` has one `void handle(Message&)` for each of them, and
/// takes out of the message what it wants; one that is missing does not compile. The hottest
/// message stands first in the list: dispatching compares one address a message.
///
///     using tally_ref = actor_ref<add, read>;
///     class tally final : public actor_of<tally, tally_ref> {
///     public:
///       using actor_of::actor_of;
///       void handle(add& request) { sum_ += request.number; }
///       void handle(read& request) { request.whom.send(sum{sum_}); }
///     ...
///     tally_ref t = spawn<tally>(home_loop);
template <class Self, class Ref>
class actor_of;

template <class Self, class... Messages>
class actor_of<Self, actor_ref<Messages...>> : public pinned_actor {
public:
  using ref_type = actor_ref<Messages...>;
  using pinned_actor::pinned_actor;

  ref_type self() const noexcept { return ref_type::trust(caf::strong_actor_ptr{ctrl()}); }

protected:
  bool dispatch(envelope& letter) final { return (handle_if<Messages>(letter) || ...); }

private:
  template <class Message>
  bool handle_if(envelope& letter) {
    if (letter.key() != &key_of<Message>) return false;
    static_cast<Self*>(this)->handle(static_cast<owned_message<Message>&>(letter).payload());
    return true;
  }
};

/// Starts an actor on `home`; any thread. `arguments` go to its constructor behind the
/// `caf::actor_config&`, and are moved, not copied, when they are given as rvalues. The constructor
/// runs on the calling thread, `on_start` on the home loop.
template <class Actor, class... Arguments>
typename Actor::ref_type spawn(loop& home, Arguments&&... arguments) {
  caf::actor_config config{&home};
  caf::actor handle = home.system().template spawn_class<Actor, caf::no_spawn_options>(
      config, std::forward<Arguments>(arguments)...);
  return Actor::ref_type::trust(caf::actor_cast<caf::strong_actor_ptr>(std::move(handle)));
}

/// An actor made of one function for each message of `Ref`.
template <class Ref, class... Handlers>
class actor_of_handlers;

template <class... Messages, class... Handlers>
class actor_of_handlers<actor_ref<Messages...>, Handlers...> final
    : public actor_of<actor_of_handlers<actor_ref<Messages...>, Handlers...>,
                      actor_ref<Messages...>> {
  struct overloads : Handlers... {
    using Handlers::operator()...;
  };
  static_assert((std::invocable<overloads&, Messages&> && ...),
                "every message of the handle needs a handler that takes a reference to it");
  static_assert(sizeof...(Messages) == sizeof...(Handlers),
                "there is a handler for a message that the handle does not accept");

public:
  explicit actor_of_handlers(caf::actor_config& config, Handlers... handlers)
      : actor_of_handlers::actor_of{config}, handlers_{std::move(handlers)...} {}

  template <class Message>
  void handle(Message& message) {
    handlers_(message);
  }

private:
  overloads handlers_;
};

/// Starts an actor made of functions: `spawn_handlers<tally_ref>(home, [](add&) {...}, ...)`.
template <class Ref, class... Handlers>
Ref spawn_handlers(loop& home, Handlers... handlers) {
  return spawn<actor_of_handlers<Ref, Handlers...>>(home, std::move(handlers)...);
}

}  // namespace baton
