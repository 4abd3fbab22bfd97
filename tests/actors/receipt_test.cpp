#include <optional>

#include "actors/receipt.hpp"
#include "tests/catch.hpp"

using namespace baton;

namespace {

struct recorder : receipt_owner {
  int completions = 0;
  bool credit_came_along = false;
  std::uint64_t paid = 0;
  receipt_run last;

  void completed(receipt_run run, credit_state credit) noexcept override {
    ++completions;
    credit_came_along = credit == credit_state::returned;
    last = run;
  }
  void credit_paid(std::uint64_t bytes, credit_state) noexcept override { paid += bytes; }
  void refused(std::uint16_t, std::uint32_t, std::vector<std::uint64_t>) noexcept override {}
};

}  // namespace

TEST_CASE("a run is completed once, by the last holder of its receipt") {
  auto owner = std::make_shared<recorder>();
  auto first = receipt::open(owner, {3, 1, 10, 0, 0});
  auto second = first.share();
  auto third = second.share();
  first.run().count = 5;
  first.run().bytes = 500;
  first.release();
  third = {};
  CHECK(owner->completions == 0);
  second.release();
  CHECK(owner->completions == 1);
  CHECK(owner->credit_came_along);
  CHECK(owner->last.channel == 3);
  CHECK(owner->last.first == 10);
  CHECK(owner->last.count == 5);
  CHECK(owner->paid == 0);
  second.release();
  CHECK(owner->completions == 1);
}

TEST_CASE("a debt delays the credit, not the completion") {
  auto owner = std::make_shared<recorder>();
  auto first = receipt::open(owner, {1, 1, 1, 1, 700});
  auto second = first.share();
  std::optional debt{std::move(first).release_owing(credit_state::withheld)};
  std::optional other{std::move(second).release_owing(credit_state::withheld)};
  CHECK(owner->completions == 1);
  CHECK_FALSE(owner->credit_came_along);
  other.reset();
  CHECK(owner->paid == 0);
  debt.reset();
  CHECK(owner->paid == 700);
}

TEST_CASE("a debt that is paid before the run is complete leaves the credit to the completion") {
  auto owner = std::make_shared<recorder>();
  auto first = receipt::open(owner, {1, 1, 1, 1, 700});
  auto second = first.share();
  { auto debt = std::move(first).release_owing(credit_state::withheld); }
  CHECK(owner->completions == 0);
  second.release();
  CHECK(owner->completions == 1);
  CHECK(owner->credit_came_along);
  CHECK(owner->paid == 0);
}

TEST_CASE("the owner of a receipt lives until its credit is paid") {
  auto owner = std::make_shared<recorder>();
  std::weak_ptr<recorder> watched = owner;
  std::optional debt{receipt::open(std::move(owner), {}).release_owing(credit_state::withheld)};
  CHECK_FALSE(watched.expired());
  debt.reset();
  CHECK(watched.expired());
}
