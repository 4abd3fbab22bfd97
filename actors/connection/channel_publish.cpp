#include <algorithm>

#include "actors/connection/channel_checks.hpp"
#include "actors/topology/names.hpp"

/// Class basic, the publishing half, and what a channel promises about it: classes confirm and tx.
namespace baton {

namespace {

namespace methods = amqp091::methods;
using amqp091::reply_code;
using publish_method = methods::basic_publish;

/// A headers exchange asks for them; nobody else does.
class lazy_headers final : public header_source {
public:
  explicit lazy_headers(byte_view entries) : entries_{entries} {}

  const field_table& headers() override {
    if (!decoded_) {
      auto made = amqp091::decode_table(entries_);
      decoded_ = made ? *std::move(made) : field_table{};
    }
    return *decoded_;
  }

private:
  byte_view entries_;
  std::optional<field_table> decoded_;
};

}  // namespace

// ---- a publish comes in

void amqp_channel::publish(const amqp091::publish_view& publish) {
  take_publish(publish, [&](const message_parts& parts) {
    return context_.local.writer.add(parts, publish.body);
  });
}

amqp091::admission amqp_channel::content_begin(const amqp091::publish_view& publish,
                                               std::uint64_t body_size, bool may_wait) {
  if (may_wait && !context_.admits_incomplete(body_size)) return amqp091::admission::wait;
  context_.begin_incomplete(body_size);
  arriving_ = std::make_unique<arriving>(
      arriving{std::string{publish.exchange}, std::string{publish.routing_key},
               std::string{as_text(publish.properties)}, publish.mandatory, publish.immediate,
               body_size, std::make_unique<large_body>(body_size)});
  return amqp091::admission::take;
}

void amqp_channel::content_piece(byte_view bytes) {
  if (arriving_) arriving_->body->append(bytes);
}

void amqp_channel::content_end() {
  auto whole = std::exchange(arriving_, nullptr);
  if (!whole) return;
  context_.release_incomplete(whole->size);
  amqp091::publish_view publish;
  publish.exchange = whole->exchange;
  publish.routing_key = whole->routing_key;
  publish.properties = as_bytes(whole->properties);
  publish.mandatory = whole->mandatory;
  publish.immediate = whole->immediate;
  take_publish(publish, [&](const message_parts& parts) {
    if (whole->body->size() > small_body_limit)
      return context_.local.writer.add(parts, std::move(whole->body));
    std::string joined;
    whole->body->for_each_piece([&](byte_view piece) { joined += as_text(piece); });
    return context_.local.writer.add(parts, as_bytes(joined));
  });
}

void amqp_channel::forget_arriving() {
  if (auto never_whole = std::exchange(arriving_, nullptr))
    context_.release_incomplete(never_whole->size);
}

template <class MakeMessage>
void amqp_channel::take_publish(const amqp091::publish_view& publish, MakeMessage&& make) {
  if (publish.immediate)
    return raise<publish_method>(reply_code::not_implemented, "immediate=true");
  const auto* user = context_.user_now();
  if (auto refused =
          context_.may_write.check(user, context_.user, publish.exchange, context_.vhost_name))
    return raise<publish_method>(*refused);

  const auto& properties = context_.local.properties.read(publish.properties);
  lazy_headers headers{properties.headers};
  route_request asked{context_.vhost, publish.exchange, publish.routing_key, properties.more_keys(),
                      properties.has_headers ? &headers : nullptr};
  auto route = context_.local.view.route(asked);
  if (route.status == route_status::no_exchange)
    return raise<publish_method>(no_exchange(publish.exchange, context_.vhost_name));
  if (route.status == route_status::internal)
    return raise<publish_method>(publish_to_internal(publish.exchange, context_.vhost_name));
  if (properties.reply_to == direct_reply_queue && reply_to_.empty())
    return raise<publish_method>(reply_code::precondition_failed,
                                 "fast reply consumer does not exist");
  if (properties.refused) return raise<publish_method>(*properties.refused);
  if (properties.user_id && *properties.user_id != context_.user &&
      (user == nullptr || !user->has_tag("impersonator")))
    return raise<publish_method>(reply_code::precondition_failed,
                                 "user_id property set to '" + std::string{*properties.user_id} +
                                     "' but authenticated user was '" + context_.user + "'");

  message_parts parts;
  parts.exchange = publish.exchange;
  parts.routing_key = publish.routing_key;
  parts.properties = publish.properties;
  std::string edited;
  if (properties.reply_to == direct_reply_queue || properties.has_bcc) {
    edited = properties.rewritten(publish.properties, reply_to_);
    parts.properties = as_bytes(edited);
  }
  parts.persistent = properties.persistent;
  parts.priority = properties.priority;
  parts.expiration_ms = properties.expiration_ms;
  auto content = make(std::as_const(parts));
  ++context_.published;
  context_.publishes = true;

  if (mode_.transactional()) {
    if (!transaction_fits(content.footprint())) return;
    routed kept{std::move(content), {}, publish.mandatory};
    for (const auto* q : route.queues) kept.queues.push_back(q->name);
    auto bytes = kept.content.footprint();
    transaction_->add(std::move(kept), bytes);
    return;
  }
  send_on(std::move(content), route.queues, publish.mandatory);
}

void amqp_channel::send_on(message content, std::span<const queue_entry* const> queues,
                           bool mandatory) {
  if (queues.empty() && mandatory) send_return(content);
  const auto number = begin_publish(content, queues);
  context_.local.outbox.add(queues, std::move(content), run_, number, context_.node.store);
}

std::uint64_t amqp_channel::begin_publish(const message& content,
                                          std::span<const queue_entry* const> queues) {
  const auto number = mode_.confirms() ? confirms_.publish() : ++publishes_;
  if (run_ && run_.run().count == receipt::max_publishes) run_.release();
  // What is stored is confirmed later: nothing else should wait with it.
  if (mode_.confirms()) {
    const bool stored = std::any_of(queues.begin(), queues.end(),
                                    [&](const auto* q) { return q->stores(content.persistent()); });
    if (std::exchange(run_is_stored_, stored) != stored) run_.release();
  }
  if (!run_) {
    run_ = receipt::open(context_.publisher, {number_, incarnation_, number, 0, 0});
    context_.mark_for_flush(*this);
  }
  auto& run = run_.run();
  ++run.count;
  run.bytes += content.footprint();
  context_.in_flight += content.footprint();
  return number;
}

void amqp_channel::send_return(const message& content) {
  context_.output.send_content(
      number_,
      methods::basic_return{static_cast<std::uint16_t>(reply_code::no_route), "NO_ROUTE",
                            content.exchange(), content.routing_key()},
      content, context_.machine.frame_max());
}

// ---- confirms

void amqp_channel::on(const methods::confirm_select& asked) {
  if (auto selected = mode_.select_confirm(); !selected)
    return raise<methods::confirm_select>(reply_code::precondition_failed,
                                          std::string{selected.reason()});
  if (!asked.no_wait) context_.machine.send(number_, methods::confirm_select_ok{});
}

void amqp_channel::refused(const std::vector<std::uint64_t>& publishes) {
  for (auto publish : publishes)
    if (publish < first_plain)
      refused_.push_back(publish);
    else if (committing() && publish >= commit_begin_)
      commit_refused_ = true;
}

void amqp_channel::completed(const receipt_run& run) {
  if (run.first >= first_plain) {
    if (committing() && run.first >= commit_begin_ && --commit_runs_ == 0) finish_commit();
    return;
  }
  for (std::uint32_t done = 0; done < run.count; done += 64) {
    const auto first = run.first + done;
    const auto count = std::min<std::uint32_t>(64, run.count - done);
    std::uint64_t refused = 0;
    if (!refused_.empty())
      std::erase_if(refused_, [&](std::uint64_t publish) {
        const bool here = publish >= first && publish < first + count;
        if (here) refused |= std::uint64_t{1} << (publish - first);
        return here;
      });
    confirms_.complete(first, count, refused);
  }
  thread_local std::vector<confirmation> told;
  told.clear();
  confirms_.take(told);
  for (const auto& c : told) {
    if (c.refused)
      context_.machine.send(number_, methods::basic_nack{c.tag, c.multiple, true});
    else
      context_.machine.send(number_, methods::basic_ack{c.tag, c.multiple});
  }
}

// ---- transactions

void amqp_channel::on(const methods::tx_select&) {
  if (auto selected = mode_.select_transaction(); !selected)
    return raise<methods::tx_select>(reply_code::precondition_failed,
                                     std::string{selected.reason()});
  if (!transaction_)
    transaction_ = std::make_unique<transaction<routed>>(context_.limits().max_transaction.value);
  context_.machine.send(number_, methods::tx_select_ok{});
}

bool amqp_channel::transaction_fits(std::uint64_t more_bytes) {
  if (transaction_->fits(more_bytes, unsettled_.aside_bytes())) return true;
  raise<publish_method>(reply_code::resource_error,
                        "a transaction may hold " +
                            std::to_string(context_.limits().max_transaction.value) +
                            " bytes (limits.max_transaction)");
  return false;
}

void amqp_channel::on(const methods::tx_commit&) {
  if (auto may = mode_.need_transaction(); !may)
    return raise<methods::tx_commit>(reply_code::precondition_failed, std::string{may.reason()});
  wait();
  commit_refused_ = false;
  commit_begin_ = publishes_ + 1;
  commit_runs_ = 1;
  unsettled_.commit([this](const settled_run& run) { ended(run); });
  const auto* here = context_.local.view.find_vhost(context_.vhost);
  std::vector<const queue_entry*> queues;
  for (auto& publish : transaction_->commit()) {
    queues.clear();
    for (const auto& name : publish.queues)
      if (const auto* q = here == nullptr ? nullptr : here->find_queue(name)) queues.push_back(q);
    if (run_ && run_.run().count == receipt::max_publishes) {
      ++commit_runs_;
      run_.release();
    }
    send_on(std::move(publish.content), queues, publish.mandatory);
  }
  if (!run_) return finish_commit();
}

void amqp_channel::finish_commit() {
  transaction_->committed();
  if (commit_refused_)
    raise<methods::tx_commit>(reply_code::precondition_failed, "partial tx completion");
  else
    context_.machine.send(number_, methods::tx_commit_ok{});
  go_on_unless_waiting();
}

void amqp_channel::on(const methods::tx_rollback&) {
  if (auto may = mode_.need_transaction(); !may)
    return raise<methods::tx_rollback>(reply_code::precondition_failed, std::string{may.reason()});
  transaction_->rollback();
  unsettled_.rollback();
  context_.machine.send(number_, methods::tx_rollback_ok{});
}

}  // namespace baton
