#include "storage/journal/record.hpp"

#include <random>
#include <string>
#include <vector>

#include "storage/journal/crc32c.hpp"
#include "storage/journal/record_writer.hpp"
#include "tests/catch.hpp"

using namespace baton;
using namespace baton::journal;

namespace {

constexpr std::uint64_t generation = 0x1122334455667788;

/// What would be written to a segment of this generation.
std::vector<std::uint8_t> written(record_writer& writer, std::uint64_t of = generation) {
  auto records = writer.take();
  records.seal(0, records.count(), seal_of(of));
  std::vector<std::uint8_t> bytes;
  records.for_each_piece(0, records.count(), [&](byte_view piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  CHECK(bytes.size() == records.size());
  return bytes;
}

/// The record at the front of `bytes`, which it borrows from.
record read(byte_view bytes) {
  auto frame = read_frame(bytes, seal_of(generation));
  REQUIRE(frame);
  CHECK(padded(frame->size()) <= bytes.size());
  auto decoded = decode(*frame);
  if (!decoded) FAIL(decoded.reason().text);
  return *decoded;
}

template <class Kind>
Kind read_as(byte_view bytes) {
  const auto decoded = read(bytes);
  REQUIRE(std::holds_alternative<Kind>(decoded));
  return std::get<Kind>(decoded);
}

template <class Entry>
std::vector<Entry> all_of(const entries<Entry>& some) {
  std::vector<Entry> made;
  for (const auto& e : some) made.push_back(e);
  return made;
}

message message_of(slab_writer& writer, std::string_view body, bool persistent = true,
                   std::optional<std::uint64_t> expiration = 60'000) {
  message_parts parts;
  parts.exchange = "logs";
  parts.routing_key = "a.b";
  static constexpr std::uint8_t properties[] = {0x10, 0, 2};
  parts.properties = properties;
  parts.persistent = persistent;
  parts.priority = 7;
  parts.expiration_ms = expiration;
  return writer.add(parts, as_bytes(body));
}

message large_message_of(slab_writer& writer, std::string_view body) {
  auto large = std::make_unique<large_body>(body.size());
  large->append(as_bytes(body));
  return writer.add({}, std::move(large));
}

void check_message(const stored_message& stored, std::string_view body) {
  CHECK(stored.exchange == "logs");
  CHECK(stored.routing_key == "a.b");
  CHECK(stored.properties.size() == 3);
  CHECK(stored.priority == 7);
  CHECK(stored.persistent);
  CHECK(stored.expiration_ms == 60'000u);
  CHECK(as_text(stored.body) == body);
}

std::string hex(byte_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0 && i % 8 == 0) text += ' ';
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

const std::vector<queue_place> two_places{{3, 41, 1'700'000'000'000, 2}, {4, 1, 0, 0}};
const std::vector<queue_run> two_runs{{3, 40, 2}, {9, 1, 64}};

std::vector<message> two_messages(slab_writer& slabs) {
  std::vector<message> made;
  made.push_back(message_of(slabs, "first"));
  made.push_back(message_of(slabs, ""));
  return made;
}

/// One record of each kind.
std::vector<std::vector<std::uint8_t>> one_of_each() {
  slab_writer slabs;
  record_writer w;
  std::vector<std::vector<std::uint8_t>> made;
  auto keep = [&] { made.push_back(written(w)); };
  w.add_group({{7, 4096}, true}), keep();
  w.add_enqueue(two_places, message_of(slabs, "hello")), keep();
  w.add_settle(two_runs), keep();
  w.add_move(two_runs, two_places, message_of(slabs, "dead")), keep();
  w.add_requeue(std::vector<queue_return>{{3, 41, 3}}), keep();
  w.add_purge(3, 100, two_runs), keep();
  w.begin_tx();
  w.add_enqueue(two_places, message_of(slabs, "in a transaction"));
  w.add_settle(two_runs);
  w.end_tx(), keep();
  w.add_define("vhost///queue/q", as_bytes("{}")), keep();
  w.add_define("vhost///queue/q", std::nullopt), keep();
  w.add_peer_progress({1, 2, 3}), keep();
  w.add_relocate(two_places, message_of(slabs, "moved on")), keep();
  w.add_stream_end({5, 1000, {8, 512}}), keep();
  w.add_checkpoint(std::vector<index_state>{{3, 1, 42, 6, 4096}}), keep();
  w.add_chunk(5, 1000, 1'700'000'000'000, two_messages(slabs)), keep();
  return made;
}

}  // namespace

TEST_CASE("the example of storage/README.md is what is written") {
  slab_writer slabs;
  record_writer w;
  message_parts parts;
  parts.routing_key = "q";
  static constexpr std::uint8_t properties[] = {0x10, 0, 2};
  parts.properties = properties;
  parts.persistent = true;
  w.add_enqueue(std::vector<queue_place>{{1, 1, 0, 0}}, slabs.add(parts, as_bytes("hi")));
  CHECK(hex(written(w, 1)) ==
        "4600000043b16433 0200000001000000 0100000000000000 0100000000000000 "
        "0000000000000000 0200000000000000 0000000000000000 0300000000010100 "
        "7110000268690000");
}

TEST_CASE("a record of each kind is read as it was written") {
  slab_writer slabs;
  record_writer w;
  SECTION("group") {
    for (bool closes : {false, true}) {
      w.add_group({{7, 4096}, closes});
      const auto r = read_as<group>(written(w));
      CHECK((r.synced_to == place{7, 4096} && r.closes == closes));
    }
  }
  SECTION("enqueue") {
    w.add_enqueue(two_places, message_of(slabs, "hello"));
    const auto bytes = written(w);
    const auto r = read_as<enqueue>(bytes);
    CHECK(all_of(r.places) == two_places);
    check_message(r.message, "hello");
  }
  SECTION("settle") {
    w.add_settle(two_runs);
    const auto bytes = written(w);
    CHECK(all_of(read_as<settle>(bytes).runs) == two_runs);
  }
  SECTION("move") {
    w.add_move(two_runs, two_places, message_of(slabs, "dead"));
    const auto bytes = written(w);
    const auto r = read_as<move>(bytes);
    CHECK(all_of(r.runs) == two_runs);
    CHECK(all_of(r.places) == two_places);
    check_message(r.message, "dead");
  }
  SECTION("requeue") {
    const std::vector<queue_return> returns{{3, 41, 3}, {3, 42, 1}};
    w.add_requeue(returns);
    const auto bytes = written(w);
    CHECK(all_of(read_as<requeue>(bytes).returns) == returns);
  }
  SECTION("purge") {
    w.add_purge(3, 100, two_runs);
    const auto bytes = written(w);
    const auto r = read_as<purge>(bytes);
    CHECK(r.queue == 3);
    CHECK(r.end == 100);
    CHECK(all_of(r.kept) == two_runs);
  }
  SECTION("define, and its end") {
    w.add_define("queue/q", as_bytes("{}"));
    const auto made = written(w);
    CHECK(read_as<define>(made).key == "queue/q");
    CHECK(as_text(read_as<define>(made).value.value()) == "{}");
    w.add_define("queue/q", std::nullopt);
    const auto gone = written(w);
    CHECK(read_as<define>(gone).key == "queue/q");
    CHECK(!read_as<define>(gone).value);
  }
  SECTION("peer progress") {
    w.add_peer_progress({1, 2, 3});
    const auto r = read_as<peer_progress>(written(w));
    CHECK((r.peer == 1 && r.epoch == 2 && r.number == 3));
  }
  SECTION("relocate") {
    w.add_relocate(two_places, message_of(slabs, "moved on"));
    const auto bytes = written(w);
    const auto r = read_as<relocate>(bytes);
    CHECK(all_of(r.places) == two_places);
    check_message(r.message, "moved on");
  }
  SECTION("stream end") {
    w.add_stream_end({5, 1000, {8, 512}});
    const auto r = read_as<stream_end>(written(w));
    CHECK((r.queue == 5 && r.offset == 1000 && r.end == place{8, 512}));
  }
  SECTION("checkpoint") {
    const std::vector<index_state> indexes{{3, 1, 42, 6, 4096}, {4, 7, 7, 0, 0}};
    w.add_checkpoint(indexes);
    const auto bytes = written(w);
    CHECK(all_of(read_as<checkpoint>(bytes).indexes) == indexes);
  }
}

TEST_CASE("a chunk holds the messages of a turn one behind the other, byte by byte as described") {
  slab_writer slabs;
  record_writer w;
  message_parts parts;
  parts.routing_key = "q";
  std::vector<message> messages;
  messages.push_back(slabs.add(parts, as_bytes("hi")));
  messages.push_back(slabs.add({}, as_bytes("you")));
  w.add_chunk(7, 300, 1'700'000'000'000, messages);
  CHECK(
      hex(written(w, 1)) ==
      "6a0000009665818c 0d00000001000000 0700000000000000 2c01000000000000 "  // 2 of queue 7 at 300
      "0068e5cf8b010000 020000001b000000 0200000000000000 0000000000000000 "  // 27 bytes
      "0000000000010000 7168691b00000003 0000000000000000 0000000000000000 "  // 27 bytes
      "0000000000000079 6f75000000000000");
}

TEST_CASE("a chunk is read as it was written, with a large body as its last one") {
  slab_writer slabs;
  record_writer w;
  for (const bool large : {false, true}) {
    auto messages = two_messages(slabs);
    const std::string last(large ? 10'001 : 17, 'l');
    messages.push_back(large ? large_message_of(slabs, last) : message_of(slabs, last));
    w.add_settle(two_runs);
    w.add_chunk(5, 1000, 1'700'000'000'000, messages);
    w.add_settle(two_runs);
    const auto bytes = written(w);
    const auto before = padded(record_header_size + two_runs.size() * queue_run::size);
    const auto c = read_as<chunk>(byte_view{bytes}.subspan(before));
    CHECK((c.queue == 5 && c.first == 1000 && c.time_ms == 1'700'000'000'000 && c.count == 3));
    std::vector<std::string> bodies;
    for_each_message(c, [&](const stored_message& m) {
      if (bodies.size() < 2) CHECK(m.exchange == "logs");
      bodies.emplace_back(as_text(m.body));
    });
    CHECK(bodies == std::vector<std::string>{"first", "", last});
    const auto frame = *read_frame(byte_view{bytes}.subspan(before), seal_of(generation));
    CHECK(read_as<settle>(byte_view{bytes}.subspan(before + padded(frame.size()))).runs.size() ==
          2);

    const auto outline = outline_of(frame.first(40));
    CHECK(all_of(outline.places) == std::vector<queue_place>{{5, 1000, 1'700'000'000'000, 0}});
    CHECK(outline.size == frame.size());
    const auto front = decode_chunk_front(frame.first(44));
    REQUIRE(front);
    CHECK((front->queue == 5 && front->first == 1000 && front->count == 3));
    for (std::size_t size = 0; size < 44; ++size) CHECK(!decode_chunk_front(frame.first(size)));
  }
}

TEST_CASE("a transaction is one record, and its parts come in order") {
  slab_writer slabs;
  record_writer w;
  w.begin_tx();
  w.add_enqueue(two_places, message_of(slabs, "first"));
  w.add_enqueue(two_places, large_message_of(slabs, std::string(10'001, 'l')));
  w.add_settle(two_runs);
  w.end_tx();
  const auto bytes = written(w);
  const auto whole = read_as<tx>(bytes);
  std::vector<std::size_t> kinds;
  for_each_part(whole, [&](const record& part) {
    kinds.push_back(part.index());
    if (kinds.size() == 2)
      CHECK(as_text(std::get<enqueue>(part).message.body) == std::string(10'001, 'l'));
  });
  CHECK(kinds == std::vector<std::size_t>{1, 1, 2});
}

TEST_CASE("a part of a transaction has no checksum of its own") {
  slab_writer slabs;
  record_writer w;
  w.begin_tx();
  w.add_settle(two_runs);
  w.end_tx();
  auto bytes = written(w);
  bytes[record_header_size + 4] = 1;
  const auto decoded = decode(bytes);  // as its frame says, which would be summed anew
  REQUIRE(!decoded);
  CHECK(decoded.reason().text == "record of kind 7: its parts are no 1 records");
}

TEST_CASE("records follow each other at multiples of 8, whatever their bodies") {
  slab_writer slabs;
  record_writer w;
  std::vector<std::string> bodies;
  for (std::size_t size = 0; size < 40; ++size) bodies.emplace_back(size, 's');
  for (std::size_t size : {4097, 4104, 100'000}) bodies.emplace_back(size, 'l');
  std::vector<std::uint64_t> sizes;
  for (const auto& body : bodies) {
    auto m =
        body.size() > small_body_limit ? large_message_of(slabs, body) : message_of(slabs, body);
    w.add_enqueue({two_places.data(), body.size() % 3}, m);
  }
  auto records = w.take();
  for (std::size_t i = 0; i < records.count(); ++i) sizes.push_back(padded(records.size_of(i)));
  records.seal(0, records.count(), seal_of(generation));
  // As the store does it where a segment ends: some here, the rest there.
  for (std::size_t cut = 0; cut <= records.count(); ++cut) {
    std::vector<std::uint8_t> bytes;
    auto append = [&](byte_view p) { bytes.insert(bytes.end(), p.begin(), p.end()); };
    records.for_each_piece(0, cut, append);
    const auto first = bytes.size();
    records.for_each_piece(cut, records.count(), append);
    CHECK(bytes.size() == records.size());
    byte_view left = bytes;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (i == cut) CHECK(left.size() == bytes.size() - first);
      CHECK(as_text(read_as<enqueue>(left).message.body) == bodies[i]);
      left = left.subspan(sizes[i]);
    }
    CHECK(left.empty());
  }
}

TEST_CASE("a record that is cut anywhere is not there, or broken, and never read as another") {
  for (const auto& whole : one_of_each()) {
    auto frame = read_frame(whole, seal_of(generation));
    REQUIRE(frame);
    for (std::size_t size = 0; size < frame->size(); ++size) {
      const auto cut = read_frame({whole.data(), size}, seal_of(generation));
      REQUIRE(!cut);
      CHECK(cut.reason() ==
            (size < record_header_size ? frame_problem::none_here : frame_problem::broken));
      // What was not written reads as zeros.
      auto torn = whole;
      std::fill(torn.begin() + static_cast<std::ptrdiff_t>(size), torn.end(), 0);
      if (torn != whole) CHECK(!read_frame(torn, seal_of(generation)));
    }
  }
}

TEST_CASE("a record in which one bit has changed is broken") {
  for (const auto& whole : one_of_each()) {
    const auto size = read_frame(whole, seal_of(generation))->size();
    for (std::size_t bit = 0; bit < size * 8; ++bit) {
      auto damaged = whole;
      damaged[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      CHECK(!read_frame(damaged, seal_of(generation)));
    }
  }
}

TEST_CASE("what a file held in an earlier generation is broken") {
  for (const auto& whole : one_of_each()) {
    CHECK(read_frame(whole, seal_of(generation)));
    CHECK(!read_frame(whole, seal_of(generation + 1)));
  }
  CHECK(read_frame(std::vector<std::uint8_t>(64), 1).reason() == frame_problem::none_here);
}

TEST_CASE("a sound frame with an inside that its kind does not have is refused, not misread") {
  std::mt19937 random{1};
  for (const auto& whole : one_of_each()) {
    const auto frame = *read_frame(whole, seal_of(generation));
    CHECK(decode(frame));
    if (frame[8] != static_cast<std::uint8_t>(record_kind::define))  // its value is what is left
      CHECK(!decode(frame.first(frame.size() - 1)));
    for (int i = 0; i < 2000; ++i) {
      std::vector<std::uint8_t> changed{frame.begin(), frame.end()};
      for (auto n = 1 + random() % 3; n > 0; --n)
        changed[8 + random() % (changed.size() - 8)] = static_cast<std::uint8_t>(random());
      // Whatever it gives, it borrows from within.
      auto decoded = decode(changed);
      if (!decoded) continue;
      if (const auto* e = std::get_if<enqueue>(&*decoded)) {
        CHECK(e->message.body.size() + e->places.size() * queue_place::size <= changed.size());
        CHECK(e->message.body.data() + e->message.body.size() == changed.data() + changed.size());
      }
    }
  }
  record_writer w;
  w.add_group({});
  auto unknown = written(w);
  unknown[8] = 77;
  CHECK(decode({unknown.data(), 24}).reason().text ==
        "record of kind 77, which this version does not know");
}
