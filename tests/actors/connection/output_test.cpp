#include "actors/connection/output.hpp"

#include <optional>

#include "storage/memory_account.hpp"
#include "tests/catch.hpp"

using namespace baton;

namespace {

amqp091::output_buffer used_buffer() {
  amqp091::output_buffer made;
  made.append(as_bytes("used"));
  return made;
}

}  // namespace

TEST_CASE(
    "an output gives its buffer to the pool when it is told to, and not when it is destroyed") {
  buffer_pool pool;
  std::optional<connection_output> output{std::in_place, pool};
  output->frames().append(as_bytes("some frames"));
  const auto capacity = output->frames().capacity();
  SECTION("told to") {
    output->reset();
    output.reset();
    CHECK(pool.take().capacity() == capacity);
  }
  // Its destructor runs on the thread of whoever held the connection last.
  SECTION("destroyed") { output.reset(); }
  CHECK(pool.take().capacity() == 0);
}

TEST_CASE("an output takes nothing from the pool before it has something to say") {
  buffer_pool pool;
  pool.give_back(used_buffer());
  connection_output output{pool};
  // Connections are made on the loop that accepts them, and run on another one.
  CHECK(output.buffer().capacity() == 0);
  CHECK(output.frames().capacity() > 0);
  CHECK(&output.frames() == &output.buffer());
}

TEST_CASE("an output that holds nothing leaves nothing in the pool") {
  buffer_pool pool;
  pool.give_back(used_buffer());
  connection_output output{pool};
  output.reset();
  CHECK(pool.take().capacity() > 0);
}
