// Any bytes as a journal's record: framed as they are, and decoded with a frame put around them.
// What is decoded borrows from within, and every byte of it can be read.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "storage/journal/record.hpp"

using namespace baton;
using namespace baton::journal;

namespace {

byte_view inside;
volatile std::uint64_t sum;

void touch(byte_view bytes) {
  if (!bytes.empty() &&
      (bytes.data() < inside.data() || bytes.data() + bytes.size() > inside.data() + inside.size()))
    std::abort();
  for (auto b : bytes) sum = sum + b;
}

void touch(const stored_message& m) {
  touch(as_bytes(m.exchange));
  touch(as_bytes(m.routing_key));
  touch(m.properties);
  touch(m.body);
}

template <class Entry>
void touch(const entries<Entry>& all) {
  for (const auto& e : all) sum = sum + e.queue;
}

void touch(const record& what);

struct toucher {
  void operator()(const group&) const {}
  void operator()(const enqueue& r) const { touch(r.places), touch(r.message); }
  void operator()(const settle& r) const { touch(r.runs); }
  void operator()(const move& r) const { touch(r.runs), touch(r.places), touch(r.message); }
  void operator()(const requeue& r) const { touch(r.returns); }
  void operator()(const purge& r) const { touch(r.kept); }
  void operator()(const tx& r) const {
    for_each_part(r, [](const record& part) {
      if (std::holds_alternative<tx>(part)) std::abort();
      touch(part);
    });
  }
  void operator()(const define& r) const {
    touch(as_bytes(r.key));
    touch(r.value.value_or(byte_view{}));
  }
  void operator()(const peer_progress&) const {}
  void operator()(const relocate& r) const { touch(r.places), touch(r.message); }
  void operator()(const stream_end&) const {}
  void operator()(const checkpoint& r) const { touch(r.indexes); }
  void operator()(const chunk& r) const {
    std::uint32_t count = 0;
    for_each_message(r, [&](const stored_message& m) { touch(m), ++count; });
    if (count != r.count) std::abort();
  }
};

void touch(const record& what) { std::visit(toucher{}, what); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const byte_view bytes{data, size};
  if (auto frame = read_frame(bytes, 0); frame && frame->size() > size) std::abort();
  if (size < record_header_size) return 0;
  std::vector<std::uint8_t> framed{data, data + size};
  const auto whole = static_cast<std::uint32_t>(size);
  std::memcpy(framed.data(), &whole, sizeof whole);
  inside = framed;
  if (auto decoded = decode(framed)) touch(*decoded);
  return 0;
}
