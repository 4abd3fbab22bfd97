#include <string>
#include <thread>

#include "storage/memory_account.hpp"
#include "storage/message.hpp"
#include "tests/catch.hpp"

using namespace baton;

namespace {

std::string body_of(const message& m) {
  std::string all;
  m.for_each_body_piece([&](byte_view piece) { all += as_text(piece); });
  return all;
}

message_parts some_parts() {
  message_parts parts;
  parts.exchange = "orders";
  parts.routing_key = "order.eu.paid";
  parts.properties = as_bytes({"\x10\x00\x02", 3});
  return parts;
}

}  // namespace

TEST_CASE("a message gives back what it was made of") {
  slab_writer writer;
  auto parts = some_parts();
  parts.persistent = true;
  parts.priority = 7;
  parts.expiration_ms = 315360000000;
  auto m = writer.add(parts, as_bytes("sixteen bytes ok"));
  CHECK(m.exchange() == "orders");
  CHECK(m.routing_key() == "order.eu.paid");
  CHECK(as_text(m.properties()) == std::string_view{"\x10\x00\x02", 3});
  CHECK(body_of(m) == "sixteen bytes ok");
  CHECK(m.persistent());
  CHECK(m.priority() == 7);
  CHECK(m.expiration_ms() == 315360000000);
  CHECK(m.large() == nullptr);
}

TEST_CASE("a fork reads the same bytes after the first holder is gone") {
  auto first = slab_writer{}.add(some_parts(), as_bytes("body"));
  auto second = first.fork();
  const auto* before = second.small_body().data();
  first = message{};
  CHECK(second.small_body().data() == before);
  CHECK(body_of(second) == "body");
}

TEST_CASE("memory is accounted until the last message of a slab is gone") {
  auto before = memory_account::total();
  {
    slab_writer writer;
    writer.expect(4000);
    auto kept = writer.add(some_parts(), as_bytes("kept"));
    batch others;
    for (int i = 0; i < 100; ++i) others.add(writer.add(some_parts(), as_bytes("other")));
    writer.close();
    others.clear();
    CHECK(memory_account::total() > before);
    CHECK(body_of(kept) == "kept");
  }
  CHECK(memory_account::total() == before);
}

TEST_CASE("a body above the small limit lies in blocks and is shared, not copied") {
  auto before = memory_account::total();
  {
    std::string big(200'000, 'x');
    big[100'000] = 'y';
    slab_writer writer;
    auto m = writer.add(some_parts(), as_bytes(big));
    REQUIRE(m.large() != nullptr);
    CHECK(m.small_body().empty());
    CHECK(body_of(m) == big);
    auto again = writer.add(some_parts(), m.large()->share());
    m = message{};
    CHECK(body_of(again) == big);
    CHECK(memory_account::total() < before + 300'000);
  }
  CHECK(memory_account::total() == before);
}

TEST_CASE("an announced body takes memory only as it arrives") {
  auto before = memory_account::total();
  large_body announced{128 << 20};
  announced.append(as_bytes(std::string(1000, 'a')));
  CHECK(memory_account::total() - before <= 64 << 10);
}

TEST_CASE("slabs given back by another thread come home and are used again") {
  auto before = memory_account::total();
  for (int round = 0; round < 100; ++round) {
    slab_writer writer;
    writer.expect(batch::max_bytes);
    batch made;
    for (int i = 0; i < 64; ++i) made.add(writer.add(some_parts(), as_bytes("0123456789abcdef")));
    writer.close();
    std::thread{[taken = std::move(made)]() mutable { taken.clear(); }}.join();
  }
  CHECK(memory_account::total() == before);
}

TEST_CASE("a batch is full at its message count or its bytes") {
  slab_writer writer;
  batch by_count;
  while (!by_count.full()) by_count.add(writer.add(some_parts(), byte_view{}));
  CHECK(by_count.size() == batch::max_messages);
  batch by_bytes;
  std::string body(4000, 'z');
  while (!by_bytes.full()) by_bytes.add(writer.add(some_parts(), as_bytes(body)));
  CHECK(by_bytes.size() < 20);
  CHECK(by_bytes.bytes() >= batch::max_bytes);
}
