// A node inside a program: one end publishes, another consumes, no socket between them.
//
//     build/release/example_embedded [MESSAGES]
//
// Prints how many messages went through, and how fast.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iostream>
#include <memory>

#include "actors/local/end.hpp"
#include "actors/node.hpp"

namespace {

/// Counts what it is handed and settles it; says when all have come.
class counter final : public baton::local_end {
public:
  counter(std::uint64_t expected, std::promise<void>& ready, std::promise<void>& done)
      : expected_{expected}, ready_{ready}, done_{done} {}

  void on_attached(baton::local_link& link) override {
    link.declare_queue("readings", {}, [this, &link](baton::result<void> declared) {
      if (!declared) return fail(declared.reason().text);
      baton::consumer_options options;
      options.prefetch = 4096;
      if (auto consumer = link.consume("readings", options); !consumer)
        fail(consumer.reason().text);
      else
        ready_.set_value();
    });
  }

  void on_deliver(baton::local_link& link, baton::consumer_id from,
                  baton::lease_batch leases) override {
    for (const auto& lease : leases) link.settle(from, lease.number, baton::outcome::accept);
    seen_ += leases.size();
    if (seen_ == expected_) done_.set_value();
  }

private:
  static void fail(const std::string& why) {
    std::cerr << "embedded: " << why << '\n';
    std::exit(1);
  }

  std::uint64_t expected_;
  std::uint64_t seen_ = 0;
  std::promise<void>& ready_;
  std::promise<void>& done_;
};

/// Publishes as long as it has credit, and goes on when there is some again.
class sensor final : public baton::local_end {
public:
  explicit sensor(std::uint64_t messages) : left_{messages} {}

  void on_attached(baton::local_link& link) override { on_credit(link); }

  void on_credit(baton::local_link& link) override {
    for (; left_ > 0 && link.credit() > 0; --left_)
      link.publish(link.make("", "readings", baton::as_bytes("twenty-one point five")));
  }

private:
  std::uint64_t left_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t messages = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;

  auto settings = baton::default_settings();
  settings.listeners.clear();  // nobody but this program
  settings.node.data = std::filesystem::temp_directory_path() / "baton-embedded";
  baton::node node{std::move(settings)};
  if (auto started = node.start(); !started) {
    std::cerr << "embedded: " << started.reason().text << '\n';
    return 1;
  }

  std::promise<void> ready, done;
  node.attach(0, std::make_unique<counter>(messages, ready, done));
  ready.get_future().wait();
  const auto begin = std::chrono::steady_clock::now();
  node.attach(0, std::make_unique<sensor>(messages));
  done.get_future().wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;

  std::cout << messages << " messages in " << took.count() << " s\n";
  node.request_stop();
  node.join();
}
