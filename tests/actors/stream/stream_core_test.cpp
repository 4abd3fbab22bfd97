#include <algorithm>
#include <numeric>

#include "tests/actors/stream/stream_on_disk.hpp"

namespace baton::test {

namespace {

using kind = stream_start::kind;
using offsets = std::vector<std::uint64_t>;

offsets range(std::uint64_t first, std::uint64_t end) {
  offsets all(static_cast<std::size_t>(end - first));
  std::iota(all.begin(), all.end(), first);
  return all;
}

std::vector<std::string> bodies(std::size_t count, std::size_t size = 100) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(std::to_string(i) + std::string(size, '.'));
  return all;
}

}  // namespace

TEST_CASE("a reader of a stream sees a message only when it is safe", "[stream]") {
  stream_on_disk s;
  s.open();
  s.add_reader_from(1, kind::first);
  s.publish({"a"});
  s.dispatch();
  CHECK(s.got[1].empty());
  s.flush();
  REQUIRE(s.commit());
  while (s.hear()) {
  }
  s.run();
  CHECK(s.got[1].empty());
  REQUIRE(s.sync_log());
  while (s.hear()) {
  }
  s.run();
  CHECK(s.got[1] == std::vector<stream_on_disk::delivery>{{0, "a"}});
}

TEST_CASE("every reader of a stream gets every message in the order of their offsets", "[stream]") {
  stream_on_disk s;
  s.open();
  for (std::uint64_t r = 1; r <= 5; ++r) s.add_reader_from(r, kind::first);
  for (int i = 0; i < 10; ++i) {
    s.publish_safely(bodies(20));
    s.run();
  }
  for (std::uint64_t r = 1; r <= 5; ++r) CHECK(s.offsets_of(r) == range(0, 200));
  CHECK(s.reads_done == 0);
}

TEST_CASE("readers at the tail of a stream read nothing from the disk", "[stream]") {
  for (const std::uint64_t readers : {1, 8, 64}) {
    stream_on_disk s;
    s.open();
    s.publish_safely(bodies(50));
    for (std::uint64_t r = 1; r <= readers; ++r) s.add_reader_from(r, kind::next);
    const auto reads = s.disk.calls(file_operation::read);
    const auto drops = s.disk.calls(file_operation::drop_pages);
    for (int i = 0; i < 50; ++i) {
      s.publish_safely(bodies(10));
      s.run();
      CHECK(s.core->take_left_behind().empty());
    }
    for (std::uint64_t r = 1; r <= readers; ++r) CHECK(s.offsets_of(r) == range(50, 550));
    CHECK(s.reads_done == 0);
    CHECK(s.disk.calls(file_operation::read) == reads);
    CHECK(s.disk.calls(file_operation::drop_pages) == drops);
  }
}

