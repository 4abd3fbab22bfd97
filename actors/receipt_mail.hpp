#pragma once

#include <utility>
#include <vector>

#include "actors/interfaces.hpp"

namespace baton {

/// An actor that publishes, as its receipts know it.
using publisher_ref = actor_ref<published, publishes_refused, credit_paid>;

/// The owner of an actor's receipts: completions come on whichever loop the queue lives on, and
/// become mail to the publisher.
class receipt_mail final : public receipt_owner {
public:
  explicit receipt_mail(publisher_ref to) : to_{std::move(to)} {}

  void completed(receipt_run run, credit_state credit) noexcept override {
    to_.send(published{run, credit});
  }
  void credit_paid(std::uint64_t bytes, credit_state credit) noexcept override {
    to_.send(baton::credit_paid{bytes, credit});
  }
  void refused(std::uint16_t channel, std::uint32_t incarnation,
               std::vector<std::uint64_t> publishes) noexcept override {
    to_.send(publishes_refused{channel, incarnation, std::move(publishes)});
  }

private:
  publisher_ref to_;
};

}  // namespace baton
