#include "actors/consumer_actor.hpp"

namespace baton {

void consumer_actor::handle(deliver& request) {
  if (sink_ != nullptr) sink_->on_deliver(id_, std::move(request.leases));
}

void consumer_actor::handle(publish& request) {
  if (sink_ != nullptr) sink_->on_reply(id_, std::move(request.messages));
}

void consumer_actor::handle(subscribed& notice) {
  if (sink_ != nullptr) sink_->on_subscribed(id_, std::move(notice.refused));
}

void consumer_actor::handle(unsubscribed&) {
  if (sink_ != nullptr) sink_->on_unsubscribed(id_);
}

void consumer_actor::handle(short_of_demand&) {
  if (sink_ != nullptr) sink_->on_short_of_demand(id_);
}

void consumer_actor::handle(demand_given_back& notice) {
  if (sink_ != nullptr) sink_->on_demand_given_back(id_, notice.unused);
}

void consumer_actor::handle(queue_gone&) {
  queue_ = {};
  if (sink_ != nullptr) sink_->on_queue_gone(id_);
}

void consumer_actor::give_back() {
  if (queue_) queue_.send(grant{id_, left_});
  left_ = 0;
}

void consumer_actor::sink_gone() {
  sink_ = nullptr;
  enter([this] { quit(); });
}

}  // namespace baton
