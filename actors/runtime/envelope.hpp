#pragma once

#include <utility>

#include <caf/mailbox_element.hpp>

namespace baton {

class pinned_actor;

/// The address of a message type's key is its identity; cheaper to compare than CAF's type numbers
/// and needs no registration.
struct message_key {};
template <class Message>
inline constexpr message_key key_of{};

/// A mailbox element of ours: it has no sender and no CAF content, only one payload that is moved
/// in and out. Pinned actors know it by its message id and look at nothing else, so a hop costs
/// neither CAF's matching nor its response promise.
///
/// A payload may have `void receiver_failed()`: called on what its actor has not handled to the end
/// when it failed, and on what comes afterwards, just before it is destroyed. On any thread.
class envelope : public caf::mailbox_element {
public:
  const message_key* key() const noexcept { return key_; }

  static bool is_envelope(const caf::mailbox_element& element) noexcept {
    // No element of CAF's is marked as answered before its receiver has seen it.
    return element.mid.is_answered();
  }

  // What CAF asks of elements with a content of its own; pinned actors, the only receivers, never
  // do.
  caf::type_erased_tuple& content() final;
  const caf::type_erased_tuple& content() const final;
  caf::message move_content_to_message() final;
  caf::message copy_content_to_message() const final;

protected:
  envelope(const message_key& key, caf::message_id id, const pinned_actor& receiver)
      : caf::mailbox_element{nullptr, id, {}}, key_{&key}, receiver_{&receiver} {}

  bool receiver_has_failed() const noexcept;

private:
  const message_key* key_;
  // It outlives this: whoever sends has a handle of it, and its mailbox is emptied when it ends.
  const pinned_actor* receiver_;
};

/// An envelope around one move-only payload. One allocation; the payload is destroyed with it, on
/// whichever thread that happens.
template <class Message>
class owned_message final : public envelope {
public:
  owned_message(Message&& payload, caf::message_id id, const pinned_actor& receiver)
      : envelope{key_of<Message>, id, receiver}, payload_{std::move(payload)} {}
  ~owned_message() override {
    if constexpr (requires { payload_.receiver_failed(); })
      if (receiver_has_failed()) payload_.receiver_failed();
  }

  Message& payload() noexcept { return payload_; }

private:
  Message payload_;
};

}  // namespace baton
