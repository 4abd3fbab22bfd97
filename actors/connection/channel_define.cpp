#include <algorithm>
#include <limits>

#include "actors/connection/channel_checks.hpp"
#include "actors/topology/names.hpp"

/// Classes exchange and queue: what a client defines, and asks of queues.
namespace baton {

namespace {

namespace methods = amqp091::methods;
using amqp091::reply_code;

/// The machine has checked the form of every table.
field_table decoded(amqp091::table_view table) {
  auto made = amqp091::decode_table(table.entries);
  BATON_CHECK(made);
  return *std::move(made);
}

std::uint32_t to_u32(std::uint64_t count) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

template <class Method, class Request>
void amqp_channel::define_then(Request request, std::function<void(defined&)> then) {
  wait();
  on_defined_ = [this, then = std::move(then)](defined& outcome) {
    if (outcome.refused)
      raise<Method>(*outcome.refused);
    else
      then(outcome);
  };
  context_.node.topology.send(
      define{context_.who(), std::move(request), &context_.home, {context_.self, ticket()}});
}

template <class Method>
void amqp_channel::count_then(std::function<void(queue_counts&)> then) {
  wait();
  on_counts_ = [this, then = std::move(then)](queue_counts& counts) {
    if (counts.refused && counts.refused->code != 0)
      raise<Method>(*counts.refused);
    else
      then(counts);
  };
}

// ---- exchanges

void amqp_channel::on(const methods::exchange_declare& asked) {
  exchange_declaration wanted{context_.vhost,          std::string{asked.exchange},
                              std::string{asked.type}, asked.passive,
                              asked.durable,           asked.auto_delete,
                              asked.internal,          decoded(asked.arguments)};
  define_then<methods::exchange_declare>(std::move(wanted), [this, quiet = asked.no_wait](auto&) {
    if (!quiet) context_.machine.send(number_, methods::exchange_declare_ok{});
  });
}

void amqp_channel::on(const methods::exchange_delete& asked) {
  exchange_deletion wanted{context_.vhost, std::string{asked.exchange}, asked.if_unused};
  define_then<methods::exchange_delete>(std::move(wanted), [this, quiet = asked.no_wait](auto&) {
    if (!quiet) context_.machine.send(number_, methods::exchange_delete_ok{});
  });
}

void amqp_channel::on(const methods::exchange_bind& asked) {
  binding_request wanted{context_.vhost,
                         std::string{asked.source},
                         resource_kind::exchange,
                         std::string{asked.destination},
                         std::string{asked.routing_key},
                         decoded(asked.arguments)};
  define_then<methods::exchange_bind>(std::move(wanted), [this, quiet = asked.no_wait](auto&) {
    if (!quiet) context_.machine.send(number_, methods::exchange_bind_ok{});
  });
}

void amqp_channel::on(const methods::exchange_unbind& asked) {
  unbinding wanted{{context_.vhost, std::string{asked.source}, resource_kind::exchange,
                    std::string{asked.destination}, std::string{asked.routing_key},
                    decoded(asked.arguments)}};
  define_then<methods::exchange_unbind>(std::move(wanted), [this, quiet = asked.no_wait](auto&) {
    if (!quiet) context_.machine.send(number_, methods::exchange_unbind_ok{});
  });
}

// ---- queues

void amqp_channel::on(const methods::queue_declare& asked) {
  queue_declaration wanted{context_.vhost,          std::string{asked.queue}, asked.passive,
                           asked.durable,           asked.exclusive,          asked.auto_delete,
                           decoded(asked.arguments)};
  // Names for direct replies are not declared, they are there or not; the one that clients ask for
  // them by always is.
  if (asked.queue == direct_reply_queue) {
    last_queue_ = direct_reply_queue;
    if (!asked.no_wait)
      context_.machine.send(number_, methods::queue_declare_ok{last_queue_, 0, 1});
    return;
  }
  if (asked.queue.starts_with(direct_reply_prefix)) wanted.passive = true;
  if (asked.exclusive) context_.has_exclusive_queues = true;
  declare_queue(std::move(wanted), asked.no_wait, 1);
}

void amqp_channel::declare_queue(queue_declaration asked, bool no_wait, int attempt) {
  auto declared = [this, no_wait](const std::string& name, std::uint64_t messages,
                                  std::uint64_t consumers) {
    last_queue_ = name;
    if (!no_wait)
      context_.machine.send(number_,
                            methods::queue_declare_ok{name, to_u32(messages), to_u32(consumers)});
  };
  auto again = asked;
  define_then<methods::queue_declare>(
      std::move(asked),
      [this, declared, again = std::move(again), no_wait, attempt](defined& outcome) mutable {
        const auto& entry = *outcome.queue;
        const auto& queue = queue_endpoint::of(entry).queue;
        if (!outcome.existed) return declared(entry.name, 0, 0);
        if (!queue) return declared(entry.name, 0, 1);  // the consumer of direct replies
        count_then<methods::queue_declare>([this, declared, again = std::move(again), no_wait,
                                            attempt, name = entry.name](queue_counts& counts) {
          if (!counts.refused) return declared(name, counts.messages, counts.consumers);
          // It has ended in between, and its word to the topology is ahead of ours.
          if (attempt < 3) return declare_queue(again, no_wait, attempt + 1);
          raise<methods::queue_declare>(no_queue(name, context_.vhost_name));
        });
        queue.send(touch_queue{{context_.self, ticket()}});
      });
}

void amqp_channel::on(const methods::queue_bind& asked) {
  auto name = queue_name_or_last<methods::queue_bind>(asked.queue);
  if (!name) return;
  // A key that is left out together with the queue is the queue's name too.
  auto key =
      asked.queue.empty() && asked.routing_key.empty() ? *name : std::string{asked.routing_key};
  binding_request wanted{context_.vhost,       std::string{asked.exchange},
                         resource_kind::queue, *std::move(name),
                         std::move(key),       decoded(asked.arguments)};
  define_then<methods::queue_bind>(std::move(wanted), [this, quiet = asked.no_wait](auto&) {
    if (!quiet) context_.machine.send(number_, methods::queue_bind_ok{});
  });
}

void amqp_channel::on(const methods::queue_unbind& asked) {
  auto name = queue_name_or_last<methods::queue_unbind>(asked.queue);
  if (!name) return;
  auto key =
      asked.queue.empty() && asked.routing_key.empty() ? *name : std::string{asked.routing_key};
  unbinding wanted{{context_.vhost, std::string{asked.exchange}, resource_kind::queue,
                    *std::move(name), std::move(key), decoded(asked.arguments)}};
  define_then<methods::queue_unbind>(std::move(wanted), [this](auto&) {
    context_.machine.send(number_, methods::queue_unbind_ok{});
  });
}

void amqp_channel::on(const methods::queue_purge& asked) {
  auto name = queue_name_or_last<methods::queue_purge>(asked.queue);
  if (!name) return;
  const auto* entry = find_queue<methods::queue_purge>(*name, permission::read);
  if (entry == nullptr) return;
  if (entry->arguments.type == queue_type::stream)
    return raise<methods::queue_purge>(
        amqp091::reply_code::not_implemented,
        "queue.purge not supported by stream queues " + queue_text(*name, context_.vhost_name));
  auto queue = queue_endpoint::of(*entry).queue;
  count_then<methods::queue_purge>(
      [this, quiet = asked.no_wait, name = *name](queue_counts& counts) {
        if (counts.refused) return raise<methods::queue_purge>(no_queue(name, context_.vhost_name));
        if (!quiet)
          context_.machine.send(number_, methods::queue_purge_ok{to_u32(counts.messages)});
      });
  queue.send(purge_queue{{context_.self, ticket()}});
}

void amqp_channel::on(const methods::queue_delete& asked) {
  auto name = queue_name_or_last<methods::queue_delete>(asked.queue);
  if (!name) return;
  const auto* here = context_.local.view.find_vhost(context_.vhost);
  auto deleted = [this, quiet = asked.no_wait](std::uint64_t messages) {
    if (!quiet) context_.machine.send(number_, methods::queue_delete_ok{to_u32(messages)});
    deleting_ = {};
    for (const auto& tag : std::exchange(cancelled_, {})) tell_cancelled(tag);
  };
  // What does not exist is deleted already.
  const auto* found = here == nullptr ? nullptr : here->find_queue(*name);
  if (found == nullptr || found->direct_reply) {
    if (auto refused = check_permission(context_.user_now(), context_.user, permission::configure,
                                        resource_kind::queue, *name, context_.vhost_name))
      return raise<methods::queue_delete>(*refused);
    return deleted(0);
  }
  const auto* entry = find_queue<methods::queue_delete>(*name, permission::configure);
  if (entry == nullptr) return;
  auto queue = queue_endpoint::of(*entry).queue;
  count_then<methods::queue_delete>(
      [deleted](queue_counts& counts) { deleted(counts.refused ? 0 : counts.messages); });
  deleting_ = queue;
  queue.send(delete_queue{asked.if_unused, asked.if_empty, {context_.self, ticket()}});
}

}  // namespace baton
