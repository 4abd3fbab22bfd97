#pragma once

#include "actors/connection/channel.hpp"
#include "transport/amqp091/reply_code.hpp"

/// What methods of all kinds begin with: find the queue that is meant, or say what is wrong.
namespace baton {

template <class Method>
void amqp_channel::raise(amqp091::reply_code code, std::string text) {
  context_.machine.raise(number_, amqp091::error_in<Method>(code, std::move(text)));
  // The machine tells its handler only of faults that it has found itself.
  if (amqp091::scope_of(code) == amqp091::close_scope::channel) close();
}

template <class Method>
void amqp_channel::raise(const refusal& why) {
  raise<Method>(static_cast<amqp091::reply_code>(why.code), why.text);
}

template <class Method>
result<std::string> amqp_channel::queue_name_or_last(std::string_view given) {
  if (!given.empty()) return std::string{given};
  if (!last_queue_.empty()) return last_queue_;
  raise<Method>(amqp091::reply_code::not_found, "no previously declared queue");
  return failure{error{}};
}

template <class Method>
const queue_entry* amqp_channel::find_queue(std::string_view name, permission needed) {
  if (auto refused = check_permission(context_.user_now(), context_.user, needed,
                                      resource_kind::queue, name, context_.vhost_name)) {
    raise<Method>(*refused);
    return nullptr;
  }
  const auto* here = context_.local.view.find_vhost(context_.vhost);
  const auto* found = here == nullptr ? nullptr : here->find_queue(name);
  if (found == nullptr || !queue_endpoint::of(*found).queue) {
    raise<Method>(no_queue(name, context_.vhost_name));
    return nullptr;
  }
  if (auto refused = check_exclusive_access(*found, context_.id)) {
    raise<Method>(*refused);
    return nullptr;
  }
  return found;
}

}  // namespace baton
