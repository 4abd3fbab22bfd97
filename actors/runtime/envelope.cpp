#include "actors/runtime/envelope.hpp"

#include <cstdlib>

#include "actors/runtime/pinned_actor.hpp"

namespace baton {

caf::type_erased_tuple& envelope::content() { std::abort(); }
const caf::type_erased_tuple& envelope::content() const { std::abort(); }
caf::message envelope::move_content_to_message() { std::abort(); }
caf::message envelope::copy_content_to_message() const { std::abort(); }

bool envelope::receiver_has_failed() const noexcept { return receiver_->has_failed(); }

}  // namespace baton
