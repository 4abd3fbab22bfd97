#include "actors/publishes_to_store.hpp"

#include "tests/catch.hpp"

using namespace baton;

namespace {

using numbers = std::vector<std::uint64_t>;

/// A publisher that writes down what became of a run.
struct publisher final : receipt_owner {
  int completions = 0;
  std::uint64_t credit = 0;
  numbers refused_ones;

  void completed(receipt_run, credit_state) noexcept override { ++completions; }
  void credit_paid(std::uint64_t bytes, credit_state) noexcept override { credit += bytes; }
  void refused(std::uint16_t channel, std::uint32_t, numbers publishes) noexcept override {
    CHECK(channel == 3);
    CHECK(completions == 0);
    refused_ones = std::move(publishes);
  }
};

publishes_to_store row(const std::shared_ptr<publisher>& of) {
  publish three;
  three.done = receipt::open(of, {3, 1, 10, 3, 500});
  three.first = 10;
  return {std::move(three), 3};
}

}  // namespace

TEST_CASE("publishes may be handed on at any time before they are safe") {
  auto who = std::make_shared<publisher>();
  {
    auto first = row(who);
    auto second = std::move(first);
    second.written();
    auto third = std::move(second);
    CHECK(who->credit == 500);
    CHECK(who->completions == 0);
    third.safe();
    CHECK(who->completions == 1);
    auto fourth = std::move(third);
  }
  CHECK(who->completions == 1);
  CHECK(who->refused_ones.empty());
}

TEST_CASE("publishes that end before they are safe are refused once, written or not") {
  for (const bool written : {false, true}) {
    auto who = std::make_shared<publisher>();
    {
      auto first = row(who);
      if (written) first.written();
      auto second = std::move(first);
    }
    CHECK(who->refused_ones == numbers{10, 11, 12});
    CHECK(who->completions == 1);
    CHECK(who->credit == (written ? 500 : 0));
  }
}
