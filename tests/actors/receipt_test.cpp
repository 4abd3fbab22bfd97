#include <optional>

#include "actors/receipt.hpp"
#include "tests/catch.hpp"

using namespace baton;

namespace {

struct recorder : receipt_owner {
  int completions = 0;
  bool credit_came_along = false;
  credit_state credit = credit_state::returned;
  std::uint64_t paid = 0;
  receipt_run last;

  void completed(receipt_run run, credit_state how) noexcept override {
    ++completions;
    credit = how;
    credit_came_along = how == credit_state::returned;
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
  std::optional debt{first.owe(credit_state::withheld)};
  first.release();
  std::optional other{second.owe(credit_state::withheld)};
  second.release();
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
  { auto debt = first.owe(credit_state::withheld); }
  first.release();
  CHECK(owner->completions == 0);
  second.release();
  CHECK(owner->completions == 1);
  CHECK(owner->credit_came_along);
  CHECK(owner->paid == 0);
}

TEST_CASE("the owner of a receipt lives until its credit is paid") {
  auto owner = std::make_shared<recorder>();
  std::weak_ptr<recorder> watched = owner;
  auto only = receipt::open(std::move(owner), {});
  std::optional debt{only.owe(credit_state::withheld)};
  only.release();
  CHECK_FALSE(watched.expired());
  debt.reset();
  CHECK(watched.expired());
}

TEST_CASE("messages that are taken over give their credit back before they are stored") {
  auto owner = std::make_shared<recorder>();
  auto first = receipt::open(owner, {1, 1, 1, 1, 700});
  auto second = first.share();
  first.release();
  std::optional storing{std::move(second).taken_over()};
  CHECK(owner->paid == 700);
  CHECK(owner->completions == 0);
  storing.reset();
  CHECK(owner->completions == 1);
  CHECK_FALSE(owner->credit_came_along);
  CHECK(owner->paid == 700);
}

TEST_CASE("a holder that takes over last pays for those that are stored already") {
  auto owner = std::make_shared<recorder>();
  auto first = receipt::open(owner, {1, 1, 1, 1, 700});
  auto second = first.share();
  { auto storing = std::move(first).taken_over(); }
  CHECK(owner->paid == 0);
  CHECK(owner->completions == 0);
  second.release();
  CHECK(owner->completions == 1);
  CHECK(owner->paid + (owner->credit_came_along ? 700 : 0) == 700);
}

TEST_CASE("a debt for messages that are being stored is told as what it is, whichever ends first") {
  for (const bool debt_first : {true, false}) {
    auto owner = std::make_shared<recorder>();
    std::weak_ptr<recorder> watched = owner;
    auto only = receipt::open(owner, {1, 1, 1, 1, 700});
    std::optional debt{only.owe(credit_state::withheld)};
    std::optional storing{std::move(only).taken_over()};
    CHECK(owner->paid == 0);
    if (debt_first) debt.reset();
    storing.reset();
    CHECK(owner->completions == 1);
    CHECK(owner->credit == credit_state::withheld);
    debt.reset();
    CHECK(owner->paid == 700);
    owner.reset();
    CHECK(watched.expired());
  }
}
