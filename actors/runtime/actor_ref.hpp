#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>

#include "actors/runtime/pinned_actor.hpp"

namespace baton {

/// Whether `Message` is one of `Messages`.
template <class Message, class... Messages>
inline constexpr bool is_one_of = (std::is_same_v<Message, Messages> || ...);

/// A handle of some pinned actor, or of none; what it accepts is not known. It keeps the actor's
/// memory, not its life: an actor that has ended stays addressable and drops what is sent to it.
/// Handles compare and hash by actor. Copying one is one atomic increment.
class any_actor_ref {
public:
  any_actor_ref() = default;

  explicit operator bool() const noexcept { return static_cast<bool>(held_); }
  void reset() noexcept { held_.reset(); }

  pinned_actor* actor() const noexcept {
    return held_ ? static_cast<pinned_actor*>(held_->get()) : nullptr;
  }
  /// Where it lives. Of an empty handle: undefined.
  loop& home() const noexcept { return actor()->home(); }

  const caf::strong_actor_ptr& control() const noexcept { return held_; }

  friend bool operator==(const any_actor_ref& a, const any_actor_ref& b) noexcept {
    return a.held_.get() == b.held_.get();
  }
  /// For `pinned_actor::on_down`.
  friend bool operator==(const any_actor_ref& a, const caf::actor_addr& b) noexcept {
    return caf::actor_cast<caf::actor_control_block*>(b) == a.held_.get();
  }
  friend bool operator<(const any_actor_ref& a, const any_actor_ref& b) noexcept {
    return std::less<>{}(a.held_.get(), b.held_.get());
  }

protected:
  explicit any_actor_ref(caf::strong_actor_ptr held) noexcept : held_{std::move(held)} {}

  template <class Message>
  void send_as(Message&& message, caf::message_id id) const {
    if (held_)
      actor()->take(
          new owned_message<std::remove_cvref_t<Message>>(std::move(message), id, *actor()));
  }

private:
  caf::strong_actor_ptr held_;
};

/// A handle of an actor that accepts `Messages`, the hottest first. It converts to a handle that
/// accepts fewer of them.
template <class... Messages>
class actor_ref : public any_actor_ref {
public:
  template <class Message>
  static constexpr bool accepts = is_one_of<Message, Messages...>;

  actor_ref() = default;

  template <class... Others>
  requires(sizeof...(Others) > 0 && (actor_ref<Others...>::template accepts<Messages> && ...))
      actor_ref(const actor_ref<Others...>& wider)
  noexcept : any_actor_ref{wider} {}
  template <class... Others>
  requires(sizeof...(Others) > 0 && (actor_ref<Others...>::template accepts<Messages> && ...))
      actor_ref(actor_ref<Others...>&& wider)
  noexcept : any_actor_ref{std::move(wider)} {}

  /// For `spawn` and `actor_of`, which know what the actor accepts.
  static actor_ref trust(caf::strong_actor_ptr held) noexcept { return actor_ref{std::move(held)}; }

  /// Hands `message` over: one allocation, one compare-and-swap; a system call only when the actor
  /// lives on another loop and that loop sleeps. From any thread. Messages of one sender arrive in
  /// order. To an empty handle or an actor that has ended, `message` is destroyed.
  template <class Message>
  requires accepts<std::remove_cvref_t<Message>> && std::is_rvalue_reference_v<Message&&>
  void send(Message&& message) const { send_as(std::move(message), normal()); }

  /// Overtakes what `send` has sent and is not handled yet. For stopping only.
  template <class Message>
  requires accepts<std::remove_cvref_t<Message>> && std::is_rvalue_reference_v<Message&&>
  void send_stop(Message&& message) const { send_as(std::move(message), urgent()); }

private:
  explicit actor_ref(caf::strong_actor_ptr held) noexcept : any_actor_ref{std::move(held)} {}

  // The answered flag marks an envelope, see `envelope::is_envelope`.
  static constexpr caf::message_id normal() noexcept {
    return caf::message_id{caf::message_id::default_async_value |
                           caf::message_id::answered_flag_mask};
  }
  static constexpr caf::message_id urgent() noexcept { return normal().with_high_priority(); }
};

/// Remembers an actor without keeping it from being destroyed; its memory (not its state) stays
/// until this is gone too.
template <class Ref>
class weak_ref {
public:
  weak_ref() = default;
  weak_ref(const Ref& ref) : held_{ref.control().get()} {}

  /// The actor, or an empty handle when it is gone.
  Ref lock() const { return Ref::trust(held_.lock()); }

private:
  caf::weak_actor_ptr held_;
};

}  // namespace baton

template <>
struct std::hash<baton::any_actor_ref> {
  std::size_t operator()(const baton::any_actor_ref& ref) const noexcept {
    return std::hash<const void*>{}(ref.control().get());
  }
};
template <class... Messages>
struct std::hash<baton::actor_ref<Messages...>> : std::hash<baton::any_actor_ref> {};