TEST_CASE("a segment that all readers of a stream have left behind is named once", "[stream]") {
  stream_on_disk s;
  s.open();
  while (s.log->figures().segments < 4) s.publish_safely(bodies(10));
  const auto end = s.core->end();
  s.dispatch();  // with nobody there, memory lets go of it
  s.add_reader_from(1, kind::first);
  s.add_reader_from(2, kind::first, 0, 1);
  s.run();
  CHECK(s.offsets_of(1) == range(0, end));
  CHECK(s.core->take_left_behind().empty());  // the other one is still there
  s.core->remove(consumer_id{2});
  CHECK(s.core->take_left_behind() == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(s.core->take_left_behind().empty());
}

TEST_CASE("a reader of a stream begins where it says", "[stream]") {
  stream_on_disk s;
  s.open();
  for (std::uint64_t t = 1; t <= 50; ++t) s.publish_safely(bodies(2), 1000 * t);
  const auto from = [&](kind k, std::uint64_t value = 0) {
    static std::uint64_t number = 0;
    s.add_reader_from(++number, k, value);
    s.run();
    auto seen = s.offsets_of(number);
    s.core->remove(consumer_id{number});
    return seen;
  };
  CHECK(from(kind::first) == range(0, 100));
  CHECK(from(kind::last) == range(98, 100));
  CHECK(from(kind::next).empty());
  CHECK(from(kind::offset, 37) == range(37, 100));
  CHECK(from(kind::time, 0) == range(0, 100));
  for (std::uint64_t t = 1; t <= 50; ++t) {
    CHECK(from(kind::time, 1000 * t) == range(2 * t - 2, 100));
    CHECK(from(kind::time, 1000 * t + 1) == range(2 * t, 100));
  }
}

TEST_CASE("a reader of a stream waits for an offset that is still to come", "[stream]") {
  stream_on_disk s;
  s.open();
  s.publish_safely(bodies(5));
  s.add_reader_from(1, kind::offset, 8);
  s.run();
  CHECK(s.got[1].empty());
  s.publish_safely(bodies(5));
  s.run();
  CHECK(s.offsets_of(1) == range(8, 10));
}

TEST_CASE("next means what a stream takes from then on, though earlier messages are not safe yet",
          "[stream]") {
  stream_on_disk s;
  s.open();
  s.publish(bodies(3));
  s.add_reader_from(1, kind::next);
  s.publish(bodies(2));
  s.settle();
  s.run();
  CHECK(s.offsets_of(1) == range(3, 5));
}

TEST_CASE("a reader of a stream has at most its prefetch unsettled, and an ack removes nothing",
          "[stream]") {
  stream_on_disk s;
  s.open();
  s.publish_safely(bodies(20));
  s.add_reader_from(1, kind::first, 0, 5);
  s.run();
  CHECK(s.offsets_of(1) == range(0, 5));
  s.core->settle(consumer_id{1}, {{0, 2, outcome::accept}, {3, 1, outcome::release}});
  s.run();
  CHECK(s.offsets_of(1) == range(0, 8));
  CHECK(s.core->statistics().messages == 20);
  s.core->settle(consumer_id{1}, {{0, 100, outcome::accept}});
  s.run();
  CHECK(s.offsets_of(1) == range(0, 13));
}

TEST_CASE("a reader of a stream overdraws its byte credit by one message at most", "[stream]") {
  stream_on_disk s;
  s.open();
  s.publish_safely(bodies(20));
  consumer_options options;
  options.prefetch = 100;
  options.byte_credit = 1;
  options.reading.start.from = kind::first;
  REQUIRE(s.core->add(consumer_id{1}, options));
  s.run();
  CHECK(s.offsets_of(1) == range(0, 1));
  s.core->grant(consumer_id{1}, static_cast<std::uint64_t>(-s.core->byte_credit(consumer_id{1})));
  s.run();
  CHECK(s.offsets_of(1) == range(0, 1));
  s.core->grant(consumer_id{1}, 1);
  s.run();
  CHECK(s.offsets_of(1) == range(0, 2));
}

TEST_CASE("a reader of a stream gets as many messages as it demands, and is told once of its lack",
          "[stream]") {
  stream_on_disk s;
  s.open();
  s.publish_safely(bodies(20));
  consumer_options options;
  options.prefetch = 100;
  options.demand = 2;
  options.reading.start.from = kind::first;
  REQUIRE(s.core->add(consumer_id{1}, options));
  s.run();
  CHECK(s.offsets_of(1) == range(0, 2));
  CHECK(s.core->take_short_of_demand() == std::vector<consumer_id>{consumer_id{1}});
  s.run();
  CHECK(s.core->take_short_of_demand().empty());
  s.core->demand(consumer_id{1}, 100);
  s.run();
  CHECK(s.offsets_of(1) == range(0, 20));
  CHECK(s.core->recall_demand(consumer_id{1}) == 82u);
}

TEST_CASE("a filter passes the values that it names, and with them unfiltered ones if asked",
          "[stream]") {
  stream_on_disk s;
  s.open();
  batch all;
  for (const auto* value : {"a", "b", "", "c", "a"})
    all.add(stream_on_disk::message_of(value, value));
  s.core->publish(std::move(all), 1);
  s.settle();
  s.add_reader(1, {{kind::first, 0}, {"a"}, false});
  s.add_reader(2, {{kind::first, 0}, {"b", "c"}, true});
  s.add_reader(3, {{kind::first, 0}, {"z"}, false}, 1);
  s.run();
  CHECK(s.offsets_of(1) == offsets{0, 4});
  CHECK(s.offsets_of(2) == offsets{1, 2, 3});
  CHECK(s.offsets_of(3).empty());
}

TEST_CASE("a header x-stream-offset that a publisher brings is replaced", "[stream]") {
  stream_on_disk s;
  s.open();
  amqp091::properties_editor editor{amqp091::no_properties};
  editor.set_header("x-stream-offset", field_value{std::string{"mine"}});
  editor.set_header("other", field_value{std::string{"kept"}});
  amqp091::output_buffer properties;
  editor.finish(properties);
  message_parts parts;
  parts.properties = properties.view();
  slab_writer writer;
  s.core->publish(batch_of(writer.add(parts, as_bytes("x"))), 1);
  s.settle();
  s.add_reader_from(1, kind::first);
  s.run();  // looks at the header
  CHECK(s.offsets_of(1) == offsets{0});
}

TEST_CASE("large bodies in a stream come back whole from memory and from the disk", "[stream]") {
  stream_on_disk s;
  s.settings.segment_size = {64 << 10};
  s.open();
  const std::string large(20'000, 'L');
  s.add_reader_from(1, kind::first);
  s.publish_safely({"a", large, "b", large, large});
  s.run();
  s.add_reader_from(2, kind::first);
  s.run();
  const std::vector<stream_on_disk::delivery> all{
      {0, "a"}, {1, large}, {2, "b"}, {3, large}, {4, large}};
  CHECK(s.got[1] == all);
  CHECK(s.got[2] == all);
  CHECK(s.reads_done > 0);
}

TEST_CASE("a stream holds nothing in memory when all its readers have everything", "[stream]") {
  stream_on_disk s;
  s.open();
  for (int i = 0; i < 40; ++i) s.publish_safely(bodies(10));
  s.dispatch();
  CHECK(s.core->held_bytes() == 0);
  s.add_reader_from(1, kind::first);
  s.add_reader_from(2, kind::first, 0, 100);
  s.run();
  CHECK(s.reads_done > 0);
  CHECK(s.core->held_bytes() > 0);  // for the second one
  while (s.offsets_of(2).size() < 400) {
    s.core->settle(consumer_id{2}, {{0, 100, outcome::accept}});
    s.run();
  }
  CHECK(s.offsets_of(1) == range(0, 400));
  CHECK(s.core->held_bytes() == 0);
}

TEST_CASE("where memory is short, a stream keeps one read of what it read back", "[stream]") {
  stream_on_disk s;
  s.open();
  for (int i = 0; i < 40; ++i) s.publish_safely(bodies(10));
  s.core->limit_memory(1);
  for (std::uint64_t r = 0; r < 4; ++r) s.add_reader_from(r + 1, kind::offset, 100 * r, 5);
  s.run();
  for (std::uint64_t r = 0; r < 4; ++r) CHECK(s.offsets_of(r + 1) == range(100 * r, 100 * r + 5));
  CHECK(s.core->held_bytes() < 4000);
}

TEST_CASE("retention drops whole segments from the oldest on, and readers go on behind them",
          "[stream]") {
  stream_on_disk s;
  stream_limits limits;
  limits.max_bytes = 8000;
  s.open(limits);
  s.add_reader_from(1, kind::first, 0, 1);  // stands at the beginning
  s.publish_safely(bodies(1));
  s.run();
  for (int i = 0; i < 30; ++i) {
    s.publish_safely(bodies(10));
    s.retire(1);
  }
  CHECK(s.core->statistics().bytes <= 8000 + 4096);
  const auto first = s.core->first();
  CHECK(first > 0);
  s.dispatch();  // what it has in memory is no promise
  s.add_reader_from(2, kind::first);
  s.add_reader_from(3, kind::offset, 1);
  s.core->settle(consumer_id{1}, {{0, 1, outcome::accept}});
  s.run();
  CHECK(s.offsets_of(2) == range(first, 301));
  CHECK(s.offsets_of(3) == range(first, 301));
  CHECK(s.damage.empty());
}

TEST_CASE("retention by age keeps the newest segment", "[stream]") {
  stream_on_disk s;
  stream_limits limits;
  limits.max_age_ms = 1000;
  s.open(limits);
  for (std::uint64_t t = 0; t < 30; ++t) s.publish_safely(bodies(10), t * 100);
  s.retire(2900);
  CHECK(s.core->first() > 0);
  CHECK(s.core->first() <= 190);
  s.retire(1'000'000);
  CHECK(s.core->first() > 190);
  CHECK(s.core->statistics().messages > 0);
  CHECK(s.log->figures().segments <= 2);
}

TEST_CASE("an exclusive reader of a stream is alone", "[stream]") {
  stream_on_disk s;
  s.open();
  consumer_options exclusive;
  exclusive.exclusive = true;
  REQUIRE(s.core->add(consumer_id{1}, exclusive));
  CHECK(s.core->add(consumer_id{2}, {}).reason() == queue_refusal::in_exclusive_use);
  s.core->remove(consumer_id{1});
  REQUIRE(s.core->add(consumer_id{2}, {}));
  CHECK(s.core->add(consumer_id{3}, exclusive).reason() == queue_refusal::in_exclusive_use);
}

TEST_CASE("a reader of a stream passes over what is damaged, and gets all else", "[stream]") {
  stream_on_disk s;
  s.open();
  for (int i = 0; i < 40; ++i) s.publish_safely(bodies(1));
  s.dispatch();
  s.disk.overwrite("/streams/7/0000000001.log", 1000, as_bytes(std::string(300, '!')));
  s.add_reader_from(1, kind::first);
  s.run();
  const auto seen = s.offsets_of(1);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.size() >= 36);
  CHECK(seen.size() < 40);
  CHECK(seen.back() == 39);
  CHECK_FALSE(s.damage.empty());
}

}  // namespace baton::test
